// The progress of a check, in words.
import { expect, test } from "vitest";
import { sayCheckProgress, sayOverlapProgress } from "../../src/cli/check-progress.ts";
import type { CheckProgress } from "../../src/laws/check-options.ts";
import { recorded } from "../support/recorded.ts";

const second: CheckProgress = { law: "bounded", done: 1, laws: 3, run: 4, runs: 10, shrinking: false };

test("a check tells its law, and its run or that it makes a counterexample smaller", () => {
  const { terminal, progress } = recorded();
  sayCheckProgress(second, terminal);
  sayCheckProgress({ ...second, shrinking: true }, terminal);
  sayCheckProgress({ ...second, done: 0, run: 0 }, terminal);
  expect(progress).toEqual([
    "law 2 of 3: bounded, run 4 of 10",
    "law 2 of 3: bounded, making a counterexample smaller",
    "law 1 of 3: bounded, run 0 of 10",
  ]);
});

test("a check of overlapping calls tells the same of its runs", () => {
  const { terminal, progress } = recorded();
  for (const shrinking of [false, true]) sayOverlapProgress({ run: 7, runs: 9, shrinking }, terminal);
  expect(progress).toEqual([
    "overlapping calls: run 7 of 9",
    "overlapping calls: making a counterexample smaller",
  ]);
});
