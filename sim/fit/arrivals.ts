// Fits when clients come: all from the start on, evenly, by chance, or by the hour of the day.
import { dayMs, hourMs, minuteMs } from "./days.ts";
import type { FittedArrivals } from "./model.ts";
import type { Recording } from "./recording.ts";
import { spanOf } from "./spread.ts";
import { PearsonSum, roundestWithin, SortedSample } from "./statistics.ts";

/**
 * Fits arrivals of clients that are all there from the start: the time until all have begun.
 * @param startsMs instant at which each client was first seen, ms since the epoch
 * @param everyMs estimated time after which a client begins again, ms
 */
export function closedArrivals(
  startsMs: readonly number[],
  clients: number,
  everyMs: number,
  { startedAtMs, endedAtMs }: Recording,
  slackMs: number,
): FittedArrivals & { readonly kind: "closed" } {
  // A client that joined on a later day is there from the start of future days.
  const delays = startsMs.map((ms) => {
    const lateMs = ms - startedAtMs;
    return lateMs >= dayMs ? Math.min(lateMs, everyMs) : lateMs;
  });
  const { most, count } = new SortedSample(delays);
  if (most <= slackMs) return { kind: "closed", clients, startWithinMs: 0 };
  const whole = Math.max(1, endedAtMs - startedAtMs);
  // Few starts hardly show where the span ends, but a client that repeats itself begins within its first round.
  const likely = Math.max(most, Math.min(2 * most, everyMs));
  const startWithinMs = count >= 5 ? spanOf([0, ...delays], slackMs).most : roundestWithin(most, likely);
  return { kind: "closed", clients, startWithinMs: Math.round(Math.min(startWithinMs, whole)) };
}

/** @param timesMs instant at which each client came, ms since the epoch, in any order */
export function openArrivals(
  timesMs: readonly number[],
  { startedAtMs, endedAtMs, resolutionMs }: Recording,
): FittedArrivals & { readonly kind: "steady" | "hours" } {
  // A rate needs a span: a shorter recording counts as one second.
  const hours = Math.max(1000, endedAtMs - startedAtMs) / hourMs;
  const perHour = byHour(timesMs, startedAtMs, endedAtMs);
  if (perHour !== null) return { kind: "hours", perHour };
  const { sorted } = new SortedSample(timesMs);
  const gaps = new SortedSample(sorted.slice(1).map((ms, index) => ms - (sorted[index] as number)));
  // If clients come by chance, the deviation of their gaps equals the mean.
  const even = gaps.count >= 10 && gaps.mean > 10 * resolutionMs && gaps.deviation < 0.3 * gaps.mean;
  return { kind: "steady", perHour: timesMs.length / hours, even };
}

/** Returns arrivals per hour by hour of the day (UTC); `null` if chance explains the differences. */
function byHour(timesMs: readonly number[], startMs: number, endMs: number): readonly number[] | null {
  if (endMs - startMs < 6 * hourMs) return null;
  const seen = new Array<number>(24).fill(0);
  const watched = new Array<number>(24).fill(0);
  for (let fromMs = startMs; fromMs < endMs; ) {
    const toMs = Math.min(endMs, (Math.floor(fromMs / hourMs) + 1) * hourMs);
    const hour = hourOf(fromMs);
    (watched[hour] as number) += (toMs - fromMs) / hourMs;
    fromMs = toMs;
  }
  for (const ms of timesMs) if (ms < endMs) (seen[hourOf(ms)] as number) += 1;
  const rate = timesMs.length / ((endMs - startMs) / hourMs);
  const sum = new PearsonSum();
  for (const [hour, count] of seen.entries()) {
    const expected = rate * (watched[hour] as number);
    if (expected > 0) sum.add(count, expected);
  }
  if (sum.excess === 0) return null;
  return seen.map((count, hour) => (watched[hour] === 0 ? rate : count / (watched[hour] as number)));
}

const hourOf = (ms: number): number => Math.floor(ms / hourMs) % 24;

/** Longest time from a minute's beginning to the starts of its jobs, ms. */
const minuteSpreadMs = 15_000;

/** A line of cron in UTC, and the longest time from its minutes to the clients' starts. */
export interface Timetable {
  readonly schedule: string;
  readonly spreadMs: number;
}

/**
 * Finds starts by cron: on ticks of whole minutes that all callers share, each within seconds of a minute's beginning.
 * @param everyMs the callers' period
 * @param anySecond callers may begin together at any second of the minute
 * @returns `null` if the starts follow no wall clock
 */
export function timetableOf(
  starts: readonly (readonly number[])[],
  everyMs: number,
  anySecond = false,
): Timetable | null {
  const minutes = everyMs / minuteMs;
  const isUsual = minutes < 60 ? 60 % minutes === 0 : minutes === 60 || minutes === 24 * 60;
  if (!Number.isInteger(minutes) || !isUsual) return null;
  const all = starts.flat();
  const phases = all.map((ms) => (ms + minuteSpreadMs) % everyMs);
  const usual = new SortedSample(phases).median - minuteSpreadMs;
  const phase = Math.floor(usual / minuteMs + (anySecond ? 0 : 0.5)) * minuteMs;
  const late = new SortedSample(phases.map((ms) => ms - minuteSpreadMs - phase));
  if (!anySecond && (late.quantile(0.02) < -100 || late.quantile(0.98) > minuteSpreadMs)) return null;
  const minute = Math.round(phase / minuteMs) % 60;
  const hour = Math.floor(phase / hourMs);
  const schedule =
    minutes >= 24 * 60
      ? `${minute} ${hour} * * *`
      : minutes === 60
        ? `${minute} * * * *`
        : minute === 0
          ? `${minutes === 1 ? "*" : `*/${minutes}`} * * * *`
          : `${minute}/${minutes} * * * *`;
  const spreadMs = late.breadth <= 50 ? 0 : spanOf([0, ...late.sorted], 0).most;
  return { schedule, spreadMs };
}
