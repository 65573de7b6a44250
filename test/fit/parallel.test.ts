// Workers of one job that run side by side under one name.
import { describe, expect, test } from "vitest";
import { fitTo } from "../../sim/fit/fit.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { areParallel } from "../../sim/fit/parallel.ts";
import { type Chance, chanceOf } from "../worlds/chance.ts";
import { dayMs, hourMs, mondayMs } from "../worlds/world.ts";
import { loggedCalls } from "./recordings.ts";

type Wait = (chance: Chance) => number;

const every: Wait = () => 30_000;

/** Returns the calls of nightly jobs: workers begin within 20 s, and make so many calls each, a wait after each answer. */
function nights(workers: number, wait: Wait, each = 60) {
  const chance = chanceOf(5);
  const calls: (readonly [atMs: number, tookMs: number, status: number])[] = [];
  for (let night = 0; night < 7; night++)
    for (let worker = 0; worker < workers; worker++) {
      let atMs = mondayMs + night * dayMs + 2 * hourMs + chance.between(0, worker === 0 ? 5_000 : 20_000);
      for (let call = 0; call < each; call++) {
        const tookMs = Math.round(chance.between(40, 160));
        calls.push([Math.floor(atMs), tookMs, 200]);
        atMs = Math.floor(atMs) + tookMs + wait(chance);
      }
    }
  return loggedCalls(calls.sort(([a], [b]) => a - b));
}

const isSeveral = (recording: ReturnType<typeof nights>): boolean =>
  areParallel(recording.callers[0]?.calls.map((call) => new RecordedJob(call)) ?? [], 6);

describe("calls a wait after answers to calls before the last", () => {
  test("are of several workers", () => {
    expect(isSeveral(nights(3, every))).toBe(true);
    expect(isSeveral(nights(1, every))).toBe(false);
  });

  test("show them by a wait that is always the same, and by enough calls", () => {
    expect(isSeveral(nights(3, (chance) => chance.exponential(30_000)))).toBe(false);
    expect(isSeveral(nights(3, every, 4))).toBe(false);
  });

  test("make the fit say that its scenario has one worker", () => {
    const doubts = (workers: number) => fitTo(nights(workers, every)).model.doubts.join(" ");
    expect(doubts(3)).toContain("Calls by the clock of ann are of several workers at once");
    expect(doubts(1)).not.toContain("several workers");
  });
});
