// Retries of a caller that numbers no attempts: which of its calls retry refused ones. Each policy reads the calls in
// its own way. The fit believes the policy under which what followed all refusals is likeliest.
import { isRefused, type Jobs, jobsGuessed, jobsWithin, type RetrySample } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import { expectedSpan, type FittedRetry, type PlainRetry } from "./policies.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { RecordedCaller } from "./recording.ts";
import {
  costBy,
  explainedBy,
  guessRetry,
  marginOf,
  type RetryGuess,
  strayCost,
  type UsualPauses,
} from "./retries.ts";
import { lateShare, workersWaitsMs } from "./returns.ts";
import type { FittedSpan } from "./spread.ts";
import { sumOf } from "./statistics.ts";

/** Least share of the refusals for which a reading finds retries. */
const triedLeast = 0.5;
/** Number of refusals, with the calls soon after, that choose the first policy; more would hardly choose another. */
const refusalsRead = 300;
/** Caps for the likeliest policy, ms. `firstReadings`: policies tried first, as pairs of calls at once hide the wait. */
const capsMs = [4_000, 8_000, 16_000, 32_000, 60_000];
export const firstReadings: readonly PlainRetry[] = [
  ...[250, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000].flatMap((first) =>
    (["none", "equal", "full"] as const).map(
      (jitter) => ({ kind: "exponential", first, factor: 2, most: 60_000, jitter }) as const,
    ),
  ),
];
/** Waits of one length, which calls keep to the millisecond, whatever others come between. */
const exactReadings = workersWaitsMs.map(
  (least) => ({ kind: "fixed", wait: { least, most: least } }) as const,
);
/** Greatest share of admitted calls that another one follows after a wait which is that of retries. */
const anywayMost = 0.25;

/** Returns the waits of one length after which calls seldom come anyway. */
function exactWaits(calls: readonly RecordedCall[], slackMs: number): readonly FittedRetry[] {
  const admitted = calls.filter((call) => !isRefused(call));
  return exactReadings.filter(({ wait: { least } }) => {
    let next = 0;
    // Polls come a period after the one before, however late its answer was.
    const followed = admitted.filter(({ atMs, endMs }) => {
      while ((calls[next]?.atMs ?? Number.POSITIVE_INFINITY) < atMs + least - slackMs) next += 1;
      return (calls[next]?.atMs ?? Number.POSITIVE_INFINITY) < endMs + least + slackMs;
    });
    return followed.length < anywayMost * admitted.length;
  });
}

/** Policies that are tried, too, if calls overlap, as those of several workers do: the call after a refusal is another's. */
const workersReadings: readonly FittedRetry[] = [
  ...[250, 1_000, 5_000, 10_000].map(
    (most) => ({ kind: "waitReset", of: "both", from: "answer", jitter: { least: 0, most } }) as const,
  ),
  // A call that is due may wait until one of a few workers is free.
  ...workersWaitsMs.map(
    (least) => ({ kind: "fixed", wait: { least, most: least * (1 + lateShare) } }) as const,
  ),
];
/** Least share of calls that begin before the call before them is answered, for several workers. */
const overlapsLeast = 0.2;

/** Tells whether many of a caller's calls overlap. */
const hasWorkers = ({ calls }: RecordedCaller): boolean =>
  calls.filter(({ atMs }, index) => atMs < (calls[index - 1]?.endMs ?? 0)).length >=
  overlapsLeast * calls.length;

export const spansOf =
  (retry: FittedRetry, slackMs: number) =>
  (refusal: RetrySample): FittedSpan | null => {
    const span = expectedSpan(retry, refusal);
    return span === null ? null : { least: span.least - slackMs, most: span.most + slackMs };
  };

/**
 * Reads calls after refusals as retries of one loop, by the waits of a policy. It leaves a refused call for good once it
 * makes another one.
 * @returns `null` if most refusals are followed by none
 */
export function triesInLoop(
  caller: RecordedCaller,
  limits: Limits,
  slackMs: number,
  retry: FittedRetry,
): Jobs | null {
  const jobs = jobsWithin(caller, limits, spansOf(retry, slackMs), true);
  return jobs.retries.length < triedLeast * caller.calls.filter(isRefused).length ? null : jobs;
}

/** Least attempts of one number that show that callers give up before them, and most of them that keep to the policy. */
const givenUpLeast = 10;
const keptMost = 0.5;

/**
 * Reads each call after a refusal as its retry, up to the attempt after which the caller gives up: what follows keeps to its
 * usual pauses, and no longer to the policy.
 */
function triesInTurn(
  caller: RecordedCaller,
  limits: Limits,
  slackMs: number,
  usual: UsualPauses,
): { readonly jobs: Jobs; readonly guess: RetryGuess | null } {
  const jobs = jobsGuessed(caller, limits, Number.POSITIVE_INFINITY);
  const guess = guessRetry(jobs.retries, slackMs, usual);
  const most = guess === null ? null : lastAttempt(guess.retry, jobs.retries, slackMs, usual);
  if (most === null) return { jobs, guess };
  const until = jobsGuessed(caller, limits, most);
  return { jobs: until, guess: guessRetry(until.retries, slackMs, usual) };
}

/** Returns the number of attempts after which a caller gives up; `null` if none shows. */
function lastAttempt(
  retry: FittedRetry,
  retries: readonly RetrySample[],
  slackMs: number,
  usual: UsualPauses,
): number | null {
  if (retry.kind === "none" || retry.kind === "unknown") return null;
  for (let attempt = 1; ; attempt++) {
    const own = retries.filter((sample) => sample.attempt === attempt);
    if (own.length < givenUpLeast) return null;
    if (explainedBy(retry, own, slackMs) > keptMost) continue;
    const asUsual = sumOf(own.map(({ waitMs }) => usual.cost(waitMs)));
    return asUsual + marginOf(own.length) * own.length < costBy(retry, own, slackMs) ? attempt + 1 : null;
  }
}

/** Reads calls after refusals as retries: in turn, or by the waits of a likelier policy. */
export function triesOf(
  caller: RecordedCaller,
  limits: Limits,
  slackMs: number,
  usual: UsualPauses,
): { readonly jobs: Jobs; readonly guess: RetryGuess | null } {
  const { jobs: inTurn, guess } = triesInTurn(caller, limits, slackMs, usual);
  if (guess === null) return { jobs: inTurn, guess };
  const refusals = caller.calls.filter(isRefused);
  /** Returns the mean of -ln(likelihood) per refusal. */
  const costOf = (retry: FittedRetry, { retries }: Jobs, all: number): number => {
    const tried = retry.kind === "none" ? guess.score * retries.length : costBy(retry, retries, slackMs);
    return (tried + strayCost * (all - retries.length)) / all;
  };
  const readBy = (retry: FittedRetry, calls = caller.calls) => {
    const jobs = jobsWithin({ ...caller, calls }, limits, spansOf(retry, slackMs));
    return { retry, jobs, cost: costOf(retry, jobs, calls.filter(isRefused).length) };
  };
  const firstTries = inTurn.retries.filter(({ attempt }) => attempt === 0).slice(0, refusalsRead);
  let [untilMs, read] = [0, 0];
  const early = caller.calls.filter((call) => {
    const isNear = call.atMs <= untilMs && read <= refusalsRead;
    if (!isRefused(call)) return isNear;
    untilMs = call.endMs + Math.max(...capsMs);
    read += 1;
    return read <= refusalsRead;
  });
  const likeliestOf = (retries: readonly FittedRetry[]): FittedRetry =>
    retries
      .map((retry) => readBy(retry, early))
      .reduce((best, other) => (other.cost < best.cost ? other : best)).retry;
  const first = likeliestOf([
    guess.retry,
    ...firstReadings,
    ...exactWaits(early, slackMs),
    ...(hasWorkers(caller) ? workersReadings : []),
    guessRetry(firstTries, slackMs, usual)?.retry ?? guess.retry,
  ]);
  if (first === guess.retry) return { jobs: inTurn, guess };
  const { retry, jobs, cost } = readBy(
    first.kind === "exponential" ? likeliestOf(capsMs.map((most) => ({ ...first, most }))) : first,
  );
  const again = guessRetry(jobs.retries, slackMs, usual);
  const isLikelier = cost < costOf(guess.retry, inTurn, refusals.length) - marginOf(refusals.length);
  return isLikelier &&
    again !== null &&
    again.retry.kind !== "none" &&
    jobs.retries.length >= triedLeast * refusals.length
    ? { jobs, guess: retry.kind === "exponential" ? { ...again, retry } : again }
    : { jobs: inTurn, guess };
}
