// Retries of a caller that numbers no attempts: which of its calls retry refused ones. Each policy reads the calls in
// its own way. The fit believes the policy under which what followed all refusals is likeliest.
import { isRefused, type Jobs, jobsGuessed, jobsWithin, type RetrySample } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import { expectedSpan, type FittedRetry, type PlainRetry } from "./policies.ts";
import type { RecordedCaller } from "./recording.ts";
import { costBy, guessRetry, marginOf, type RetryGuess, strayCost, type UsualPauses } from "./retries.ts";
import { lateShare, workersWaitsMs } from "./returns.ts";
import type { FittedSpan } from "./spread.ts";

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
/** Policies that are tried, too, if calls overlap, as those of several workers do: the call after a refusal is another's. */
const workersReadings: readonly FittedRetry[] = [
  ...[250, 1_000, 5_000].map(
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

/** Reads calls after refusals as retries: in turn, or by the waits of a likelier policy. */
export function triesOf(
  caller: RecordedCaller,
  limits: Limits,
  slackMs: number,
  usual: UsualPauses,
): { readonly jobs: Jobs; readonly guess: RetryGuess | null } {
  const inTurn = jobsGuessed(caller, limits, true);
  const guess = guessRetry(inTurn.retries, slackMs, usual);
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
