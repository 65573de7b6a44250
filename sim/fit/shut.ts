// Retries of callers whose calls overlap, as those of many people who share a token. Nobody sees which call retries
// which. But while a window is full, it refuses every call: what comes then is either wanted for the first time, which
// happens evenly, or comes back some time after a refusal. The likeliest policy for these calls is looked for.
import { comingBack, type Stretch } from "./again.ts";
import { poissonTail } from "./crowds.ts";
import { isRefused, type Jobs, jobsAtResetsOf, jobsWithin, type RecordedJob } from "./jobs.ts";
import type { Limits } from "./limits.ts";
import { type PlainRetry, plainSpan } from "./policies.ts";
import { described, type Profile, slackOf } from "./profile.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { RecordedCaller, Recording } from "./recording.ts";
import { guessRetry, type RetryGuess } from "./retries.ts";
import { flatOf } from "./statistics.ts";
import { firstReadings, spansOf } from "./tries.ts";

/** Refused calls while a window was full; and what came before, in a time as long. */
interface Shut {
  readonly shut: Stretch;
  readonly before: Stretch;
}

/** Most calls of a stretch, and of all, that are read; more would hardly choose another policy. */
const callsMost = 50;
const allMost = 1_000;
/** Least gain in ln(likelihood) over no retries, and least number of refusals whose retry would be seen. */
const gainLeast = 20;
const seenLeast = 10;
/** Least share of the refused calls that come back, and least part of it above the share that comes anyway. */
const againLeast = 0.6;
const moreLeast = 0.5;

/** Waits from one of these to another are tried, ms. Calls that come sooner may be of one burst. */
const endsMs = [500, 1_000, 2_000, 3_000, 5_000, 8_000, 10_000, 15_000, 20_000, 30_000];
const soonestMs = 500;
/** Longest time between two calls of a volley, ms. */
const volleyMost = 100;
const readings: readonly PlainRetry[] = [
  ...firstReadings.filter((retry) => plainSpan(retry, 0).least >= soonestMs),
  // People lose patience faster than programs.
  ...[2_000, 3_000, 5_000, 10_000].map(
    (first) => ({ kind: "exponential", first, factor: 6, most: 60_000, jitter: "half" }) as const,
  ),
  ...endsMs.flatMap((least, place) =>
    endsMs.slice(place).map((most): PlainRetry => ({ kind: "fixed", wait: { least, most } })),
  ),
];

/** Tells whether a caller's retries cannot be told from calls that come anyway. */
export const tellsNoRetry = ({ pace, retries }: Profile): boolean =>
  (pace.kind === "chance" || pace.kind === "visits") && retries.length === 0;

/** Tells whether a caller's refused volleys seem not to be tried again: some people make several calls at once. */
const isUntoldVolley = ({ pace, retries }: Profile): boolean =>
  pace.kind === "volleys" && retries.length === 0;

/** Finds the retries of callers of whom no other way told any, by all of one organization together. */
export function toldWhileShut(
  profiles: readonly Profile[],
  recording: Recording,
  limits: Limits,
): readonly Profile[] {
  if (recording.knowsAttempts) return profiles;
  const slackMs = slackOf(recording);
  const untold = profiles.filter(
    (profile) => profile.refused > 0 && (tellsNoRetry(profile) || isUntoldVolley(profile)),
  );
  const organizations = new Set(untold.map(({ caller }) => caller.organization));
  const told = [...organizations].flatMap((organization): Profile[] => {
    const own = untold.filter(({ caller }) => caller.organization === organization);
    const shut = own.flatMap((profile) => shutIn(profile, limits));
    const guess = guessWhileShut(shut, slackMs);
    if (guess === null) return toldAtResets(own, limits, slackMs);
    const spanAfter = spansOf(guess.retry, slackMs);
    const found = own.map(({ caller }) => jobsWithin(caller, limits, spanAfter));
    const attempts = givenUpAt(flatOf(found.map(({ jobs }) => jobs)));
    return own.map((profile, place) =>
      withTries(profile, found[place] as Jobs, { ...guess, attempts }, slackMs),
    );
  });
  const known = new Map(told.map((profile) => [profile.caller, profile]));
  return profiles.map((profile) => known.get(profile.caller) ?? profile);
}

/** Most time from a reset to its retries, ms: if they come later, some come when nobody looks for them. */
const lateMost = 4_000;

/** Finds the retries of callers who wait for resets; none if hardly more calls come then than at other times. */
function toldAtResets(own: readonly Profile[], limits: Limits, slackMs: number): Profile[] {
  const found = jobsAtResetsOf(
    own.map(({ caller }) => caller),
    limits,
  );
  const guess = guessRetry(flatOf((found ?? []).map(({ retries }) => retries)), slackMs, null);
  if (found === null || guess?.retry.kind !== "waitReset" || guess.retry.jitter.most > lateMost) return [];
  return own.map((profile, place) => withTries(profile, found[place] as Jobs, guess, slackMs));
}

function withTries(profile: Profile, jobs: Jobs, guess: RetryGuess, slackMs: number): Profile {
  return profile.pace.kind === "visits"
    ? { ...profile, ...jobs, runs: jobs.jobs, guess }
    : described(profile.caller, jobs, guess, slackMs);
}

/** Least share of the calls refused so many times that are given up then, and how rarely chance makes so many. */
const givenUpLeast = 0.1;
const rarely = 1e-4;
/** Most attempts after which giving up is looked for. */
const givenUpMost = 30;

/**
 * Returns the number of attempts after which callers give up; `null` if none shows. Other calls come when a retry would, so
 * many seem to go on; but up to that number hardly a call was given up.
 */
function givenUpAt(jobs: readonly RecordedJob[]): number | null {
  const most = jobs.reduce((most, { attempts }) => Math.max(most, attempts), 0);
  const failed = jobs.filter(({ refused, attempts }) => refused || attempts > 1);
  const countAt = (attempts: number) => {
    const refused = failed.filter(
      (job) => job.attempts > attempts || (job.attempts === attempts && job.refused),
    );
    return { refused: refused.length, gaveUp: refused.filter((job) => job.attempts === attempts).length };
  };
  // A first refusal may be that of a retry whose earlier attempts were not found.
  let [refusals, lost] = [0, 1];
  for (let attempts = 2; attempts <= Math.min(most, givenUpMost); attempts++) {
    const { refused, gaveUp } = countAt(attempts);
    const usual = lost / Math.max(1, refusals);
    if (refusals > 0 && gaveUp >= givenUpLeast * refused && poissonTail(usual * refused, gaveUp) < rarely)
      return attempts;
    refusals += refused;
    lost += gaveUp;
  }
  return null;
}

/** Returns the times in which a caller's window was full: from a refusal to the reset, or to a call that got through. */
function shutIn({ caller, pace }: Profile, limits: Limits): Shut[] {
  const volleyMs = pace.kind === "volleys" ? volleyMost : 0;
  const found: Shut[] = [];
  for (const calls of byKindOf(caller))
    for (let place = 0; place < calls.length; ) {
      const from = place++;
      const first = calls[from] as RecordedCall;
      const resetMs = isRefused(first) ? resetAfter(caller, first, limits) : null;
      if (resetMs === null) continue;
      while (place < calls.length && isShut(calls[place] as RecordedCall, resetMs)) place += 1;
      const to = Math.min(place, from + callsMost);
      const untilMs = Math.min(resetMs, calls[to]?.atMs ?? resetMs);
      let start = from;
      while (from - start < callsMost && isWithin(calls[start - 1], 2 * first.atMs - untilMs)) start -= 1;
      found.push({
        shut: { untilMs, calls: calls.slice(from, to), volleyMs },
        before: { untilMs: first.atMs, calls: calls.slice(start, from), volleyMs },
      });
    }
  return found;
}

const isWithin = (call: RecordedCall | undefined, fromMs: number): boolean =>
  call !== undefined && call.atMs >= fromMs;

function byKindOf({ calls }: RecordedCaller): RecordedCall[][] {
  const byKind = new Map<string, RecordedCall[]>();
  for (const call of calls) {
    const own = byKind.get(call.kind.key);
    if (own === undefined) byKind.set(call.kind.key, [call]);
    else own.push(call);
  }
  return [...byKind.values()];
}

const isShut = (call: RecordedCall, resetMs: number): boolean => isRefused(call) && call.atMs < resetMs;

/** Returns when the earliest window of a refused call ends, ms since the epoch; `null` if unknown. */
function resetAfter(
  caller: RecordedCaller,
  { atMs, endMs, said, kind }: RecordedCall,
  limits: Limits,
): number | null {
  const seconds = (atMs + endMs) / 2_000;
  const grid = limits.resetsAt(caller, kind.operation, seconds);
  const resets = [said?.reset ?? grid.reset, said?.userReset ?? grid.userReset].filter((reset) => reset > 0);
  return resets.length === 0 ? null : 1_000 * Math.floor(seconds + Math.min(...resets));
}

/** Returns the policy by which refused calls came back; `null` if what came may as well be fresh, or most did not. */
function guessWhileShut(found: readonly Shut[], slackMs: number): RetryGuess | null {
  let calls = 0;
  const read = found.filter(({ shut }) => {
    calls += shut.calls.length;
    return calls <= allMost;
  });
  const seenBy = (retry: PlainRetry, part: keyof Shut) =>
    comingBack(
      retry,
      read.map((one) => one[part]),
      slackMs,
    );
  const guesses = readings.map((retry) => ({ retry, ...seenBy(retry, "shut") }));
  const { retry, gain, share, expected } = guesses.reduce((best, other) =>
    other.gain > best.gain ? other : best,
  );
  if (gain < gainLeast || expected < seenLeast || share < againLeast) return null;
  const anyway = seenBy(retry, "before").share;
  if (anyway >= againLeast || share - anyway < moreLeast * (1 - anyway)) return null;
  return { retry, score: -gain / expected, explained: share, alike: [], whileShut: true };
}
