// The times when the clients of an open population come and go in a real run by either driver.
import { type ArrivalSchedule, isByTheClock } from "../scenario/arrivals.ts";
import type { Stay } from "../scenario/fleet.ts";
import { possibleStays, type Scenario } from "../scenario/scenario.ts";

/** Yields an open population's possible stays, ms since the epoch if it follows the clock, else since the start. */
export function* plannedStays(scenario: Scenario, place: number): Generator<Stay, void> {
  const arrivals = scenario.populations[place]?.arrivals ?? null;
  const sinceMs = arrivals !== null && isByTheClock(arrivals) ? scenario.startAtMs : 0;
  for (const { startMs, endMs } of possibleStays(scenario, place))
    yield { startMs: sinceMs + startMs, endMs: sinceMs + endMs };
}

/**
 * Returns a planned stay as ms since the epoch.
 * @returns `null` if the client never comes: it was due before the run began, or not before its end
 */
export function stayInRun(
  arrivals: ArrivalSchedule,
  { startMs, endMs }: Stay,
  runStartMs: number,
  runEndMs: number,
): Stay | null {
  const byTheClock = isByTheClock(arrivals);
  const sinceMs = byTheClock ? 0 : runStartMs;
  const stay = { startMs: sinceMs + startMs, endMs: Math.min(runEndMs, sinceMs + endMs) };
  return stay.startMs < runStartMs || stay.startMs >= stay.endMs ? null : stay;
}
