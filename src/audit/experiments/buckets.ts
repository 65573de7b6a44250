// Experiments on buckets by admissions and refusals alone: the burst that a rested one admits, its refill, and the cost
// of refusals (SPEC.md §7; POLICY.md §5). They need no header.
import { bucketOf, isIts, lacksBucket, msFor, onlyAlone, restedBurst, stepMs } from "../buckets.ts";
import type { Experiment } from "../experiment.ts";
import { broken, isRefused, isServed, kept, lacksRefusal, unexercised } from "../step.ts";

const common = {
  section: "SPEC.md §7",
  needs: "a bucket that can be emptied",
  calls: 40,
  empties: 1,
} as const;

export const bucketExperiments: readonly Experiment[] = [
  {
    ...common,
    name: "bucket-bounds-a-burst",
    law: "rate-bound",
    promise: "a rested bucket admits its capacity at once, and no more than its rate adds meanwhile",
    lacks: lacksBucket,
    *run(lab, subject) {
      const bucket = bucketOf(lab, subject);
      if (bucket === null) return unexercised("no bucket that plain calls empty first");
      const { algorithm, cost, name } = bucket;
      const answers = yield* restedBurst(lab, subject, bucket);
      const admitted = answers.filter(({ call }) => call.outcome === "admitted");
      const spanMs = Math.max(...answers.map(({ call }) => call.received)) - (answers[0]?.call.sent ?? 0);
      const most = Math.floor(
        (algorithm.capacity + (spanMs * algorithm.refill.amount) / algorithm.refill.everyMs) / cost,
      );
      if (admitted.length > most)
        return broken(
          admitted,
          `${most} calls of ${name} at most within ${spanMs} ms`,
          `${admitted.length} admitted`,
        );
      const least = Math.floor(algorithm.capacity / cost);
      const refused = answers.filter(isRefused);
      const isWhole = admitted.length + refused.length === answers.length;
      const [first] = refused;
      if (
        lab.alone &&
        isWhole &&
        admitted.length < least &&
        first !== undefined &&
        isIts(first, bucket, subject)
      )
        return broken(
          [...admitted, first],
          `${least} calls admitted: ${name} had rested`,
          `${admitted.length} admitted`,
          "refusal-justified",
        );
      if (refused.length > 0) return kept;
      const isSlow = answers.every(isServed);
      return unexercised(isSlow ? "calls came too slowly to empty it" : lacksRefusal(answers));
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
