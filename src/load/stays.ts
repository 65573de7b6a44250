// When the clients of an open population come and go in a real run, whoever drives it.
import { type ArrivalSchedule, isByTheClock } from "../scenario/arrivals.ts";
import type { Stay } from "../scenario/fleet.ts";
import { possibleStays, type Scenario } from "../scenario/scenario.ts";

/** The stays that an open population may have; ms since the epoch where it goes by the clock, else from the run's start. */
export function* plannedStays(scenario: Scenario, place: number): Generator<Stay, void> {
  const arrivals = scenario.populations[place]?.arrivals ?? null;
  const sinceMs = arrivals !== null && isByTheClock(arrivals) ? scenario.startAtMs : 0;
  for (const { startMs, endMs } of possibleStays(scenario, place))
    yield { startMs: sinceMs + startMs, endMs: sinceMs + endMs };
}

/**
 * A planned stay as ms since the epoch.
 * @returns `null` where the client never comes: it was due before the run began, or not before its end
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
