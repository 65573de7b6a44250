// Faults of windows, step by step: what each call is told, beside what a right deployment tells.
import { describe, expect, test } from "vitest";
import type { PolicyDecision } from "../../src/engine/decision.ts";
import { injectQuotaFault, parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";

/** On the grid of ten seconds. */
const startMs = Date.UTC(2026, 0, 1);

const policyOf = (anchor: string) =>
  parsePolicy({
    version: 2,
    name: "ten-seconds",
    quotas: {
      calls: { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 10, anchor }, key: ["user"] },
    },
    operations: { call: { uses: { calls: "declared" } } },
    routes: [
      { path: "/status", operation: "status" },
      { path: "/**", operation: "call" },
    ],
    auth: { attributes: ["user"] },
  } as PolicyInput);

/** Seconds of a call by ann; `poll`, `bob` and `dear` stand before those of a status call, of another caller, and of 6 units. */
type Step = number | readonly ["poll" | "bob" | "dear", number];

/** Used calls and the second of the reset, as each call is told them; `!` where it is refused. */
function told(
  fault: string,
  steps: readonly Step[],
  { anchor = "epoch", random = (): number => 0 } = {},
): string[] {
  const policy = policyOf(anchor);
  const { store } = injectQuotaFault(parseFault(fault), policy, random);
  return steps.flatMap((step) => {
    const [who, at] = typeof step === "number" ? (["ann", step] as const) : step;
    const nowMs = startMs + Math.round(1000 * at);
    const caller = { user: who === "bob" ? "bob" : "ann" };
    if (who === "poll") {
      (store.status ?? store.read).call(store, caller, ["calls"], nowMs);
      return [];
    }
    const { readings, refusedBy } = store.decide(
      { caller, operation: "call", cost: who === "dear" ? 6 : 1 },
      nowMs,
    ) as PolicyDecision;
    const [reading] = readings;
    return [
      `${reading?.used} until ${((reading?.resetAtMs ?? 0) - startMs) / 1000}${refusedBy === null ? "" : "!"}`,
    ];
  });
}

test.each<[string, string, readonly Step[], string[]]>([
  [
    "a count outlives its window",
    "new-reset-old-count=1",
    [0, 1, 11, 21, 31],
    ["1 until 10", "2 until 10", "3 until 20", "1 until 30", "2 until 40"],
  ],
  [
    "a count outlives all of them",
    "lost-expiry=1",
    [0, 11, 21, 31, 41, 51],
    ["1 until 10", "2 until 20", "3 until 30", "4 until 40", "5 until 50", "5 until 60!"],
  ],
  [
    "a poll in the last five seconds keeps the count",
    "immortal-by-polling=5",
    [0, ["poll", 5], 11, 21],
    ["1 until 10", "2 until 20", "1 until 30"],
  ],
  [
    "and one in the last millisecond",
    "immortal-by-polling=5",
    [0, ["poll", 9.999], 11],
    ["1 until 10", "2 until 20"],
  ],
  ["but none before", "immortal-by-polling=5", [0, ["poll", 4.999], 11], ["1 until 10", "1 until 20"]],
  [
    "nor in a window without a charge",
    "immortal-by-polling=5",
    [["dear", 1], ["poll", 9], 9.5, 11],
    ["0 until 10!", "1 until 10", "1 until 20"],
  ],
  ["nor at the end itself", "immortal-by-polling=5", [0, ["poll", 10], 11], ["1 until 10", "1 until 20"]],
  [
    "a sweep empties all keys at 4 s of each window",
    "reset-all-sweep",
    [1, ["bob", 2], 3.999, 4, ["bob", 5], 13, 14],
    ["1 until 10", "1 until 10", "2 until 10", "1 until 10", "1 until 10", "1 until 20", "1 until 20"],
  ],
  [
    "a timer empties a window at 8 s, once",
    "double-roll=1",
    [1, 7.999, 8, 9, 11],
    ["1 until 10", "2 until 10", "1 until 10", "2 until 10", "1 until 20"],
  ],
  [
    "the end belongs to the old window",
    "boundary-inclusive",
    [9, 10, 10.001],
    ["1 until 10", "2 until 10", "1 until 20"],
  ],
  [
    "the first caller's windows lie beside the grid",
    "organization-off-grid=3",
    [0, ["bob", 1], 6.999, 7, ["bob", 8]],
    ["1 until 7", "1 until 10", "2 until 7", "1 until 17", "2 until 10"],
  ],
  [
    "calls of a young window do not see each other",
    "first-calls-lost=40",
    [0, 0.001, 0.039, 0.04, 1, 10, 10.01],
    ["1 until 10", "1 until 10", "1 until 10", "2 until 10", "3 until 10", "1 until 20", "1 until 20"],
  ],
  [
    "a window ends before its end",
    "rolls-early=1.5",
    [1, 8.499, 8.5, 9],
    ["1 until 10", "2 until 10", "1 until 20", "2 until 20"],
  ],
])("%s: %s", (_name, fault, steps, expected) => {
  expect(told(fault, steps)).toEqual(expected);
});

test("faults strike as often as their rate says: below it, and not at it", () => {
  const struck = ["1 until 10", "2 until 20"];
  const spared = ["1 until 10", "1 until 20"];
  for (const fault of ["new-reset-old-count=0.5", "lost-expiry=0.5"]) {
    expect(told(fault, [0, 11], { random: () => 0.499 })).toEqual(struck);
    expect(told(fault, [0, 11], { random: () => 0.5 })).toEqual(spared);
  }
});

test("a key's own timer goes off at one share of each of its windows", () => {
  const turns = [0.5, 0, 0.9, 0.9, 0.9, 0.9];
  const random = (): number => turns.shift() ?? 0;
  expect(told("double-roll=1", [1, 4.999, 5, 14, 15], { random })).toEqual([
    "1 until 10",
    "2 until 10",
    "1 until 10",
    "1 until 20",
    "1 until 20",
  ]);
});

describe("where windows open with their first call", () => {
  const first = { anchor: "first-request" };
  test("a status call opens one", () => {
    expect(told("status-opens-window", [["poll", 2], 5, 12, ["poll", 30], 31], first)).toEqual([
      "1 until 12",
      "1 until 22",
      "1 until 40",
    ]);
  });

  test("windows follow each other without a gap", () => {
    expect(told("windows-back-to-back", [2, 11.999, 13, 22, 45], first)).toEqual([
      "1 until 12",
      "2 until 12",
      "1 until 22",
      "1 until 32",
      "1 until 52",
    ]);
  });

  test("each call begins one anew", () => {
    expect(told("rearmed-per-hit", [2, 5.5, 9, 18, 28], first)).toEqual([
      "1 until 12",
      "2 until 15",
      "3 until 19",
      "4 until 28",
      "1 until 38",
    ]);
  });
});

test("one key is answered from two windows, four seconds apart", () => {
  const turns = [0.9, 0, 0.9, 0.9, 0];
  expect(told("two-interleaved-windows", [1, 2, 3, 7, 8], { random: () => turns.shift() ?? 0 })).toEqual([
    "1 until 6",
    "1 until 10",
    "2 until 6",
    "1 until 16",
    "2 until 10",
  ]);
});
