// Readings that a client gets of an answer under a policy: the quota that refused, then those with the least share left.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { ABSENT } from "../../src/scenario/client.ts";
import { type ShownAnswer, toldOf } from "../../src/scenario/policy-told.ts";

const window = (limit: number) => ({ kind: "fixed-window", limit, windowSeconds: 60 }) as const;
const policy = parsePolicy({
  version: 2,
  name: "told",
  quotas: {
    day: { algorithm: window(1_000), key: ["user"] },
    minute: { algorithm: window(10), key: ["user"], shown: { reset: "floor" } },
    burst: { algorithm: window(4), key: ["user"], shown: { reset: "round" } },
  },
  operations: { call: { uses: { day: 1, minute: 5, burst: "declared" } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
  wire: "github",
});
const atMs = Date.UTC(2026, 0, 1);
type Answer = Omit<ShownAnswer, "operation" | "caller" | "cost">;
const told = (answer: Answer, call: Partial<ShownAnswer> = {}) =>
  toldOf(policy, { operation: "call", caller: { user: "ann" }, cost: 3, ...answer, ...call }, atMs);
const shown = (quota: string, more: Partial<Answer["readings"][number]> = {}) => ({
  ...{ quota, limit: null, remaining: null, used: null, reset: null },
  ...more,
});

test("nothing shown is nothing told; what one quota shows stands for both", () => {
  const nothing = { cost: 3, limit: ABSENT, remaining: ABSENT, reset: ABSENT };
  const noUser = { userCost: 3, userLimit: ABSENT, userRemaining: ABSENT, userReset: ABSENT };
  expect(told({ readings: [] })).toEqual({ ...nothing, ...noUser, retryAfter: ABSENT });
  expect(told({ readings: [shown("day", { limit: 9, remaining: 4 })] })).toEqual({
    ...{ cost: 1, limit: 9, remaining: 4, reset: ABSENT, retryAfter: ABSENT },
    ...{ userCost: 1, userLimit: 9, userRemaining: 4, userReset: ABSENT },
  });
});

describe("of several quotas", () => {
  /** The quotas that are told, by what is left of them. */
  const order = (answer: Answer): number[] => {
    const { remaining, userRemaining } = told(answer);
    return [remaining, userRemaining];
  };

  test.each<[readings: Answer["readings"], by: string | undefined, left: number[]]>([
    // By share of the limit that is shown, or else is the policy's.
    [
      [shown("day", { remaining: 500 }), shown("minute", { remaining: 4 }), shown("burst", { remaining: 1 })],
      undefined,
      [1, 4],
    ],
    [[shown("day", { remaining: 5, limit: 6 }), shown("minute", { remaining: 8 })], undefined, [8, 5]],
    // A limit of 0 leaves nothing.
    [[shown("day", { remaining: 5 }), shown("minute", { limit: 0, remaining: 0 })], undefined, [0, 5]],
    // Used up and overdrawn are alike: the first stands first.
    [[shown("day", { remaining: 0 }), shown("minute", { remaining: -3 })], undefined, [0, -3]],
    [[shown("minute", { remaining: -3 }), shown("day", { remaining: 0 })], undefined, [-3, 0]],
    // The quota that refused comes first, whatever is left of it.
    [[shown("day", { remaining: 0 }), shown("minute", { remaining: 9 })], "minute", [9, 0]],
    // A count that is used tells what is left, too.
    [[shown("day", { remaining: 7 }), shown("minute", { used: 1, limit: 10 })], undefined, [7, 9]],
    [[shown("day", { remaining: 950 }), shown("minute", { used: 1 })], undefined, [ABSENT, 950]],
    // Of which nothing is known comes last.
    [
      [shown("burst"), shown("day", { remaining: 990 }), shown("minute", { remaining: 10 })],
      undefined,
      [990, 10],
    ],
  ])("%j, refused by %j: %j left", (readings, by, left) => {
    expect(order({ readings, by })).toEqual(left);
  });
});

test.each<[quota: string, reset: { afterMs: number | null; atMs: number | null }, seconds: number]>([
  ["day", { afterMs: 1_400, atMs: null }, 2],
  ["minute", { afterMs: 1_600, atMs: null }, 1],
  ["burst", { afterMs: 1_400, atMs: null }, 1],
  ["burst", { afterMs: 1_600, atMs: null }, 2],
  ["day", { afterMs: null, atMs: atMs + 2_001 }, 3],
  ["day", { afterMs: 5_000, atMs: atMs + 2_000 }, 5],
  ["day", { afterMs: null, atMs: atMs - 2_000 }, 0],
  ["day", { afterMs: null, atMs: null }, ABSENT],
])("the reset of %s, %j, is %d s", (quota, reset, seconds) => {
  expect(told({ readings: [shown(quota, { reset })] })).toMatchObject({ reset: seconds, userReset: seconds });
});

test.each<[Partial<Answer>, number]>([
  [{ retryAfterMs: 1_001 }, 2],
  [{ retryAfterMs: 0 }, 0],
  [{ retryAt: atMs + 3_000 }, 3],
  [{ retryAt: atMs - 3_000 }, 0],
  [{ retryAfterMs: 5_000, retryAt: atMs + 3_000 }, 5],
])("advice of %j is %d s", (advice, seconds) => {
  expect(told({ readings: [], ...advice }).retryAfter).toBe(seconds);
});

test("a call asks of each quota what its operation uses; of one that is not told, what it declares", () => {
  const readings = [shown("burst", { remaining: 0 }), shown("minute", { remaining: 4 })];
  expect(told({ readings })).toMatchObject({ cost: 3, userCost: 5 });
  expect(told({ readings, by: "minute" })).toMatchObject({ cost: 5, userCost: 3 });
  expect(told({ readings }, { operation: "status", cost: null })).toMatchObject({ cost: 0, userCost: 0 });
});
