// Experiments on buckets by admissions and refusals alone: the burst that a rested one admits, its refill, and the cost
// of refusals (SPEC.md §7; POLICY.md §5). They need no header.
import {
  type Bucket,
  bucketOf,
  burst,
  isIts,
  lacksBucket,
  msFor,
  onlyAlone,
  restedBurst,
  stepMs,
  unitsIn,
} from "../buckets.ts";
import type { Experiment } from "../experiment.ts";
import type { Lab } from "../lab.ts";
import {
  type Answer,
  type AuditFinding,
  broken,
  isRefused,
  isServed,
  kept,
  lacksRefusal,
  type Subject,
  unexercised,
} from "../step.ts";

const common = {
  section: "SPEC.md §7",
  needs: "a bucket that can be emptied",
  calls: 40,
  empties: 1,
} as const;

const lastOf = (answers: readonly Answer[]): number => Math.max(...answers.map(({ call }) => call.received));
const admittedOf = (answers: readonly Answer[]): readonly Answer[] =>
  answers.filter(({ call }) => call.outcome === "admitted");

/** Returns the first refusal of a burst that a bucket itself refused, if each call was admitted or refused; else `null`. */
function refusalOf(answers: readonly Answer[], bucket: Bucket, subject: Subject): Answer | null {
  const refused = answers.filter(isRefused);
  const [first] = refused;
  const isWhole = admittedOf(answers).length + refused.length === answers.length;
  return isWhole && first !== undefined && isIts(first, bucket, subject) ? first : null;
}

/** Judges the burst of a rested bucket: its capacity is admitted, and no more than is refilled meanwhile, in steps. */
function ofRested(lab: Lab, subject: Subject, bucket: Bucket, answers: readonly Answer[]): AuditFinding {
  const { algorithm, cost, name } = bucket;
  const admitted = admittedOf(answers);
  const spanMs = lastOf(answers) - (answers[0]?.call.sent ?? 0);
  const most = Math.floor((algorithm.capacity + unitsIn(algorithm, spanMs + stepMs)) / cost);
  if (admitted.length > most)
    return broken(
      admitted,
      `${most} calls of ${name} at most within ${spanMs} ms`,
      `${admitted.length} admitted`,
    );
  const least = Math.floor(algorithm.capacity / cost);
  const refusal = refusalOf(answers, bucket, subject);
  if (lab.alone && refusal !== null && admitted.length < least)
    return broken(
      [...admitted, refusal],
      `${least} calls admitted: ${name} had rested`,
      `${admitted.length} admitted`,
      "refusal-justified",
    );
  if (answers.some(isRefused)) return kept;
  return unexercised(answers.every(isServed) ? "calls came too slowly to empty it" : lacksRefusal(answers));
}

/** Judges a second burst, of a bucket that was empty after the first: both are held to its rate. It may count in steps. */
function ofRefilled(
  lab: Lab,
  subject: Subject,
  bucket: Bucket,
  before: readonly Answer[],
  answers: readonly Answer[],
): AuditFinding {
  const { algorithm, cost, name, caller } = bucket;
  const admitted = admittedOf(answers);
  const both = [...admittedOf(before), ...admitted];
  const spanMs = lastOf(answers) - (before[0]?.call.sent ?? 0);
  const most = Math.floor((algorithm.capacity + unitsIn(algorithm, spanMs + stepMs)) / cost);
  if (both.length > most)
    return broken(both, `${most} calls of ${name} at most within ${spanMs} ms`, `${both.length} admitted`);
  const [first, again] = [refusalOf(before, bucket, subject), refusalOf(answers, bucket, subject)];
  const isFree = lab.quota(name, caller).charge.refused === "nothing";
  const restMs = (answers[0]?.call.sent ?? 0) - lastOf(before) - stepMs;
  const least = Math.floor(Math.min(algorithm.capacity, unitsIn(algorithm, restMs)) / cost);
  if (lab.alone && isFree && first !== null && again !== null && admitted.length < least)
    return broken(
      [first, ...admitted, again],
      `${least} calls admitted: ${name} was refilled for ${restMs + stepMs} ms`,
      `${admitted.length} admitted`,
      "refusal-justified",
    );
  return kept;
}

export const bucketExperiments: readonly Experiment[] = [
  {
    ...common,
    name: "bucket-bounds-a-burst",
    law: "rate-bound",
    promise: "a rested bucket admits its capacity at once, and then what its rate adds, no more and no less",
    lacks: lacksBucket,
    *run(lab, subject) {
      const bucket = bucketOf(lab, subject);
      if (bucket === null) return unexercised("no bucket that plain calls empty first");
      const answers = yield* restedBurst(lab, subject, bucket);
      const first = ofRested(lab, subject, bucket, answers);
      const halfMs = lastOf(answers) + msFor(bucket.algorithm, bucket.algorithm.capacity / 2);
      if (first !== kept || lab.isOver(halfMs)) return first;
      yield* lab.wait(halfMs);
      return ofRefilled(lab, subject, bucket, answers, yield* burst(lab, subject, bucket));
    },
  },
  {
    ...common,
    name: "bucket-gives-back",
    law: "give-back",
    promise:
      "once emptied, a bucket has room for a call after the time that its rate takes: refused calls cost nothing",
    lacks: (lab, subject) => {
      const bucket = bucketOf(lab, subject);
      const why = lacksBucket(lab, subject);
      if (why !== null || bucket === null) return why;
      if (!lab.alone) return onlyAlone;
      return lab.quota(bucket.name, bucket.caller).charge.refused === "nothing"
        ? null
        : "refused calls are counted";
    },
    *run(lab, subject) {
      const bucket = bucketOf(lab, subject);
      if (bucket === null) return unexercised("no bucket that plain calls empty first");
      const { algorithm, cost, caller, name } = bucket;
      const refused = (yield* restedBurst(lab, subject, bucket)).filter(isRefused);
      const last = refused.at(-1);
      if (last === undefined || !isIts(last, bucket, subject)) return unexercised("it was not emptied");
      const waitMs = Math.ceil(msFor(algorithm, cost)) + stepMs;
      yield* lab.wait(last.call.received + waitMs);
      const answer = yield* lab.one(lab.shot(caller, subject.operation));
      return isRefused(answer) && isIts(answer, bucket, subject)
        ? broken([last, answer], `${name} has room for a call after ${waitMs} ms`, "refused")
        : kept;
    },
  },
  {
    ...common,
    name: "bucket-wait-is-honest",
    law: "honest-wait",
    promise: "who waits alone as long as the refusal says is admitted",
    needs: "a bucket that can be emptied, whose refusals tell when to come back",
    lacks: lacksBucket,
    *run(lab, subject) {
      const bucket = bucketOf(lab, subject);
      if (bucket === null) return unexercised("no bucket that plain calls empty first");
      const refused = (yield* restedBurst(lab, subject, bucket)).filter(isRefused);
      const told = refused.flatMap((answer) => {
        const { received, retryAfterMs } = answer.call;
        return retryAfterMs === undefined
          ? []
          : [{ answer, ms: retryAfterMs, until: received + retryAfterMs }];
      });
      const last = told.toSorted((one, other) => one.until - other.until).at(-1);
      if (last === undefined || !lab.alone) return unexercised("no refusal told when to come back");
      yield* lab.wait(last.until);
      const answer = yield* lab.one(lab.shot(bucket.caller, subject.operation));
      return isRefused(answer) && isIts(answer, bucket, subject)
        ? broken([last.answer, answer], `admitted after the ${last.ms} ms that the refusal told`, "refused")
        : kept;
    },
  },
];
