// The clock that a caller's calls keep to: ticks of one period, of which some are missed.
import { hourMs } from "./days.ts";
import type { Spell } from "./runs.ts";
import { SortedSample } from "./statistics.ts";

/** A clock. `offMs`: distance from its ticks that nine in ten starts do not exceed. */
export interface Ticks {
  readonly kind: "ticks";
  readonly everyMs: number;
  readonly offMs: number;
}

/** Least number of runs that can show a clock. */
const fewRuns = 4;
/** Number of periods above which a gap of over an hour is an absence; most of a caller's time that absences may take. */
const absencePeriods = 10;
const awayMost = 0.2;

/** Returns the clock that runs keep to; `null` if they keep to none. */
export const clockOf = (runs: readonly Spell[], slackMs: number): Ticks | null =>
  runs.length < fewRuns ? null : ticksOf(startsOf(runs), 1, slackMs);

/**
 * Returns the clock of regular starts; `null` if there is none. Starts that lie `lag` apart must be about a whole number
 * of periods apart. Starts, not gaps, are compared with the clock: pauses of nearly equal length have similar gaps, but
 * drift away from any clock.
 */
function ticksOf(starts: Float64Array, lag: number, slackMs: number): Ticks | null {
  const gaps = starts.slice(lag);
  for (let place = 0; place < gaps.length; place++)
    gaps[place] = (gaps[place] as number) - (starts[place] as number);
  const rough = new SortedSample(gaps).median;
  if (rough <= 2 * slackMs) return null;
  // Missed ticks make a gap of several periods. A call soon after another counts as no tick: it may retry a failed call.
  const periodsIn = (gapMs: number, everyMs: number): number =>
    gapMs < everyMs / 4 ? 0 : Math.max(1, Math.round(gapMs / everyMs));
  const isAbsence = (gapMs: number): boolean => gapMs > hourMs && gapMs > absencePeriods * rough;
  let [single, ticks, wholeMs, awayMs] = [0, 0, 0, 0];
  for (const gapMs of gaps) {
    const periods = periodsIn(gapMs, rough);
    if (periods === 1) single += 1;
    if (isAbsence(gapMs)) awayMs += gapMs;
    else {
      ticks += periods;
      wholeMs += gapMs;
    }
  }
  // A caller that misses more than two ticks of three, or many in a row again and again, is away in between.
  if (single < 0.6 * gaps.length || ticks > 3 * gaps.length || awayMs > awayMost * (awayMs + wholeMs))
    return null;
  const everyMs = wholeMs / ticks;
  const farMs = Math.max(2 * slackMs, 0.05 * everyMs);
  const phases = new Float64Array(starts.length);
  let torn = 0;
  for (let place = 0; place < gaps.length; place++) {
    const gapMs = gaps[place] as number;
    const phase = phases[place] as number;
    const next = phase + gapMs - periodsIn(gapMs, everyMs) * everyMs;
    const offMs = next - phase;
    // After an absence, the clock may have begun anew.
    const isAnew = isAbsence(gapMs) && Math.abs(offMs) > farMs;
    phases[place + lag] = isAnew ? phase : next;
    if (isAnew || Math.abs(offMs) <= 2 * farMs + 1) continue;
    // Such a gap begins or ends at a start far off its tick. One start in ten may be; each spoils two gaps.
    torn += 1;
    if (torn > 0.2 * starts.length) return null;
  }
  const middles = Array.from({ length: lag }, (_, first) => everyNth(phases, lag, first).median);
  for (let place = 0; place < phases.length; place++)
    phases[place] = Math.abs((phases[place] as number) - (middles[place % lag] as number));
  const off = new SortedSample(phases);
  const offMs = off.quantile(0.9);
  return offMs <= farMs ? { kind: "ticks", everyMs, offMs } : null;
}

/** Returns the values at every so many places, from a place on. */
function everyNth(values: Float64Array, step: number, first: number): SortedSample {
  const some = new Float64Array(Math.ceil((values.length - first) / step));
  for (let place = 0; place < some.length; place++) some[place] = values[first + place * step] as number;
  return new SortedSample(some);
}

const startsOf = (runs: readonly Spell[]): Float64Array =>
  new Float64Array(runs.map(({ startMs }) => startMs));

/** Finds several clients of one period under one name: every n-th call keeps to the clock, though adjacent calls do not. */
export function clockOfSeveral(
  runs: readonly Spell[],
  slackMs: number,
): { pace: Ticks; clients: number } | null {
  const starts = startsOf(runs);
  for (let clients = 1; clients <= 12; clients++) {
    if (runs.length < 6 * clients) return null;
    const pace = ticksOf(starts, clients, slackMs);
    // Among many lags one may fit by chance, but not this well.
    if (pace === null || slackMs > 0.02 * pace.everyMs) continue;
    if (
      pace.offMs <= slackMs + 0.002 * pace.everyMs &&
      (clients === 1 || areApart(runs, clients, pace.everyMs))
    )
      return { pace, clients };
  }
  return null;
}

/** Tells whether clients of one period begin apart. Clients that begin together are one client that makes runs. */
function areApart(runs: readonly Spell[], clients: number, everyMs: number): boolean {
  const gaps = runs.slice(1, clients).map(({ startMs }, index) => startMs - (runs[index] as Spell).startMs);
  return new SortedSample(gaps).median >= (0.1 * everyMs) / clients;
}
