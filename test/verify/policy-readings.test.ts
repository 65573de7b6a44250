// Counts that answers show under a policy: which readings tell a window and a count, at both sides of each bound.
import { expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";

const startMs = Date.UTC(2026, 0, 5);

interface Given {
  readonly limit?: number;
  readonly charge?: object;
  readonly remaining?: "clamped" | "signed";
}

/** A reading of the window of the first minute, by a call so many seconds after it began. */
const shows = (second: number, reading: Partial<QuotaReading>): Partial<QuotaReading> => ({
  reset: { afterMs: 60_000 - 1000 * second, atMs: null, gridMs: 1_000 },
  ...reading,
});

/** Judges admitted calls, a second apart, by what each shows: the first ten seconds after its window began. */
async function judged(
  calls: readonly (readonly Partial<QuotaReading>[])[],
  { limit = 5, charge, remaining }: Given = {},
  changes: Partial<QuotaCall> = {},
) {
  const policy = parsePolicy({
    version: 2,
    name: "readings",
    quotas: {
      w: {
        algorithm: { kind: "fixed-window", limit, windowSeconds: 60 },
        key: ["user"],
        ...(charge && { charge }),
        ...(remaining && { shown: { remaining } }),
      },
    },
    operations: { look: { uses: { w: 1 } } },
    routes: [{ path: "/**", operation: "look" }],
    auth: { attributes: ["user"] },
    wire: {
      revision: "1",
      readings: [
        {
          headers: {
            "X-Limit": "{limit}",
            "X-Remaining": "{remaining}",
            "X-Used": "{used}",
            "X-Reset": "{reset}",
          },
          reset: { form: "delta-s", means: "window-end" },
        },
      ],
    },
  });
  const header: QuotaTraceHeader = {
    ...{ version: 2, format: "spillway-trace", source: "node", startedAt: startMs, scenario: null, seed: 1 },
    ...{
      target: null,
      policy,
      clock: { kind: "wall", resolutionMs: 1, errorMs: 0 },
      complete: true,
      lost: 0,
    },
  };
  const lines = calls.map((readings, at) => {
    const sent = startMs + 1000 * (at + 10);
    const call: QuotaCall = {
      ...{ sent, received: sent + 5, client: "p/0", call: at, caller: { user: "ann" }, operation: "look" },
      ...{ cost: 1, status: 200, outcome: "admitted" },
      ...changes,
      readings: readings.map((reading) => ({
        ...{ quota: "w", limit: null, remaining: null, used: null, reset: null },
        ...shows(at + 10, reading),
      })),
    };
    return { line: at + 2, call };
  });
  return judgeQuotas(header, lines);
}

/** A call's reading that shows so many used, and an end so many ms ahead. */
const ends = (afterMs: number, used: number) => [{ used, reset: { afterMs, atMs: null, gridMs: 1_000 } }];
const signed = { limit: 2, remaining: "signed" } as const;
const two = { limit: 2 };

test.each<[string, readonly (readonly Partial<QuotaReading>[])[], Given, readonly string[], number, number]>([
  ["what is left", [[{ remaining: 4 }]], {}, [], 1, 1],
  ["what is used", [[{ used: 1 }], [{ used: 2 }]], {}, [], 1, 2],
  ["the limit of one", [[{ used: 1 }]], { limit: 1 }, [], 1, 0],
  ["less than nothing", [[{ used: -1 }], [{ used: 2 }]], {}, [], 1, 0],
  ["a limit of its own", [[{ limit: 9, used: 1 }], [{ limit: 9, used: 2 }]], {}, ["limit-agrees"], 1, 2],
  ["a limit of nothing", [[{ limit: 0, used: 1 }]], {}, ["limit-agrees"], 0, 0],
  // The second call used all; a third one that was let through is lost where what is used ends at the limit.
  ["the limit, used twice", [[{ used: 1 }], [{ used: 2 }], [{ used: 2 }]], two, ["conserved"], 1, 3],
  ["more than the limit", [[{ used: 1 }], [{ used: 2 }], [{ used: 3 }]], two, ["bounded"], 1, 3],
  ["all used, and more left", [[{ used: 1 }], [{ used: 2, remaining: 3 }]], two, ["remaining-agrees"], 1, 2],
  ["all used, where less may be left", [[{ used: 1 }], [{ used: 2 }]], signed, [], 1, 2],
  [
    "less than nothing left",
    [[{ remaining: 1 }], [{ remaining: 0 }], [{ remaining: -1 }]],
    signed,
    ["bounded"],
    1,
    3,
  ],
  ["an end that is now", [ends(50_000, 1), ends(0, 2)], {}, ["reset-agrees"], 2, 0],
  ["an end that was", [ends(50_000, 1), ends(-1, 2)], {}, ["reset-agrees"], 1, 1],
  ["a whole window and its unit ahead", [ends(50_000, 1), ends(61_000, 2)], {}, ["reset-agrees"], 2, 1],
  ["more ahead", [ends(50_000, 1), ends(61_001, 2)], {}, ["reset-agrees"], 1, 1],
  [
    "its window in a second reading alone",
    [[{ reset: null, used: 1 }, { used: 1 }], [{ used: 2 }]],
    {},
    [],
    1,
    2,
  ],
  [
    "its window in a first reading alone",
    [[{ used: 1 }, { reset: null, used: 1 }], [{ used: 2 }]],
    {},
    [],
    1,
    2,
  ],
  ["nothing used, after a call", [[{ used: 0 }]], {}, ["conserved"], 1, 0],
  ["all left, after a call", [[{ remaining: 5 }]], {}, ["conserved"], 1, 0],
  ["what is left to the end", [[{ remaining: 1 }], [{ remaining: 0 }]], two, [], 1, 2],
  ["one left, twice", [[{ remaining: 1 }], [{ remaining: 1 }]], two, ["conserved"], 1, 2],
  [
    "its window in a second reading, and a lost call",
    [[{ reset: null, used: 1 }, { used: 1 }], [{ used: 1 }]],
    {},
    ["conserved"],
    1,
    2,
  ],
  [
    "its window in a first reading, and a lost call",
    [[{ used: 1 }, { reset: null, used: 1 }], [{ used: 1 }]],
    {},
    ["conserved"],
    1,
    2,
  ],
])("answers that show %s", async (_, calls, given, laws, windows, readings) => {
  const { violations, evidence, ...verdict } = await judged(calls, given);
  expect(violations.map(({ law }) => law)).toEqual(laws);
  expect([verdict.windows, evidence?.conserved.readings]).toEqual([windows, readings]);
  expect(verdict.amounts).toMatchObject({ admitted: calls.length, refused: 0 });
});

test.each([
  [{}, "held"],
  [{ charge: { when: "completion", fits: "any-left" } }, { skipped: "what is charged later may overshoot" }],
  [{ charge: { refused: "counted" } }, { skipped: "refused calls are counted" }],
])("counts of %j keep within the limit: %j", async (given, expected) => {
  expect((await judged([[{ used: 1 }], [{ used: 2 }]], given)).laws.bounded).toEqual(expected);
});

test("calls that use nothing are no amount", async () => {
  expect((await judged([[{ used: 1 }]], {}, { operation: "other" })).amounts).toMatchObject({ admitted: 0 });
});
