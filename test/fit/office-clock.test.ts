// Callers who keep to a clock, but not all the time: many ticks that are missed in a row, again and again, are none.
import { expect, test } from "vitest";
import { dayMs, hourMs, isWeekend, minuteMs, weekdayOf } from "../../sim/fit/days.ts";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedBehaviour } from "../../sim/fit/model.ts";
import { loggedCalls } from "./recordings.ts";

/** A Monday: the epoch began on a Thursday. */
const monday = 4 * dayMs;

/** Returns the ticks of a week. */
const weekOf = (everyMs: number): number[] =>
  Array.from({ length: Math.floor((7 * dayMs) / everyMs) }, (_, tick) => monday + tick * everyMs);

/** Fits a caller who calls at these ticks, or up to 0.2 s later. */
function fitted(ticks: readonly number[]): FittedBehaviour | undefined {
  const lateMs = (at: number): number => (Math.imul(at + 1, 2_654_435_761) >>> 8) % 200;
  const calls = ticks.map((ms, at) => [ms + lateMs(at), 80, 200] as const);
  return fitScenario(loggedCalls(calls)).populations[0]?.behaviour;
}

const hourOf = (ms: number): number => (ms % dayMs) / hourMs;
const inOffice = (ms: number): boolean => !isWeekend(weekdayOf(ms)) && hourOf(ms) >= 9 && hourOf(ms) < 17;

test.for([30_000, minuteMs, 5 * minuteMs])(
  "a caller who polls in office hours alone, every %i ms, comes at their begin",
  (everyMs) => {
    expect(fitted(weekOf(everyMs).filter(inOffice))).toMatchObject({ kind: "timetable", at: "0 9 * * *" });
  },
);

test.for([0, 12_345])(
  "a caller who polls day and night is a poller, though a night is missing, and its clock is %i ms late then",
  (laterMs) => {
    const [fromMs, untilMs] = [monday + 2 * dayMs, monday + 2.5 * dayMs];
    const before = weekOf(30_000).filter((ms) => ms < fromMs);
    const after = weekOf(30_000).filter((ms) => ms >= untilMs);
    expect(fitted([...before, ...after.map((ms) => ms + laterMs)])).toEqual({
      kind: "poller",
      everyMs: 30_000,
    });
  },
);
