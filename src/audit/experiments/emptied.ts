// Experiments by admissions and refusals alone, on a bucket, or on a window whose count no answer shows: what a rested
// one admits, when it has room again, and the cost of refusals (SPEC.md §3, §7; POLICY.md §5). They need no header.
import {
  admittedOf,
  burst,
  callsIn,
  type EmptiedQuota,
  emptiedOf,
  isIts,
  lacksEmptied,
  lacksLevel,
  lastOf,
  msFor,
  onlyAlone,
  overRate,
  rest,
  restedBurst,
  restMs,
  roomOf,
  sentOf,
  spanOf,
  stepMs,
  unitsIn,
} from "../emptied.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditFinding,
  broken,
  type ExperimentSteps,
  isRefused,
  isServed,
  kept,
  lacksRefusal,
  type Subject,
  unexercised,
} from "../step.ts";
import { lacksRetry, silent } from "./headers.ts";

const common = {
  section: "SPEC.md §7",
  needs: "a bucket, or a window without counts, that can be emptied",
  calls: 40,
  empties: 1,
} as const;

/** Returns the first refusal of a burst by the quota itself, if each call was admitted or refused; else `null`. */
function refusalOf(answers: readonly Answer[], quota: EmptiedQuota, subject: Subject): Answer | null {
  const refused = answers.filter(isRefused);
  const [first] = refused;
  const isWhole = admittedOf(answers).length + refused.length === answers.length;
  return isWhole && first !== undefined && isIts(first, quota, subject) ? first : null;
}

/** Time in a second at which a second burst begins after the first, ms: another one in each usual step of refill. */
const apartMs = 370;
/** Span that both bursts are shorter than, so that no step comes within both, ms. */
const shortMs = 100;
/** Usual steps of refill, ms. */
const steps = [stepMs, stepMs / 2, stepMs / 4];

/** Tells whether no step of refill can have come within both of two bursts. */
const areApart = (one: readonly Answer[], other: readonly Answer[]): boolean =>
  Math.max(spanOf(one), spanOf(other)) < shortMs &&
  steps.every((ms) => {
    const phaseMs = (sentOf(other) - sentOf(one)) % ms;
    return phaseMs >= shortMs && phaseMs <= ms - shortMs;
  });

/**
 * Finds more calls in a rested quota's burst than its room and its rate; `null` if there were none. One step of a
 * refill may explain them. Then a second rested burst, at another time in the step, has to show more, too.
 */
function* overRested(
  lab: Lab,
  subject: Subject,
  quota: EmptiedQuota,
  answers: readonly Answer[],
): ExperimentSteps<AuditFinding | null> {
  const over = overRate(quota, answers, 0);
  if (over === null || overRate(quota, answers, stepMs) !== null) return over;
  const beganMs = sentOf(answers) + apartMs;
  const atMs = beganMs + Math.ceil((lastOf(answers) + restMs(quota) - beganMs) / stepMs) * stepMs;
  if (spanOf(answers) >= shortMs || lab.isOver(atMs)) return null;
  yield* lab.wait(atMs);
  const again = yield* restedBurst(lab, subject, quota);
  return areApart(answers, again) && overRate(quota, again, 0) !== null
    ? over
    : unexercised("a refill in steps, or a clock of whole seconds, explains what was admitted");
}

/** Bursts after which a window that refuses nothing has surely admitted more than the limits of two windows. */
const burstsMost = 3;

/** Finds more calls in bursts than all windows admit that they may touch; `null` if there were none. */
function* overWindows(lab: Lab, subject: Subject, quota: EmptiedQuota): ExperimentSteps<AuditFinding | null> {
  const answers: Answer[] = [];
  for (let bursts = 0; bursts < burstsMost && answers.every(isServed); bursts++)
    answers.push(...(yield* burst(lab, subject, quota)));
  const admitted = admittedOf(answers);
  const windows = 2 + Math.floor(spanOf(answers) / quota.windowMs);
  const most = Math.floor((windows * roomOf(quota)) / quota.cost);
  const expected = `${most} calls of ${quota.name} at most in ${windows} windows`;
  return admitted.length > most ? broken(admitted, expected, `${admitted.length} admitted`, "bounded") : null;
}

/** Judges the burst of a rested quota that admitted no more than its rate: all its room is used. */
function ofRested(lab: Lab, subject: Subject, quota: EmptiedQuota, answers: readonly Answer[]): AuditFinding {
  const admitted = admittedOf(answers);
  const least = Math.floor(roomOf(quota) / quota.cost);
  const refusal = refusalOf(answers, quota, subject);
  if (lab.alone && refusal !== null && admitted.length < least)
    return broken(
      [...admitted, refusal],
      `${least} calls admitted: ${quota.name} had rested`,
      `${admitted.length} admitted`,
      "refusal-justified",
    );
  if (answers.some(isRefused)) return kept;
  return unexercised(answers.every(isServed) ? "calls came too slowly to empty it" : lacksRefusal(answers));
}

/** Judges a second burst, of a bucket that was empty after the first: both are held to its rate. */
function ofRefilled(
  lab: Lab,
  subject: Subject,
  quota: EmptiedQuota,
  before: readonly Answer[],
  answers: readonly Answer[],
): AuditFinding {
  const over = overRate(quota, [...before, ...answers], stepMs);
  if (over !== null) return over;
  const { cost, name, caller } = quota;
  const admitted = admittedOf(answers);
  const [first, again] = [refusalOf(before, quota, subject), refusalOf(answers, quota, subject)];
  // A window has its room back as a whole; only a bucket's part of it is owed.
  const isOwed = quota.windowMs === 0 && lab.quota(name, caller).charge.refused === "nothing";
  const pauseMs = sentOf(answers) - lastOf(before);
  const least = Math.floor(Math.min(roomOf(quota), unitsIn(quota, pauseMs - stepMs)) / cost);
  if (lab.alone && isOwed && first !== null && again !== null && admitted.length < least)
    return broken(
      [first, ...admitted, again],
      `${least} calls admitted: ${name} was refilled for ${pauseMs} ms`,
      `${admitted.length} admitted`,
      "refusal-justified",
    );
  return kept;
}

/** Most calls of another caller beside an emptied quota. */
const othersMost = 8;

/** Returns the emptied quota of a caller whose count is apart from the first one's; `null` if there is none. */
function otherOf(lab: Lab, subject: Subject): EmptiedQuota | null {
  const quota = emptiedOf(lab, subject);
  if (quota === null) return null;
  const other = subject.callers.find(({ attributes }) =>
    lab.book.areApart(quota.name, attributes, quota.caller.attributes),
  );
  const others = other === undefined ? null : emptiedOf(lab, subject, other);
  return others?.name === quota.name ? others : null;
}

export const emptiedExperiments: readonly Experiment[] = [
  {
    ...common,
    name: "burst-is-bounded",
    law: "rate-bound",
    promise:
      "after a rest, a bucket admits its capacity at once, and then what its rate adds; a new window admits its limit",
    lacks: lacksEmptied,
    *run(lab, subject) {
      const quota = emptiedOf(lab, subject) as EmptiedQuota;
      const wide = quota.windowMs > 0 ? yield* overWindows(lab, subject, quota) : null;
      if (wide !== null) return wide;
      const answers = yield* restedBurst(lab, subject, quota);
      const first =
        (yield* overRested(lab, subject, quota, answers)) ?? ofRested(lab, subject, quota, answers);
      const halfMs = lastOf(answers) + (quota.windowMs / 2 || msFor(quota, roomOf(quota) / 2));
      if (first !== kept || lab.isOver(halfMs)) return first;
      yield* lab.wait(halfMs);
      return ofRefilled(lab, subject, quota, answers, yield* burst(lab, subject, quota));
    },
  },
  {
    ...common,
    name: "emptied-has-room-again",
    law: "give-back",
    promise:
      "an emptied bucket has room for a call after the time that its rate takes: refused calls cost nothing; an emptied window is over after its length",
    lacks: (lab, subject) => {
      const quota = emptiedOf(lab, subject);
      const why = lacksLevel(lab, subject);
      if (why !== null || quota === null) return why;
      const isFree = lab.quota(quota.name, quota.caller).charge.refused === "nothing";
      return isFree || quota.windowMs > 0 ? null : "refused calls are counted";
    },
    *run(lab, subject) {
      const quota = emptiedOf(lab, subject) as EmptiedQuota;
      const { cost, caller, name } = quota;
      const refused = (yield* restedBurst(lab, subject, quota)).filter(isRefused);
      const last = refused.at(-1);
      if (last === undefined || !isIts(last, quota, subject)) return unexercised("it was not emptied");
      const waitMs = Math.ceil(msFor(quota, cost)) + stepMs;
      yield* lab.wait(last.call.received + waitMs);
      const answer = yield* lab.one(lab.shot(caller, subject.operation));
      return isRefused(answer) && isIts(answer, quota, subject)
        ? broken([last, answer], `${name} has room for a call after ${waitMs} ms`, "refused")
        : kept;
    },
  },
  {
    ...common,
    name: "emptied-leaves-others",
    law: "isolated",
    promise: "a quota of one caller's own that is empty refuses nobody else",
    needs:
      "a bucket, or a window without counts, that can be emptied, and a second caller with one of its own",
    lacks: (lab, subject) =>
      lacksEmptied(lab, subject) ??
      (otherOf(lab, subject) === null
        ? "no second caller with a quota of its own"
        : lacksLevel(lab, subject)),
    *run(lab, subject) {
      const quota = emptiedOf(lab, subject) as EmptiedQuota;
      const other = otherOf(lab, subject) as EmptiedQuota;
      yield* rest(lab, subject, other);
      const refusal = refusalOf(yield* restedBurst(lab, subject, quota), quota, subject);
      if (refusal === null) return unexercised("it was not emptied");
      // If the quota were the same, one call might find what came back meanwhile. Half of the room is there in any case.
      const shot = lab.shot(other.caller, subject.operation);
      const calls = Math.ceil(Math.min(callsIn(other) / 2, othersMost));
      const answers = yield* lab.together(Array.from({ length: calls }, () => shot));
      const refused = answers.find((answer) => isRefused(answer) && isIts(answer, quota, subject));
      if (refused !== undefined)
        return broken(
          [refusal, refused],
          `the other caller is admitted, whose ${other.name} has rested`,
          "refused",
        );
      return answers.every(isServed) ? kept : unexercised("the other caller's calls were not served");
    },
  },
  {
    ...common,
    name: "emptied-wait-is-honest",
    law: "honest-wait",
    promise: "a refusal says how long to wait, where the policy has it; who waits alone so long is admitted",
    needs: "a bucket, or a window without counts, whose refusals tell when to come back",
    lacks: lacksEmptied,
    *run(lab, subject) {
      const quota = emptiedOf(lab, subject) as EmptiedQuota;
      const refused = (yield* restedBurst(lab, subject, quota)).filter(isRefused);
      const owing = refused.find((answer) => isIts(answer, quota, subject) && lacksRetry(lab, answer));
      if (owing !== undefined) return silent(owing, "headers-present");
      const told = refused.flatMap((answer) => {
        const { received, retryAfterMs } = answer.call;
        return retryAfterMs === undefined
          ? []
          : [{ answer, ms: retryAfterMs, until: received + retryAfterMs }];
      });
      const fullMs = msFor(quota, roomOf(quota));
      const long = told.find(({ answer, ms }) => isIts(answer, quota, subject) && ms > fullMs + 2 * stepMs);
      if (long !== undefined)
        return broken(
          [long.answer],
          `a wait of ${fullMs / 1000} s at most, in which all of ${quota.name} comes back`,
          `the refusal tells ${long.ms / 1000} s`,
        );
      const last = told.toSorted((one, other) => one.until - other.until).at(-1);
      if (last === undefined) return unexercised("no refusal told when to come back");
      if (!lab.alone) return unexercised(onlyAlone);
      yield* lab.wait(last.until);
      const answer = yield* lab.one(lab.shot(quota.caller, subject.operation));
      return isRefused(answer) && isIts(answer, quota, subject)
        ? broken([last.answer, answer], `admitted after the ${last.ms} ms that the refusal told`, "refused")
        : kept;
    },
  },
];
