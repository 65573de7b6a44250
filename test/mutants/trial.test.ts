// A file that loops is told from one that is slow, and what a file costs from what its first run loads.
import { expect, test } from "vitest";
import { loopMsOf, Trials } from "./trial.ts";

test("a file's first run is no measure of the next; a slow one is left out once it is known to be", async () => {
  const times: Record<string, number[]> = {
    loading: [90_000, 1_000, 1_000, 1_000],
    slow: [9_000, 8_000],
    other: [10, 10],
  };
  const asked: string[] = [];
  const run = async ({ test: file }: { test: string }) => {
    asked.push(file);
    return { failed: null, hung: false, ms: times[file]?.shift() ?? 0 };
  };
  const trials = new Trials(
    { files: new Map(), with: (_path: string, _text: string, work: () => unknown) => work() } as never,
    { run } as never,
    { of: () => Object.keys(times), dependentsOf: () => [], isApart: () => false } as never,
    { passing: new Map(), msOf: () => undefined, runnersOf: async () => () => true } as never,
    5_000,
  );
  const mutation = { path: "a.ts", start: 0, end: 0, becomes: "" } as never;
  const askedFor = async () => {
    const { left } = await trials.judge(mutation);
    return [left, ...asked.splice(0)];
  };
  expect(await askedFor()).toEqual([2, "loading"]);
  expect(await askedFor()).toEqual([1, "loading", "slow"]);
  expect(await askedFor()).toEqual([1, "loading", "slow"]);
  expect(await askedFor()).toEqual([1, "loading", "other"]);
});

test("a file loops after ten times its own time: at least 30 s; at most 2 min, or three times its own", () => {
  const limits = [0, 2_999, 3_000, 3_001, 11_999, 12_001, 40_000, 40_001, 94_000].map(loopMsOf);
  expect(limits).toEqual([30_000, 30_000, 30_000, 30_010, 119_990, 120_000, 120_000, 120_003, 282_000]);
});
