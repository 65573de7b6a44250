// Splits a recording for a backtest: the first part is fitted to, the second predicted. If the first part lacks weekends
// or weekdays, those of the second are not predicted: nothing could be learned of them.
import type { BacktestResult } from "./backtest-result.ts";
import { dayMs, isWeekend, weekdayOf } from "./days.ts";
import type { Recording } from "./recording.ts";

export type Split = Pick<BacktestResult, "splitAt" | "predicted">;
type Kind = Exclude<Split["predicted"], "all">;

export const usualShare = 0.7;
/** Time below which a part of a recording does not show a kind of day, ms. */
const leastMs = dayMs / 2;
/** Days below which a recording is too short for kinds of day to matter. */
const daysLeast = 2;

/** @param share first part's share of the time. Default: 0.7, or less if too few days of the rest could be predicted */
export function splitOf({ startedAtMs, endedAtMs }: Recording, share: number | undefined): Split {
  const wholeMs = endedAtMs - startedAtMs;
  const at = (splitAt: number): Split => {
    const [before, after] = [timeByKind(startedAtMs, splitAt), timeByKind(splitAt, endedAtMs)];
    const isPassedOver = (kind: Kind): boolean => after[kind] > 0 && before[kind] < leastMs;
    if (isPassedOver("weekend")) return { splitAt, predicted: "weekdays" };
    return { splitAt, predicted: isPassedOver("weekdays") ? "weekend" : "all" };
  };
  const usual = Math.round(startedAtMs + (share ?? usualShare) * wholeMs);
  if (wholeMs < daysLeast * dayMs) return { splitAt: usual, predicted: "all" };
  const splits = [at(usual)];
  if (share === undefined)
    for (
      let midnight = dayMs * Math.floor(usual / dayMs);
      midnight > startedAtMs + wholeMs / 2;
      midnight -= dayMs
    )
      splits.push(at(midnight));
  const isEnough = ({ splitAt, predicted }: Split): boolean =>
    predicted === "all" || timeByKind(splitAt, endedAtMs)[predicted] >= dayMs;
  return splits.find(isEnough) ?? at(usual);
}

/** Returns the time of each kind of day within a span, ms. */
function timeByKind(fromMs: number, toMs: number): Record<Kind, number> {
  const times = { weekdays: 0, weekend: 0 };
  for (let ms = fromMs; ms < toMs; ) {
    const next = Math.min(toMs, dayMs * (Math.floor(ms / dayMs) + 1));
    times[isWeekend(weekdayOf(ms)) ? "weekend" : "weekdays"] += next - ms;
    ms = next;
  }
  return times;
}

/** Tells whether calls sent at an instant are predicted. */
export const isPredicted = ({ predicted }: Split, atMs: number): boolean =>
  predicted === "all" || (predicted === "weekend") === isWeekend(weekdayOf(atMs));
