// What a limiter by a policy answers is read before laws judge it: a wrong form is the limiter's failure, in words.
import { describe, expect, test } from "vitest";
import type { QuotaLimiter, QuotaLimiterFactory } from "../../src/engine/quota-limiter.ts";
import { checkQuotaInterleavings } from "../../src/laws/quotas/interleavings.ts";
import { playQuotas } from "../../src/laws/quotas/play.ts";
import type { QuotaOp } from "../../src/laws/quotas/script.ts";
import { parsePolicy } from "../../src/policy/parse.ts";

const policy = parsePolicy({
  version: 2,
  name: "points",
  quotas: { points: { algorithm: { kind: "fixed-window", limit: 2, windowSeconds: 10 }, key: ["client"] } },
  operations: { call: { uses: { points: "declared" } } },
  routes: [{ path: "/**", operation: "call" }],
  auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
  wire: "openai",
});
const caller = { client: "ann" };
const call: QuotaOp = { do: "call", atMs: 5, id: 0, caller, operation: "call", cost: 1 };
const status: QuotaOp = { do: "status", atMs: 6, caller };

const factory = (limiter: QuotaLimiter): QuotaLimiterFactory => ({
  name: "mine",
  limits: "given",
  claims: "all",
  create: () => limiter,
});

/** What `ops` lead to: the failure's words, or the events. */
async function played(limiter: object, ...ops: QuotaOp[]) {
  const { got, allowed, events } = await playQuotas(factory(limiter as QuotaLimiter), policy, ops).then(
    (events) => ({ got: null, allowed: null, events }),
    (failure: { got: string; allowed: string }) => ({ ...failure, ...failure, events: [] }),
  );
  return got === null ? events : [got, allowed];
}

const http = "an answer: a status, headers by name, a body or none";

describe("a decision", () => {
  test.each<[string, unknown, string]>([
    ["the decision = nothing", undefined, "an object with `admitted`, or an answer: `http`"],
    ["the decision = true", true, "an object with `admitted`, or an answer: `http`"],
    ["admitted = nothing", {}, "true or false, or an answer: `http`"],
    ["admitted = 1", { admitted: 1 }, "true or false, or an answer: `http`"],
    [
      "admitted = 0",
      { admitted: 0, http: { status: 200, headers: {} } },
      "true or false, or an answer: `http`",
    ],
    ["refusedBy = 3", { admitted: false, refusedBy: 3 }, "a quota's name, null or nothing"],
    ['retryAtMs = "soon"', { admitted: false, retryAtMs: "soon" }, "ms since the epoch, or nothing"],
    ["http = 5", { admitted: true, http: 5 }, http],
    ['http = {"status":200}', { admitted: true, http: { status: 200 } }, http],
    ['http = {"headers":{}}', { http: { headers: {} } }, http],
    ["readings = {}", { admitted: true, readings: {} }, "a list, or nothing"],
    ["readings[0] = 5", { admitted: true, readings: [5] }, "an object with `quota`, a name"],
    [
      'readings[0] = {"limit":2}',
      { admitted: true, readings: [{ limit: 2 }] },
      "an object with `quota`, a name",
    ],
    ...["limit", "remaining", "used", "resetAtMs"].map((member): [string, unknown, string] => [
      `readings[1].${member} = 0.5`,
      { admitted: true, readings: [{ quota: "points" }, { quota: "points", [member]: 0.5 }] },
      "a safe integer, or nothing",
    ]),
  ])("%s", async (got, said, allowed) => {
    expect(await played({ decide: () => said }, call)).toEqual([got, allowed]);
  });

  test("may leave out all but its outcome, or say null", async () => {
    const bare = { admitted: true };
    const nulls = {
      admitted: false,
      refusedBy: null,
      retryAtMs: null,
      http: null,
      readings: [{ quota: "points", used: null }],
    };
    expect(await played({ decide: () => bare }, call)).toMatchObject([
      {
        op: call,
        admitted: true,
        refusedBy: undefined,
        retryAtMs: null,
        isAtOdds: false,
        said: bare,
        read: null,
      },
    ]);
    expect(await played({ decide: () => nulls }, call)).toMatchObject([
      { admitted: false, refusedBy: null, retryAtMs: null, isAtOdds: false, said: nulls, read: null },
    ]);
  });

  test("may be told by the answer alone, and the two may be at odds", async () => {
    const refusal = { status: 429, headers: {} };
    const outcome = async (said: object) => {
      const [event] = await played({ decide: () => said }, call);
      const { admitted, isAtOdds } = event as { admitted: boolean; isAtOdds: boolean };
      return [admitted, isAtOdds];
    };
    expect(await outcome({ http: refusal })).toEqual([false, false]);
    expect(await outcome({ http: { status: 200, headers: {} } })).toEqual([true, false]);
    expect(await outcome({ admitted: false, http: refusal })).toEqual([false, false]);
    expect(await outcome({ admitted: true, http: refusal })).toEqual([true, true]);
    expect(await outcome({ admitted: false, http: { status: 200, headers: {} } })).toEqual([false, true]);
  });

  test("is kept as it was: the limiter may change its own object later", async () => {
    const readings = [{ quota: "points", used: 0 }];
    const decide = () => {
      (readings[0] as { used: number }).used += 1;
      return { admitted: true, readings };
    };
    const events = await played({ decide }, call, { ...call, id: 1 });
    expect(events).toMatchObject([
      { said: { readings: [{ used: 1 }] } },
      { said: { readings: [{ used: 2 }] } },
    ]);
  });
});

test("a status of a wrong form is a failure too", async () => {
  expect(await played({ decide: () => ({ admitted: true }), status: () => 3 }, status)).toEqual([
    "the answer = 3",
    "an object",
  ]);
});

test("a limiter is told what it is asked, in order, and closed at the end, also where it fails", async () => {
  const asked: unknown[] = [];
  const asking =
    (name: string, said?: object) =>
    (...args: unknown[]) => {
      asked.push([name, ...args]);
      return said;
    };
  const limiter = (said: object) => ({
    decide: asking("decide", said),
    settle: asking("settle", {}),
    status: asking("status", {}),
    setEnforced: asking("setEnforced"),
    sweep: asking("sweep"),
    close: asking("close"),
  });
  const settle = { do: "settle", atMs: 7, id: 0, actual: 1 } as const;
  const enforce = { do: "enforce", atMs: 8, quota: "points", caller, enforced: false } as const;
  const told = ["decide", { caller, operation: "call", cost: 1 }, 5];
  const ops = [call, status, enforce, settle, settle, { do: "sweep", atMs: 9 }] as const;
  await played(limiter({ admitted: true, reservation: "held" }), ...ops);
  expect(asked).toEqual([
    told,
    ["status", caller, 6],
    ["setEnforced", "points", caller, false],
    ["settle", "held", 1, 7],
    ["sweep", 9],
    ["close"],
  ]);
  asked.length = 0;
  await played(limiter({}), ...ops);
  expect(asked).toEqual([told, ["close"]]);
});

describe("overlapping calls are judged by the laws that are claimed, and not void", () => {
  const admitting = (claims: QuotaLimiterFactory["claims"]) =>
    checkQuotaInterleavings({ ...factory({ decide: () => ({ admitted: true }) }), claims }, policy, {
      seed: 3,
      runs: 20,
    });

  test("a law that the limiter does not claim accuses nobody", async () => {
    expect(await admitting(["limit-agrees"])).toMatchObject({
      outcome: "no-counterexample",
      runs: 20,
      ok: true,
    });
    expect(await admitting("all")).toMatchObject({ outcome: "violated", ok: false });
  });

  test("one that is void here is no claim", async () => {
    expect(await admitting(["rate-bound"])).toEqual({
      ...{ limiter: "mine", seed: 3, runs: 0, overlapped: 0, ok: true, outcome: "not-claimed" },
    });
  });
});
