// A file that loops is told from one that is slow.
import { expect, test } from "vitest";
import { loopMsOf } from "./trial.ts";

test("a file loops after ten times its own time: at least 30 s; at most 2 min, or three times its own", () => {
  const limits = [0, 2_999, 3_000, 3_001, 11_999, 12_001, 40_000, 40_001, 94_000].map(loopMsOf);
  expect(limits).toEqual([30_000, 30_000, 30_000, 30_010, 119_990, 120_000, 120_000, 120_003, 282_000]);
});
