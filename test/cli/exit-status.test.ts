// Exit statuses of the demo and of loads.
import { expect, test } from "vitest";
import { exitOf as exitOfDemo } from "../../src/cli/demo.ts";
import { exitOf as exitOfLoad } from "../../src/cli/load.ts";
import type { Verdict } from "../../src/verify/verdict.ts";

const verdict = (state: Verdict["verdict"], notJudged: readonly unknown[] = []): Verdict =>
  ({ verdict: state, notJudged }) as never;

test.each([
  [true, verdict("violated"), 0],
  [true, verdict("ok"), 1],
  [true, verdict("ok", [{}]), 0],
  [true, { ...verdict("violated"), notJudged: undefined } as never, 0],
  [false, verdict("violated"), 1],
  [false, verdict("ok", [{}]), 1],
])("the demo: held %s, %j", (isHeld, broken, status) => {
  expect(exitOfDemo(isHeld, broken)).toBe(status);
});

test.each([
  [false, null, true, 0],
  [false, null, false, 1],
  [false, "gone", true, 3],
  [false, "gone", false, 3],
  [true, null, true, 130],
  [true, "gone", false, 130],
])("a load: interrupted %s, failure %s, held %s", (interrupted, failure, isHeld, status) => {
  expect(exitOfLoad({ interrupted, failure }, isHeld)).toBe(status);
});
