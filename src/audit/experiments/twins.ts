// Experiments with twins: a call in another shape is charged like its plain twin, or free by the policy (SPEC.md §2.6).
import type { RequestSample } from "../../policy/policy.ts";
import { seenIn } from "../book.ts";
import { judgeCharges } from "../charges.ts";
import { lacksCounts, needsCounts } from "../emptied.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import { type AuditCaller, broken, isRefused, kept, unexercised, usedWords } from "../step.ts";
import { shownApart, trial } from "../trials.ts";
import { lateMs, type RequestShape, shapes } from "./shapes.ts";

const chargeWords = {
  "as usual": "like a plain one",
  nothing: "nothing",
  "once at most": "once, or not at all",
} as const;

const twin = (shape: RequestShape): Experiment => ({
  name: `twin-${shape.name}`,
  law: shape.law ?? "conserved",
  section: "SPEC.md §2.6",
  promise: `a call ${shape.what} is charged ${chargeWords[shape.charges ?? "as usual"]}`,
  needs: shape.needs ?? needsCounts,
  calls: 8,
  lacks(lab, subject) {
    const [caller] = subject.callers;
    const why = lacksCounts(lab, subject);
    if (why !== null) return why;
    return shape.lacks?.(lab, lab.shot(caller, subject.operation)) ?? null;
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 8, 700);
    const plain = lab.shot(caller, subject.operation);
    const shots = shape.make(plain, lab).map((shot) => {
      const isOther = shot.path !== plain.path || shot.method !== plain.method;
      return { ...lab.routed(shot), otherwise: isOther ? subject.operation : undefined };
    });
    // Emptying a quota would not show which of several shapes is charged otherwise.
    const isByBucket = lab.windows(subject, caller).length === 0 && shape.together !== true;
    for (const some of isByBucket ? shots.map((shot) => [shot]) : [shots]) {
      const viewer = isByBucket ? yield* lab.pick(subject, 8, 700) : caller;
      const own = some.map((shot) =>
        isByBucket ? { ...shot, caller: viewer, attributes: viewer.attributes } : shot,
      );
      const made = yield* trial(lab, subject, viewer, own, { together: shape.together === true });
      const isRefusal = made.answers.some(isRefused);
      if (isRefusal && !lab.isRefusedFree(subject, caller)) return unexercised("the twin was refused");
      if (shape.charges === "once at most") yield* lab.wait((yield* lab.now()) + lateMs);
      const wrong = judgeCharges(made, shape.charges);
      if (wrong !== null) return wrong;
      if (isRefusal) return unexercised("the twin was refused");
      if (shape.name === "http-2" && made.answers.every(({ call }) => call.status === 0))
        return unexercised("the target speaks no HTTP/2");
    }
    return kept;
  },
});

/** Returns the operation of the request that provokes a status; `null` if no route leads to it. */
const provokedBy = (lab: Lab, caller: AuditCaller, sample: RequestSample): string | null =>
  lab.route(lab.request(caller, sample, "other", null))?.route.operation ?? null;

/**
 * Returns an experiment with an answer that the policy says how to provoke: charged once, or free. Of a request that no
 * quota limits it is free.
 */
const provoked = (status: "304" | "400" | "404" | "405"): Experiment => ({
  name: `answered-${status}`,
  law: "conserved",
  section: "SPEC.md §2.6",
  promise: `an answer of ${status} is charged once, or not at all, in all quotas alike`,
  needs: `a request of the policy that provokes ${status}`,
  calls: 6,
  lacks(lab, subject) {
    const sample = lab.policy.provoke[status];
    if (sample === undefined) return `the policy has no request that provokes ${status}`;
    const [caller] = subject.callers;
    const why = lacksCounts(lab, subject);
    if (why !== null) return why;
    const operation = provokedBy(lab, caller, sample);
    return operation === subject.operation || operation === "other"
      ? null
      : "the request is another operation's";
  },
  *run(lab, subject) {
    const sample = lab.policy.provoke[status] as RequestSample;
    const caller = yield* lab.pick(subject, 8, 700);
    const isLimited = provokedBy(lab, caller, sample) === subject.operation;
    const shot = lab.request(caller, sample, isLimited ? subject.operation : "other", null);
    const made = yield* trial(lab, subject, caller, [shot, shot]);
    if (!isLimited) return judgeCharges(made, "nothing") ?? kept;
    const isCharged = made.charged.some(
      ({ quota, units, plain }) => lab.shows(quota) && plain > 0 && units === 2 * plain,
    );
    const isBare = made.charged.every(({ quota }) =>
      made.answers.every((answer) => seenIn(answer, quota) === null),
    );
    if (isCharged && isBare && made.answers.every(({ call }) => String(call.status) === status))
      return broken(
        made.all,
        `an answer of ${status} that is charged shows its quotas`,
        "it shows none",
        "headers-present",
      );
    return judgeCharges(made) ?? kept;
  },
});

/** Size of a body that most servers refuse, bytes. */
const largeBytes = 1 << 21;

const tooLarge: Experiment = {
  name: "answered-413",
  law: "conserved",
  section: "SPEC.md §2.6",
  promise: "an answer of 413 is charged once, or not at all, in all quotas alike",
  needs: "a sample with a body",
  calls: 4,
  lacks(lab, subject) {
    const [caller] = subject.callers;
    if (lab.windows(subject, caller).length === 0) return "answers show no count of a window";
    return lab.shot(caller, subject.operation).body === null ? "the sample has no body" : null;
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 4, 700);
    const plain = lab.shot(caller, subject.operation);
    const made = yield* trial(lab, subject, caller, [
      { ...plain, body: `${plain.body}${" ".repeat(largeBytes)}`, isVague: true },
    ]);
    const [answer] = made.answers;
    const wrong = judgeCharges(made);
    if (wrong !== null) return wrong;
    return answer?.call.status === 413
      ? kept
      : unexercised(`a body of ${largeBytes >> 20} MiB is answered ${answer?.call.status}`);
  },
};

const keptConnection: Experiment = {
  name: "users-in-turn-on-one-connection",
  law: "isolated",
  section: "SPEC.md §7",
  promise: "calls of several users in turn are each charged to their own",
  needs: `two callers, ${needsCounts}`,
  calls: 12,
  lacks: (lab, subject) => {
    return subject.callers.length === 1 ? "no second caller" : lacksCounts(lab, subject);
  },
  *run(lab, subject) {
    const caller = yield* lab.pick(subject, 10, 700);
    const other = subject.callers.find((each) => each.index !== caller.index) as AuditCaller;
    const own = shownApart(lab, subject, caller, other);
    if (own === null) return unexercised("the callers share all quotas");
    const [mine, theirs] = [lab.shot(caller, subject.operation), lab.shot(other, subject.operation)];
    const made = yield* trial(lab, subject, caller, [theirs, mine, theirs, mine, theirs], { quotas: own });
    const due = made.answers.filter(({ shot }) => shot.caller === caller).length;
    const wrong = made.charged.filter(({ units, most, plain }) => most < due * plain || units > due * plain);
    const isRight = wrong.length === 0 || made.answers.some(isRefused);
    return isRight ? kept : broken(made.all, "charged for the two calls of its own alone", usedWords(wrong));
  },
};

export const twinExperiments: readonly Experiment[] = [
  ...shapes.map(twin),
  keptConnection,
  ...(["304", "400", "404", "405"] as const).map(provoked),
  tooLarge,
];
