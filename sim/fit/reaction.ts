// A population's reaction to refusals: one retry policy for all its callers, and the evidence for it.

import { count, counted } from "../../src/rules/words.ts";
import { ABSENT } from "../../src/scenario/client.ts";
import { percent } from "./backtest-coverage.ts";
import { atOnceMs, failuresOf, isRefused, type RecordedJob } from "./jobs.ts";
import type { FittedRetry } from "./policies.ts";
import { type Profile, slackOf } from "./profile.ts";
import type { Recording } from "./recording.ts";
import { guessRetry, type RetryGuess, usualPauses } from "./retries.ts";
import { tellsNoRetry } from "./shut.ts";
import { mode, SortedSample } from "./statistics.ts";
import { spanText, timeText } from "./words.ts";

/** A retry policy, and the evidence for it. */
export interface RetryFit {
  readonly retry: FittedRetry;
  readonly guess: RetryGuess | null;
  readonly why: string;
}

export function retryOf(profiles: readonly Profile[], recording: Recording, refused: number): RetryFit {
  const without = (kind: "none" | "unknown", why: string): RetryFit => ({
    retry: { kind },
    guess: null,
    why,
  });
  if (refused === 0)
    return without("unknown", "none was refused: what they would do is unknown, none is assumed");
  const shut = profiles.find(({ guess }) => guess?.whileShut)?.guess ?? null;
  if (shut !== null)
    return {
      retry: shut.retry,
      guess: shut,
      why: `${percent(shut.explained)} of the calls that were refused while a window was full came back ${whenText(shut.retry)}`,
    };
  const samples = profiles.flatMap(({ retries }) => retries);
  if (!recording.knowsAttempts && profiles.every(tellsNoRetry))
    return without(
      "unknown",
      `which calls were tried again after ${counted(refused, "refusal")} cannot be told from those that come anyway: none is assumed`,
    );
  const anyway = `what came after ${counted(refused, "refusal")} may have come anyway: none is taken to be tried again`;
  if (samples.length === 0) {
    if (!profiles.some(({ jobs }) => jobs.slice(0, -1).some(({ last }) => isRefused(last))))
      return without(
        "unknown",
        "nothing was seen after a refusal: what they do then is unknown, none is assumed",
      );
    const isTold = recording.knowsAttempts;
    return without("none", isTold ? `none of ${counted(refused, "refused call")} was tried again` : anyway);
  }
  const slackMs = slackOf(recording);
  const usual =
    recording.knowsAttempts || profiles.every(({ pace }) => pace.kind === "visits")
      ? null
      : usualPauses(profiles, slackMs);
  const guess = guessRetry(samples, slackMs, usual);
  if (guess === null) return without("unknown", "");
  if (guess.retry.kind === "none") return without("none", anyway);
  const hits = Math.round(guess.explained * samples.length);
  const alike = guess.alike.length === 0 ? "" : `; ${guess.alike.join(" or ")} would explain them as well`;
  const why = `${count(hits)} of ${counted(samples.length, "attempt")} after a refusal came ${whenText(guess.retry)}${alike}`;
  return { retry: guess.retry, guess, why };
}

function whenText(retry: FittedRetry): string {
  switch (retry.kind) {
    case "waitReset":
      return retry.jitter.most === 0 ? "at the reset" : `${spanText(retry.jitter)} after the reset`;
    case "retryAfter":
      return retry.jitter.most === 0
        ? "when Retry-After said"
        : `${spanText(retry.jitter)} after what Retry-After said`;
    case "fixed":
      return retry.wait.most === 0 ? "at once" : `${spanText(retry.wait)} after it`;
    case "exponential":
      return `after waits that grow from ${timeText(retry.first)}, at most ${timeText(retry.most)}`;
    default:
      return "where nothing says";
  }
}

/** Least number of failures that can show what follows them. */
const failuresTell = 5;

/** Returns the median wait until a failed call is sent again, ms; `null` if most are not, or failures are few. */
export function failedWaitOf(profiles: readonly Profile[]): number | null {
  const waits: number[] = [];
  let failures = 0;
  for (const { caller } of profiles) {
    const isFailed = failuresOf(caller);
    for (const [index, call] of caller.calls.entries()) {
      const { endMs, kind } = call;
      const next = caller.calls[index + 1];
      if (!isFailed(call) || next === undefined) continue;
      failures += 1;
      const waitMs = next.atMs - endMs;
      const again = next.attempt > 0 || (next.attempt === ABSENT && waitMs <= atOnceMs);
      if (again && waitMs >= 0 && next.kind.key === kind.key) waits.push(waitMs);
    }
  }
  return failures < failuresTell || waits.length < failures / 2
    ? null
    : Math.round(new SortedSample(waits).median);
}

/**
 * Returns the most attempts of a call; `null` unless four in five of the calls that were given up, or had more attempts,
 * were given up there. Another call may come just when a retry would: then some seem to have more.
 */
export function attemptsOf(profiles: readonly Profile[]): number | null {
  const gaveUp = profiles.flatMap(({ jobs }) => {
    const lastStartMs = (jobs.at(-1) as RecordedJob).startMs;
    // Later calls of this caller show that it had given the job up.
    return jobs.filter(({ last, endMs }) => isRefused(last) && endMs <= lastStartMs);
  });
  const { value: most } = mode(gaveUp.map(({ attempts }) => attempts));
  const there = gaveUp.filter(({ attempts }) => attempts === most).length;
  const earlier = gaveUp.filter(({ attempts }) => attempts < most).length;
  const later = profiles.flatMap(({ jobs }) => jobs.filter(({ attempts }) => attempts > most)).length;
  return most > 1 && there > 1 && there >= 4 * (earlier + later) ? most : null;
}
