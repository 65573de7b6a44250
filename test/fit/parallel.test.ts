// Workers of one job that run side by side under one name.
import { describe, expect, test } from "vitest";
import { fitTo } from "../../sim/fit/fit.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { parallelWait } from "../../sim/fit/parallel.ts";
import { type Chance, chanceOf } from "../worlds/chance.ts";
import { dayMs, hourMs, minuteMs, mondayMs } from "../worlds/world.ts";
import { loggedCalls } from "./recordings.ts";

type Wait = (chance: Chance) => number;

const every: Wait = () => 30_000;

/**
 * Returns the calls of nightly jobs: workers begin within 20 s, and make so many calls each, a wait after each answer.
 * @param lateMinutes returns how much later a worker begins; `null`: not that night
 */
function nights(
  workers: number,
  wait: Wait,
  each = 60,
  lateMinutes: (worker: number, night: number) => number | null = () => 0,
) {
  const chance = chanceOf(5);
  const calls: (readonly [atMs: number, tookMs: number, status: number])[] = [];
  for (let night = 0; night < 7; night++)
    for (let worker = 0; worker < workers; worker++) {
      const late = lateMinutes(worker, night);
      if (late === null) continue;
      const startMs = mondayMs + night * dayMs + 2 * hourMs + late * minuteMs;
      let atMs = startMs + chance.between(0, worker === 0 ? 5_000 : 20_000);
      for (let call = 0; call < each; call++) {
        const tookMs = Math.round(chance.between(40, 160));
        calls.push([Math.floor(atMs), tookMs, 200]);
        atMs = Math.floor(atMs) + tookMs + wait(chance);
      }
    }
  return loggedCalls(calls.sort(([a], [b]) => a - b));
}

const isSeveral = (recording: ReturnType<typeof nights>): boolean =>
  parallelWait(recording.callers[0]?.calls.map((call) => new RecordedJob(call)) ?? [], 6) !== null;

/** Returns the timetables of the only population. */
const behavioursOf = (recording: ReturnType<typeof nights>) => {
  const [{ behaviour } = { behaviour: null }] = fitTo(recording).model.populations;
  const parts = behaviour?.kind === "together" ? behaviour.parts.map((part) => part.behaviour) : [behaviour];
  return parts.flatMap((part) => (part?.kind === "timetable" ? [part] : []));
};

function middleOf(spread: unknown): number {
  const { ms, median, least, most } = spread as Partial<Record<"ms" | "median" | "least" | "most", number>>;
  return ms ?? median ?? ((least as number) + (most as number)) / 2;
}

describe("calls a wait after answers to calls before the last", () => {
  test("are of several workers", () => {
    expect(isSeveral(nights(3, every))).toBe(true);
    expect(isSeveral(nights(1, every))).toBe(false);
  });

  test("show them by a wait that is always the same, and by enough calls", () => {
    expect(isSeveral(nights(3, (chance) => chance.exponential(30_000)))).toBe(false);
    expect(isSeveral(nights(3, every, 4))).toBe(false);
  });

  test("are of one worker where all come at once, again and again", () => {
    const volleys = nights(1, every).callers.flatMap(({ calls }) =>
      calls.flatMap(({ atMs }) => Array.from({ length: 3 }, () => [atMs, 50, 200] as const)),
    );
    expect(isSeveral(loggedCalls(volleys))).toBe(false);
  });

  test("are fitted as workers who each make their own calls and wait alike", () => {
    for (const number of [1, 3]) {
      const workers = behavioursOf(nights(number, every));
      expect(workers.map(({ at }) => at)).toEqual(new Array(number).fill("0 2 * * *"));
      for (const { calls, of } of workers) {
        expect(Math.round(middleOf(calls))).toBe(60);
        expect(Math.abs(middleOf(of.kind === "worker" ? of.think : null) - 30_000)).toBeLessThan(20);
      }
    }
  });

  test("begin later where helpers come later, and on weekdays alone where they are not needed at weekends", () => {
    const late = behavioursOf(
      nights(3, every, 60, (worker, night) => (worker < 2 ? 0 : night < 5 ? 10 : null)),
    );
    expect(late.map(({ at }) => at)).toEqual(["0 2 * * *", "0 2 * * *", "10 2 * * 1-5"]);
    // Of five days from a Monday on, nobody knows what weekends have.
    const short = behavioursOf(nights(3, every, 60, (_, night) => (night < 5 ? 0 : null)));
    expect(short.map(({ at }) => at)).toEqual(new Array(3).fill("0 2 * * *"));
  });
});
