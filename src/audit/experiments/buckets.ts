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
  restMs,
  stepMs,
  unitsIn,
} from "../buckets.ts";
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

const sentOf = (answers: readonly Answer[]): number => (answers[0] as Answer).call.sent;
const spanOf = (answers: readonly Answer[]): number => lastOf(answers) - sentOf(answers);

/**
 * Finds more calls admitted than a bucket's capacity and its refill meanwhile; `null` if there were none.
 * @param grantedMs time that the refill may be ahead, as of a bucket that is refilled in steps
 */
function overRate(
  { algorithm, cost, name }: Bucket,
  answers: readonly Answer[],
  grantedMs: number,
): AuditFinding | null {
  const admitted = admittedOf(answers);
  const spanMs = spanOf(answers);
  const most = Math.floor((algorithm.capacity + unitsIn(algorithm, spanMs + grantedMs)) / cost);
  const expected = `${most} calls of ${name} at most within ${spanMs} ms`;
  return admitted.length > most ? broken(admitted, expected, `${admitted.length} admitted`) : null;
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
 * Finds more calls in a rested bucket's burst than its capacity and its rate; `null` if there were none. One step of a
 * refill may explain them. Then a second rested burst, at another time in the step, has to show more, too.
 */
function* overRested(
  lab: Lab,
  subject: Subject,
  bucket: Bucket,
  answers: readonly Answer[],
): ExperimentSteps<AuditFinding | null> {
  const over = overRate(bucket, answers, 0);
  if (over === null || overRate(bucket, answers, stepMs) !== null) return over;
  const beganMs = sentOf(answers) + apartMs;
  const atMs = beganMs + Math.ceil((lastOf(answers) + restMs(bucket) - beganMs) / stepMs) * stepMs;
  if (spanOf(answers) >= shortMs || lab.isOver(atMs)) return null;
  yield* lab.wait(atMs);
  const again = yield* restedBurst(lab, subject, bucket);
  return areApart(answers, again) && overRate(bucket, again, 0) !== null
    ? over
    : unexercised("a refill in steps explains what was admitted");
}

/** Judges the burst of a rested bucket that admitted no more than its rate: its capacity is admitted. */
function ofRested(lab: Lab, subject: Subject, bucket: Bucket, answers: readonly Answer[]): AuditFinding {
  const { algorithm, cost, name } = bucket;
  const admitted = admittedOf(answers);
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

/** Judges a second burst, of a bucket that was empty after the first: both are held to its rate. */
function ofRefilled(
  lab: Lab,
  subject: Subject,
  bucket: Bucket,
  before: readonly Answer[],
  answers: readonly Answer[],
): AuditFinding {
  const over = overRate(bucket, [...before, ...answers], stepMs);
  if (over !== null) return over;
  const { algorithm, cost, name, caller } = bucket;
  const admitted = admittedOf(answers);
  const [first, again] = [refusalOf(before, bucket, subject), refusalOf(answers, bucket, subject)];
  const isFree = lab.quota(name, caller).charge.refused === "nothing";
  const pauseMs = sentOf(answers) - lastOf(before);
  const least = Math.floor(Math.min(algorithm.capacity, unitsIn(algorithm, pauseMs - stepMs)) / cost);
  if (lab.alone && isFree && first !== null && again !== null && admitted.length < least)
    return broken(
      [first, ...admitted, again],
      `${least} calls admitted: ${name} was refilled for ${pauseMs} ms`,
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
      const bucket = bucketOf(lab, subject) as Bucket;
      const answers = yield* restedBurst(lab, subject, bucket);
      const first =
        (yield* overRested(lab, subject, bucket, answers)) ?? ofRested(lab, subject, bucket, answers);
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
      const bucket = bucketOf(lab, subject) as Bucket;
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
    promise: "a refusal says how long to wait, where the policy has it; who waits alone so long is admitted",
    needs: "a bucket that can be emptied, whose refusals tell when to come back",
    lacks: lacksBucket,
    *run(lab, subject) {
      const bucket = bucketOf(lab, subject) as Bucket;
      const refused = (yield* restedBurst(lab, subject, bucket)).filter(isRefused);
      const owing = refused.find((answer) => isIts(answer, bucket, subject) && lacksRetry(lab, answer));
      if (owing !== undefined) return silent(owing, "headers-present");
      const told = refused.flatMap((answer) => {
        const { received, retryAfterMs } = answer.call;
        return retryAfterMs === undefined
          ? []
          : [{ answer, ms: retryAfterMs, until: received + retryAfterMs }];
      });
      const last = told.toSorted((one, other) => one.until - other.until).at(-1);
      if (last === undefined) return unexercised("no refusal told when to come back");
      if (!lab.alone) return unexercised(onlyAlone);
      yield* lab.wait(last.until);
      const answer = yield* lab.one(lab.shot(bucket.caller, subject.operation));
      return isRefused(answer) && isIts(answer, bucket, subject)
        ? broken([last.answer, answer], `admitted after the ${last.ms} ms that the refusal told`, "refused")
        : kept;
    },
  },
];
