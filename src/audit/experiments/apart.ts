// Experiments on counts that the policy keeps apart or together: all callers in turn, and two resources of one
// operation (SPEC.md §7; POLICY.md §1).
import { risesOf } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditCaller,
  broken,
  type ExperimentSteps,
  isRefused,
  isServed,
  kept,
  type Shot,
  type Subject,
  unexercised,
  usedWords,
} from "../step.ts";
import { trial } from "../trials.ts";

const common = { law: "isolated", section: "SPEC.md §7", isLone: true } as const;

/** Most rounds: windows that end during one round have begun anew by the next. */
const roundsMost = 3;
const atOnce = 8;

/** Returns the quotas of a caller that it shares with no other. */
const ownQuotas = (lab: Lab, subject: Subject, caller: AuditCaller): string[] =>
  lab
    .windows(subject, caller)
    .filter((name) =>
      subject.callers.every(
        (other) =>
          other.index === caller.index || lab.book.areApart(name, other.attributes, caller.attributes),
      ),
    );

/** Makes one call of each caller, several at once. If two share a count, some rise is too large, in any order of calls. */
function* looks(lab: Lab, subject: Subject): ExperimentSteps<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < subject.callers.length; at += atOnce) {
    const some = subject.callers.slice(at, at + atOnce);
    answers.push(...(yield* lab.together(some.map((caller) => lab.shot(caller, subject.operation)))));
  }
  return answers;
}

const eachCaller: Experiment = {
  ...common,
  name: "each-caller-apart",
  promise: "each caller's own count rises by its own calls alone, while each calls once more",
  needs: "two callers with counts of their own",
  calls: 50,
  lacks(lab, subject) {
    const apart = subject.callers.filter((caller) => ownQuotas(lab, subject, caller).length > 0);
    return apart.length > 1 ? null : "answers show no count that two callers keep apart";
  },
  *run(lab, subject) {
    const { callers } = subject;
    const [first] = callers;
    const own = ownQuotas(lab, subject, first);
    const shared = lab.windows(subject, first).filter((name) => !own.includes(name));
    let told = 0;
    for (let round = 0; round < roundsMost && told < callers.length; round++) {
      yield* lab.look(subject, first);
      if (!lab.hasRoom(subject, first, 2 * callers.length, 0, yield* lab.now(), shared))
        return unexercised("a window has too little room for it");
      const before = yield* looks(lab, subject);
      const after = yield* looks(lab, subject);
      told = 0;
      for (const [at, caller] of callers.entries()) {
        const [one, other] = [before[at], after[at]];
        if (one === undefined || other === undefined || isRefused(one) || isRefused(other)) continue;
        let isTold = false;
        for (const quota of ownQuotas(lab, subject, caller)) {
          const [rise] = risesOf([one, other], quota, lab.windowMs(quota, caller));
          const each = yield* lab.plainCharge(subject, caller, quota);
          if (rise === undefined) continue;
          isTold = true;
          if (rise > each)
            return broken([one, other], `${quota} of ${caller.name} rises by ${each}`, `by ${rise}`);
        }
        if (isTold) told += 1;
      }
    }
    return told > 1 ? kept : unexercised("no two looks surely showed the same window");
  },
};

/** Returns an operation's first sample for another resource, at the same cost; `null` if there is none. */
function elsewhere(lab: Lab, { operation }: Subject, caller: AuditCaller): Shot | null {
  const [first, ...others] = lab.policy.operations[operation]?.samples ?? [];
  const plain = lab.shot(caller, operation);
  for (const sample of others) {
    const shot = lab.request(caller, sample, operation, sample.cost);
    const isSame = JSON.stringify(shot.attributes) === JSON.stringify(plain.attributes);
    if (!isSame && sample.cost === first?.cost && lab.route(shot)?.route.operation === operation) return shot;
  }
  return null;
}

const otherResource: Experiment = {
  ...common,
  name: "other-resource",
  promise: "a call for another resource is charged to the counts that both share, and to no other",
  needs: "a second sample of the operation, of another resource",
  calls: 10,
  lacks(lab, subject) {
    const [caller] = subject.callers;
    if (elsewhere(lab, subject, caller) === null) return "no second sample of another resource";
    return lab.windows(subject, caller).length > 0 ? null : "answers show no count of a window";
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 8, 700);
    const shot = elsewhere(lab, subject, caller);
    if (shot === null) return unexercised("no second sample of another resource");
    const made = yield* trial(lab, subject, caller, [shot, shot, shot]);
    const other = made.answers.find((answer) => !isServed(answer));
    if (other !== undefined) return unexercised(`answered ${other.call.status}`);
    for (const each of made.charged) {
      const { quota, units, plain } = each;
      const due = lab.book.areApart(quota, shot.attributes, caller.attributes)
        ? 0
        : made.answers.length * plain;
      if (units !== due)
        return broken(
          made.all,
          `${quota} ${due}, by ${made.answers.length} calls elsewhere`,
          usedWords([each]),
        );
    }
    return kept;
  },
};

export const apartExperiments: readonly Experiment[] = [eachCaller, otherResource];
