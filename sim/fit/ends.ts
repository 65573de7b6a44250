// The end of sessions: after a time, or after a number of calls.
import { ln } from "../../src/scenario/elementary.ts";
import type { Sessions, WorkSession } from "./sessions.ts";
import { flatOf, SortedSample, sumOf } from "./statistics.ts";

/** Number of calls, or of usual gaps, below which a session shows neither its length nor its pace. */
const longSession = 5;
/** Number of long sessions below which they do not show what ends them. */
const fewSessions = 8;
/** Greatest deviation of a poll's pauses, as a share of their mean. */
const evenPauses = 0.35;
/** Logarithm of the odds above which the last waits of sessions tell what ends them: a hundred to one. */
const surely = ln(100);

/**
 * Tells whether sessions end after a time, as polls do. Others end after a number of calls, as lists do that are worked
 * off. A time ends within a long wait more often than within a short one. Refusals and different paces stretch
 * sessions, too. So lengths and sizes spread differently, in logarithms, and the one that ends the sessions spreads less.
 * @param otherwise answer if chance explains both. Default: with enough sessions, whether pauses are even
 */
export function endsByTime({ sessions, pausesMs, gapsMs }: Sessions, otherwise?: boolean): boolean {
  const long = sessions.filter(({ jobs }) => jobs >= longSession);
  if (long.length < fewSessions) return otherwise ?? false;
  const [pauses, gaps] = [new SortedSample(pausesMs), new SortedSample(gapsMs)];
  const odds = sumOf(
    long
      .filter(({ jobs, spells }) => jobs === spells)
      .map(({ lastMs, endMs }) => ln((endMs - lastMs + pauses.mean + 1) / (gaps.mean + 1))),
  );
  if (Math.abs(odds) > surely) return odds > 0;
  const centred = (values: readonly number[]): readonly number[] => {
    const { mean } = new SortedSample(values);
    return values.map((value) => value - mean);
  };
  const sizes = centred(long.map(({ jobs }) => ln(jobs)));
  const times = centred(long.map(({ startMs, lastMs }) => ln(Math.max(1, lastMs - startMs))));
  const apart = new SortedSample(sizes.map((size, index) => size * size - (times[index] as number) ** 2));
  const doubt = apart.deviation / Math.sqrt(apart.count);
  if (Math.abs(apart.mean) > 2 * doubt) return apart.mean > 0;
  return otherwise ?? pauses.deviation < evenPauses * pauses.mean;
}

/** Number of callers below which they do not show what ends their sessions. */
const fewCallers = 5;
/** Variance of logarithms that callers' sessions have at least. */
const leastVariance = 1e-4;

/** Logarithms of a session's number of calls, as the time that they usually take, and of its length; ms. */
interface Logs {
  readonly size: number;
  readonly length: number;
}

/**
 * Tells whether sessions surely end after a time, by how alike callers are. Their paces differ: if a time ends their
 * sessions, their numbers of calls differ, too, but not their lengths.
 */
export function surelyEndByTime(cut: readonly Sessions[]): boolean {
  const gaps = flatOf(cut.map(({ gapsMs }) => gapsMs));
  const sumMs = sumOf(gaps);
  const [gapMs, endMs] = [sumMs / gaps.length, sumOf(gaps.map((ms) => ms * ms)) / sumMs];
  // A session ends within a gap, and a gap that holds an instant is longer than others: `endMs` on the average.
  const logsOf = ({ spells, startMs, lastMs }: WorkSession): Logs => ({
    size: ln(spells * gapMs),
    length: ln(lastMs - startMs + endMs / 2),
  });
  const callers = cut
    .map(({ sessions }) =>
      sessions.map(logsOf).filter(({ size, length }) => size + length >= 2 * ln(longSession * endMs)),
    )
    .filter((logs) => logs.length > 0);
  const variance = (which: keyof Logs): number => {
    const means = callers.map((logs) => new SortedSample(logs.map((each) => each[which])).mean);
    return leastVariance + new SortedSample(means).deviation ** 2;
  };
  const odds = (callers.length / 2) * ln(variance("size") / variance("length"));
  return callers.length >= fewCallers && odds > surely;
}
