// Experiments on refusals: which quota refuses, what its refusal says, and what it costs (SPEC.md §2; POLICY.md §2).
import { leftIn, seenIn } from "../book.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditCaller,
  type AuditCallers,
  type AuditFinding,
  broken,
  type ExperimentSteps,
  isRefused,
  isServed,
  kept,
  lacksRefusal,
  type Subject,
  unexercised,
  windowRolled,
} from "../step.ts";
import { isOneWindow } from "../trials.ts";

const common = { section: "SPEC.md §2", empties: 1, waits: 1 } as const;

/** Makes three calls of a caller whose quota is empty, in one window. */
function* refusals(lab: Lab, subject: Subject) {
  const found = yield* lab.emptied(subject);
  const shot = lab.shot(found.caller, subject.operation);
  return { ...found, answers: yield* lab.send(shot, shot, shot) };
}

export const refusalExperiments: readonly Experiment[] = [
  {
    ...common,
    name: "refusal-names-the-quota",
    law: "refusal-agrees",
    promise: "a call without room is refused, and the refusal names the quota that lacks it",
    needs: "a quota that can be emptied",
    calls: 3,
    lacks: (lab, subject) => lab.lacksEmptying(subject),
    *run(lab, subject) {
      const found = yield* refusals(lab, subject);
      const { caller, answers, quota, seen } = found;
      for (const answer of answers) {
        const { call } = answer;
        const isStill = isOneWindow(lab, caller, quota, [seen, seenIn(answer, quota)]);
        // A window that has rolled meanwhile has room again.
        if (isServed(answer) && !isStill) return unexercised(windowRolled);
        if (isServed(answer))
          return broken(
            [answer],
            `a refusal by ${quota}, which has nothing left`,
            `${call.status}, admitted`,
            "bounded",
          );
        if (call.by !== undefined && call.by !== quota && lab.policy.quotas[call.by] !== undefined)
          if (leftIn(answer, call.by) > 0)
            return broken([answer], `a refusal by ${quota}`, `one by ${call.by}, which shows room`);
      }
      return answers.some(isRefused) ? kept : yield* refusedOtherwise(lab, subject, found);
    },
  },
  {
    ...common,
    name: "refusal-is-free",
    law: "all-or-nothing",
    promise: "a refused call is charged only where the policy says so",
    needs: "a quota that can be emptied",
    calls: 8,
    lacks: (lab, subject) => lab.lacksEmptying(subject),
    *run(lab, subject) {
      const { answers, quota } = yield* refusals(lab, subject);
      return answers.every(isRefused)
        ? (chargedRefusal(lab, subject, quota, answers) ?? kept)
        : unexercised(lacksRefusal(answers));
    },
  },
  {
    ...common,
    name: "refusal-by-other-quota",
    law: "all-or-nothing",
    promise: "a call that a quota refuses which another operation used up is charged nowhere else",
    needs: "two operations that share a quota, of which one uses another quota, too",
    calls: 3,
    lacks: (lab, subject) => {
      const helper = helperOf(lab, subject);
      return helper === null
        ? "no other operation empties one of its quotas alone"
        : lab.lacksEmptying(helper);
    },
    *run(lab, subject) {
      const helper = helperOf(lab, subject) as Subject;
      yield* lab.pick(subject, 4, 1500);
      const { caller, quota } = yield* lab.emptied(helper);
      const shot = lab.shot(caller, subject.operation);
      const answers = yield* lab.send(shot, shot, shot);
      if (!answers.every(isRefused)) return unexercised(lacksRefusal(answers));
      const others = subject.quotas.filter((name) => name !== quota);
      if (!answers.every((answer) => others.some((name) => leftIn(answer, name) > 0)))
        return unexercised("its other quotas had no room, too");
      return chargedRefusal(lab, subject, quota, answers) ?? kept;
    },
  },
  {
    ...common,
    name: "refusal-leaves-others",
    law: "isolated",
    promise: "a quota of one caller's own that is empty refuses nobody else",
    needs: "two callers, a quota of their own that can be emptied",
    calls: 4,
    lacks(lab, subject) {
      const [first, second] = subject.callers;
      if (second === undefined) return "no second caller";
      const why = lab.lacksEmptying(subject);
      if (why !== null) return why;
      const narrow = lab.narrow(subject, first) as string;
      return lab.book.areApart(narrow, first.attributes, second.attributes)
        ? null
        : "callers share the narrow quota";
    },
    *run(lab, subject) {
      const { caller, quota } = yield* lab.emptied(subject);
      const others = subject.callers.filter((each) =>
        lab.book.areApart(quota, each.attributes, caller.attributes),
      );
      const [mine] = yield* lab.send(lab.shot(caller, subject.operation));
      for (const other of others) {
        const answer = yield* lab.one(lab.shot(other, subject.operation));
        const hasRoom = lab.showsRoom(subject, answer);
        if (isRefused(answer) && hasRoom && mine !== undefined)
          return broken(
            [mine, answer],
            "the other caller is admitted",
            "refused, though all quotas shown have room",
          );
        if (!isRefused(answer)) return kept;
      }
      return unexercised("no other caller had room");
    },
  },
  {
    ...common,
    name: "broad-quota-refuses",
    law: "refusal-agrees",
    promise:
      "where several quotas lack room, the refusal names the first of the policy's order; where one does, that one",
    needs: "a quota that several callers share, and callers enough to empty it",
    calls: 10,
    lacks(lab, subject) {
      const [caller] = subject.callers;
      const why = lab.lacksEmptying(subject);
      if (why !== null) return why;
      const broad = broadQuota(lab, subject);
      if (broad === null) return "no quota that callers share";
      const narrow = lab.narrow(subject, caller);
      if (narrow === null || narrow === broad) return null;
      const need = Math.ceil(lab.limit(broad, caller) / lab.limit(narrow, caller)) + 1;
      if (lab.limit(broad, caller) > 2_500) return `${broad} is too large to empty in the time`;
      const sharing = sharers(lab, subject, broad).length;
      return sharing < need ? `${need} callers are needed to empty ${broad}, ${sharing} are there` : null;
    },
    *run(lab, subject) {
      const broad = broadQuota(lab, subject) as string;
      const callers = sharers(lab, subject, broad);
      const [first] = callers;
      if (lab.book.wasEmptied(broad, first.attributes, yield* lab.now()))
        yield* lab.nextWindow(subject, [first]);
      yield* freshBroad(lab, subject, broad, first);
      let empty: Answer | null = null;
      for (const caller of callers) {
        const answers = yield* lab.drain(subject, caller);
        empty = answers.find((answer) => leftIn(answer, broad) <= 0) ?? empty;
        if (empty !== null) break;
      }
      if (empty === null) return unexercised(`${broad} was not brought to 0`);
      const seen: Answer[] = [];
      for (const caller of callers) seen.push(yield* lab.one(lab.shot(caller, subject.operation)));
      let isNamed = false;
      for (const answer of seen) {
        const { call } = answer;
        if (!(isRefused(answer) && leftIn(answer, broad) <= 0)) continue;
        if (call.by === undefined || lab.policy.quotas[call.by] === undefined) continue;
        isNamed = true;
        // The broad quota is one of them.
        const lacking = subject.quotas.filter((name) => leftIn(answer, name) <= 0);
        const [expected] = lacking;
        if (call.by !== expected)
          return broken(
            [answer],
            `a refusal by ${expected}, the first of the quotas without room (${lacking.join(", ")})`,
            `one by ${call.by}`,
          );
      }
      return isNamed ? kept : unexercised("no refusal told which quota refused");
    },
  },
];

type Emptied = ReturnType<typeof refusals> extends Generator<infer _Step, infer Found> ? Found : never;

/** Returns an operation that uses up one quota of this one, but not all of them; `null` if there is none. */
function helperOf(lab: Lab, { operation, quotas }: Subject): Subject | null {
  const found = lab.subjects.find((other) => {
    const narrow = other.operation === operation ? null : lab.narrow(other, other.callers[0]);
    return narrow !== null && quotas.includes(narrow) && quotas.some((name) => !other.quotas.includes(name));
  });
  return found ?? null;
}

/** Returns a finding on a count that refusals move against the policy; `null` if none. @param by the empty quota */
function chargedRefusal(
  lab: Lab,
  { operation, quotas }: Subject,
  by: string,
  answers: readonly Answer[],
): AuditFinding | null {
  const [first, last] = [answers[0], answers.at(-1)] as [Answer, Answer];
  for (const name of quotas) {
    const { charge } = lab.policy.quotas[name] ?? {};
    if (charge?.refused === "counted" || charge?.refusedByOther === "charged") continue;
    // Under other relations a quota with room is charged even if another one refuses.
    if (name !== by && !lab.isWhole(operation)) continue;
    const [one, other] = [seenIn(first, name), seenIn(last, name)];
    if (one === null || other === null) continue;
    const isLater = other.end !== null && (one.end === null || other.end.least > one.end.most);
    if (other.used > one.used && !isLater)
      return broken(
        answers,
        `${name} stays at ${one.used} used`,
        `${other.used} used after ${answers.length - 1} more refusals`,
      );
  }
  return null;
}

/** Number of others' calls, or of the next window's, that must be served before the audit accuses the quota. */
const servedLeast = 3;
const betweenMs = 200;

/**
 * Tells whether other answers come in place of due refusals while others are served, or before the caller's next window
 * serves it. An outage, or an answer of something before the target, proves nothing.
 */
function* refusedOtherwise(
  lab: Lab,
  subject: Subject,
  { caller, quota, seen, answers }: Emptied,
): ExperimentSteps<AuditFinding> {
  const due = [...answers];
  const isWell = yield* othersServed(lab, subject, caller, quota, due);
  const until = seen.end?.least ?? Number.NEGATIVE_INFINITY;
  if (due.some((answer) => isServed(answer) || isRefused(answer) || answer.call.received >= until))
    return unexercised(lacksRefusal(due));
  if (!isWell) {
    yield* lab.nextWindow(subject, [caller]);
    for (let call = 0; call < servedLeast; call++)
      if (!isServed(yield* lab.look(subject, caller))) return unexercised(lacksRefusal(due));
  }
  const statuses = [...new Set(due.map(({ call }) => call.status))].join(" and ");
  return broken(
    [seen.answer, ...due],
    `a refusal by ${quota} as the format has it`,
    `${statuses} each time, which it has as none`,
  );
}

/** Makes calls of the caller and of another in turn. @returns true if the other was served each time */
function* othersServed(
  lab: Lab,
  subject: Subject,
  caller: AuditCaller,
  quota: string,
  due: Answer[],
): ExperimentSteps<boolean> {
  for (const other of subject.callers) {
    if (!lab.book.areApart(quota, other.attributes, caller.attributes)) continue;
    for (let served = 0; isServed(yield* lab.look(subject, other)); ) {
      served += 1;
      if (served === servedLeast) return true;
      yield* lab.wait((yield* lab.now()) + betweenMs);
      due.push(yield* lab.one(lab.shot(caller, subject.operation)));
    }
  }
  return false;
}

/** Returns the first quota of an operation that callers of different attributes share. */
function broadQuota(lab: Lab, { quotas, callers }: Subject): string | null {
  const [first, ...others] = callers;
  const found = quotas.find((name) => {
    const key = lab.policy.quotas[name]?.key ?? [];
    const shared = others.some((other) =>
      key.every((part) => other.attributes[part] === first.attributes[part]),
    );
    return shared && lab.windowMs(name, first) > 0 && lab.shows(name);
  });
  return found ?? null;
}

function sharers(lab: Lab, { callers }: Subject, quota: string): AuditCallers {
  const key = lab.policy.quotas[quota]?.key ?? [];
  const [first] = callers;
  const isOf = ({ attributes }: AuditCaller): boolean =>
    key.every((part) => attributes[part] === first.attributes[part]);
  return callers.filter(isOf) as unknown as AuditCallers;
}

/** Waits for the next window of a shared quota, unless half of its room and of its time are left. */
function* freshBroad(lab: Lab, subject: Subject, quota: string, caller: AuditCaller): ExperimentSteps<void> {
  yield* lab.look(subject, caller);
  const nowMs = yield* lab.now();
  const seen = lab.book.latest(quota, caller.attributes);
  const lengthMs = lab.windowMs(quota, caller);
  const end = lab.book.endOf(quota, caller.attributes, nowMs) as number;
  if (seen !== null && seen.left * 2 >= seen.limit && (end - nowMs) * 2 >= lengthMs) return;
  yield* lab.nextWindow(subject, [caller]);
}
