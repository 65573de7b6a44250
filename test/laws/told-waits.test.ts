// Waits that refusals under a policy tell: the law honest-wait comes again after just so long.
import { describe, expect, test } from "vitest";
import type { QuotaDecision } from "../../src/engine/quota-limiter.ts";
import { laws } from "../../src/laws/catalogue.ts";
import { playQuotas } from "../../src/laws/quotas/play.ts";
import type { QuotaOp } from "../../src/laws/quotas/script.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const window = { kind: "fixed-window", limit: 1, windowSeconds: 10, anchor: "first-request" };
const bucket = { kind: "token-bucket", capacity: 1, refill: { amount: 1, everyMs: 10_000 } };

interface Told {
  readonly round?: "ceil" | "floor";
  readonly isShown?: boolean;
  readonly algorithm?: object;
  readonly isExact?: boolean;
}

/** Of two calls the second is refused after half a second, with room 9.5 s later. Returns when it comes again, ms. */
async function comesAgain(
  refusal: Partial<QuotaDecision>,
  { round = "ceil", isShown = true, algorithm = window, isExact = true }: Told = {},
): Promise<number | undefined> {
  const policy = parsePolicy({
    ...{ version: 2, name: "own" },
    quotas: { calls: { algorithm, key: ["client"], shown: { retryAfter: isShown } } },
    operations: { call: { uses: { calls: 1 } } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
    wire: {
      revision: "1",
      readings: [{ quotas: ["calls"], headers: { "X-Left": "{remaining}" } }],
      retryAfter: [{ header: "Retry-After", form: "delta-s", round }],
    },
  });
  const call = { do: "call", caller: { client: "ann" }, operation: "call", cost: 1 } as const;
  const ops: QuotaOp[] = [
    { ...call, id: 0, atMs: 1_000 },
    { ...call, id: 1, atMs: 1_500 },
  ];
  const asked: number[] = [];
  const limiter = {
    decide: (_: object, nowMs: number) => {
      asked.push(nowMs);
      return nowMs === 1_000 ? { admitted: true } : { admitted: false, refusedBy: "calls", ...refusal };
    },
  };
  const create = () => limiter as never;
  await laws["honest-wait"].judge({
    script: { policy, isExact, startMs: 0, ops, pick: 0 },
    play: (played) => playQuotas({ name: "own", limits: "given", claims: "all", create }, policy, played),
  });
  expect(asked.slice(0, 2)).toEqual([1_000, 1_500]);
  return asked[4];
}
const advice = (seconds: number): Partial<QuotaDecision> => ({
  http: { status: 429, headers: { "Retry-After": String(seconds) }, body: null } as never,
});

describe("a refused call comes again", () => {
  test.each<[string, Partial<QuotaDecision>, Told, number]>([
    ["at the instant that the limiter says", { retryAtMs: 5_000 }, {}, 5_000],
    ["at that instant, whatever the answer says", { retryAtMs: 5_000, ...advice(3) }, {}, 5_000],
    ["after the seconds of the answer", advice(10), {}, 11_500],
    ["after fewer seconds, if the answer says so", advice(3), {}, 4_500],
    // The right advice is 9 s where it is rounded down: 500 ms too little.
    ["later by what the right advice lacks", advice(9), { round: "floor" }, 11_000],
    ["later by as much if the limiter says less", advice(3), { round: "floor" }, 5_000],
    ["as told if the policy has no right advice", advice(3), { isShown: false, round: "floor" }, 4_500],
    [
      "1 ms later to a bucket that adds up fractions",
      advice(10),
      { algorithm: bucket, isExact: false },
      11_501,
    ],
    ["as told to a bucket of whole numbers", advice(10), { algorithm: bucket }, 11_500],
    ["as told to a window, in fractions, too", advice(10), { isExact: false }, 11_500],
  ])("%s", async (_, refusal, told, atMs) => {
    expect(await comesAgain(refusal, told)).toBe(atMs);
  });

  test("not at all if nothing tells when", async () => {
    expect(await comesAgain({})).toBeUndefined();
  });
});
