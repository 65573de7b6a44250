// Exit statuses of the demo, of loads, and of checks whose calls also overlap.
import { expect, test } from "vitest";
import { exitOf as exitOfCheck, wholeOf } from "../../src/cli/check.ts";
import { exitOf as exitOfDemo } from "../../src/cli/demo.ts";
import { exitOf as exitOfLoad } from "../../src/cli/load.ts";
import type { Verdict } from "../../src/verify/verdict.ts";

const verdict = (state: Verdict["verdict"], notJudged: readonly unknown[] = []): Verdict =>
  ({ verdict: state, notJudged }) as never;

test.each([
  [true, true, verdict("violated"), 0],
  [true, true, verdict("ok"), 1],
  [true, true, verdict("ok", [{}]), 0],
  [true, true, { ...verdict("violated"), notJudged: undefined } as never, 0],
  [false, true, verdict("violated"), 1],
  [true, false, verdict("violated"), 1],
  [false, false, verdict("ok", [{}]), 1],
])("the demo: its check passed %s, its load held %s, %j", (ok, held, broken, status) => {
  expect(exitOfDemo({ ok }, { held }, broken)).toBe(status);
});

test.each([
  [false, null, true, "ok", 0],
  [false, null, true, "unknown", 2],
  [false, null, false, "unknown", 1],
  [false, null, false, "ok", 1],
  [false, null, false, "violated", 1],
  [false, "gone", true, "ok", 3],
  [false, "gone", false, "violated", 3],
  [true, null, true, "unknown", 130],
  [true, "gone", false, "ok", 130],
] as const)(
  "a load: interrupted %s, failure %s, held %s, %s",
  (interrupted, failure, isHeld, state, status) => {
    expect(exitOfLoad({ interrupted, failure }, isHeld, state)).toBe(status);
  },
);

test.each([
  [true, "no-counterexample", false, 0],
  [true, "interrupted", false, 130],
  [true, "no-counterexample", true, 130],
  [true, "violated", false, 1],
  [true, "not-repeatable", false, 2],
  [false, "no-counterexample", false, 1],
])("a check: ok %s, overlapping calls %s, interrupted %s", (ok, outcome, interrupted, status) => {
  const laws = [{ outcome: ok ? "no-counterexample" : "violated" }];
  const overlapped = { outcome, ok: outcome === "no-counterexample" || outcome === "interrupted" };
  const whole = wholeOf({ ok, laws, interrupted } as never, overlapped as never);
  expect([whole.ok, whole.interrupted, exitOfCheck(whole)]).toEqual([
    status === 0 || status === 130,
    status === 130,
    status,
  ]);
});

test.each([
  [0, false, [false, 2]],
  [0, true, [false, 130]],
  [3, false, [true, 0]],
])("a check whose laws judged nothing, %d overlaps, interrupted %s", (overlapped, interrupted, expected) => {
  const report = { ok: false, laws: [{ outcome: "not-claimed" }], interrupted };
  const whole = wholeOf(report as never, { outcome: "no-counterexample", ok: true, overlapped } as never);
  expect([whole.ok, exitOfCheck(whole)]).toEqual(expected);
});
