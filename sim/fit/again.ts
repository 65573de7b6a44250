// Calls that come back as a policy says, among others that come evenly. The rate of calls is the rate of the others plus
// the density of retries of earlier calls. A call may be of any attempt: each number has its probability.
import { ln } from "../../src/scenario/elementary.ts";
import { type PlainRetry, plainSpan } from "./policies.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { FittedSpan } from "./spread.ts";
import { sumOf } from "./statistics.ts";

/** Calls of one kind, from the first of them to an instant, ms since the epoch. */
export interface Stretch {
  readonly untilMs: number;
  readonly calls: readonly RecordedCall[];
  /** Time after a call within which others are of its volley, ms, and count as one with it; 0: each is by itself. */
  readonly volleyMs?: number;
}

/** Effect of a policy on calls. */
export interface ComingBack {
  /** Gain in ln(likelihood) over calls that all come evenly. */
  readonly gain: number;
  /** Share of the calls that came back, and the number that all would have been before the stretches end. */
  readonly share: number;
  readonly expected: number;
}

/** Number of attempts that are told apart if waits grow. */
const attemptsMost = 8;
/** Number of times that shares are estimated anew, and the first share. */
const rounds = 10;
const firstShare = 1;

/** Estimates how many calls come back as a policy says, by expectation and maximization. */
export function comingBack(retry: PlainRetry, all: readonly Stretch[], slackMs: number): ComingBack {
  const spans = Array.from(
    { length: retry.kind === "fixed" ? 1 : attemptsMost },
    (_, attempt): FittedSpan => {
      const { least, most } = plainSpan(retry, attempt);
      return { least: least - slackMs, most: most + slackMs };
    },
  );
  const stretches = all.filter(({ calls, untilMs }) => untilMs > (calls[0]?.atMs ?? untilMs));
  const counts = stretches.map(
    (stretch) => stretch.calls.filter((_, place) => !isOfVolley(stretch, place)).length - 1,
  );
  const fresh = counts.map((count) => count / 2);
  let [gain, share, expected] = [0, firstShare, 0];
  for (let round = 0; round < rounds; round++) {
    let again = 0;
    [gain, expected] = [0, 0];
    for (const [place, stretch] of stretches.entries()) {
      const { calls, untilMs } = stretch;
      const lengthMs = untilMs - (calls[0] as RecordedCall).atMs;
      const others = counts[place] as number;
      const freshRate = Math.max(1e-12, (fresh[place] as number) / lengthMs);
      const { attempts, rates, anew, back } = attemptsIn(stretch, spans, share, freshRate);
      // If all come evenly, their likeliest rate is their number by the stretch's length.
      gain += sumOf(rates.map((rate) => ln((rate * lengthMs) / others) + 1)) - freshRate * lengthMs;
      again += back;
      fresh[place] = anew;
      for (const [index, { endMs }] of calls.entries())
        for (const [attempt, { least, most }] of spans.entries()) {
          const inTime = Math.min(1, Math.max(0, (untilMs - endMs - least) / (most - least + 1)));
          expected += inTime * (attempts[index]?.[attempt] as number);
        }
    }
    gain -= share * expected;
    share = expected === 0 ? 0 : Math.min(1, again / expected);
  }
  return { gain, share, expected };
}

/** Tells whether a call came at once with the call before it. */
const isOfVolley = ({ calls, volleyMs = 0 }: Stretch, place: number): boolean =>
  place > 0 && (calls[place] as RecordedCall).atMs - (calls[place - 1] as RecordedCall).atMs < volleyMs;

/**
 * Returns the probabilities of each call's attempts, the rates at calls after the first, the number of fresh ones, and
 * that of those that came back. Only this last counts all calls of a volley.
 */
function attemptsIn(stretch: Stretch, spans: readonly FittedSpan[], share: number, freshRate: number) {
  const { calls } = stretch;
  const attempts: Float64Array[] = [];
  const rates: number[] = [];
  let [anew, back, last] = [0, 0, 0];
  for (const [index, { atMs }] of calls.entries()) {
    if (isOfVolley(stretch, index)) {
      attempts.push(attempts[index - 1] as Float64Array);
      back += last;
      continue;
    }
    // The last place is that of all later attempts.
    const own = new Float64Array(spans.length);
    attempts.push(own);
    let again = 0;
    for (let earlier = 0; earlier < index; earlier++) {
      const waitMs = atMs - (calls[earlier] as RecordedCall).endMs;
      for (const [attempt, { least, most }] of spans.entries()) {
        if (waitMs < least || waitMs > most) continue;
        const density = (share * (attempts[earlier]?.[attempt] as number)) / (most - least + 1);
        const next = Math.min(attempt + 1, spans.length - 1);
        own[next] = (own[next] as number) + density;
        again += density;
      }
    }
    const rate = freshRate + again;
    if (index === 0) own[0] = 1;
    else {
      own[0] = (own[0] as number) + freshRate;
      for (let attempt = 0; attempt < own.length; attempt++) own[attempt] = (own[attempt] as number) / rate;
      rates.push(rate);
      anew += freshRate / rate;
      last = again / rate;
      back += last;
    }
  }
  return { attempts, rates, anew, back };
}
