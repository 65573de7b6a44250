// Calls as figures and pictures see them: by the rules of version 1, and by the quotas of a policy.
import { describe, expect, test } from "vitest";
import { parsePolicy } from "../../src/policy/parse.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { isNarrow, rulesLengths, tellerOf, whoseName } from "../../src/summary/told.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "../../src/trace/quota-record.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { refusalBody, statusBody } from "../../src/wire/bodies.ts";
import { inference } from "../policy/policies.ts";
import { startMs, traceCall, traceHeader } from "./traces.ts";

describe("under rules", () => {
  const rules = parseRules({
    organization: { rest: { limit: 100, windowSeconds: 60 }, graphql: { limit: 500, windowSeconds: 300 } },
    user: { rest: { limit: 50, windowSeconds: 30 } },
    semantics: { reset: "floor" },
  });
  const teller = tellerOf(traceHeader({ rules }));
  const told = (changes: Partial<TraceCall> = {}) => teller.told(traceCall(changes));
  const shown = { scopeName: "rest", limit: 100, remaining: 90, reset: 7 } as const;
  const shownUser = { userScopeName: "rest_user", userLimit: 50, userRemaining: 20, userReset: 3 } as const;
  const at = { sent: startMs, received: startMs };
  const acme = { org: "acme", user: null, scope: "rest" };
  const ada = { org: "acme", user: "ada", scope: "rest" };
  const broad = { whose: acme, limit: 100, count: 10, reset: 7, ...at };
  const narrow = { whose: ada, limit: 50, count: 30, reset: 3, ...at };

  test("a call uses the windows that its headers show, the organization's first", () => {
    expect(told({ ...shown, ...shownUser, attempt: 2, wanted: -5 })).toEqual({
      client: "agents/0",
      ...at,
      kind: "call",
      attempt: 2,
      wanted: startMs - 5,
      user: { org: "acme", user: "ada" },
      end: "admitted",
      owner: null,
      refusedBy: null,
      points: 0,
      shown: [],
      used: [broad, narrow],
      refusing: null,
      refusedAt: null,
    });
    expect(told({ ...shown, ...shownUser }).used[0]?.whose).toBe(told(shown).used[0]?.whose);
  });

  test.each([
    ["another scope's name", { ...shown, scopeName: "graphql" }, []],
    ["no reset", { ...shown, reset: null }, []],
    ["no limit, and so no count", { ...shown, limit: null }, [{ ...broad, limit: null, count: null }]],
    ["no remaining, and so no count", { ...shown, remaining: null }, [{ ...broad, count: null }]],
    ["a user's window of nobody knows whom", { ...shown, ...shownUser, user: null }, [broad]],
    ["a user's window alone", shownUser, [narrow]],
  ] as const)("headers with %s", (_name, changes, expected) => {
    expect(told(changes).used).toEqual(expected);
  });

  test("a call of no known user is nobody's", () => {
    expect(told({ user: null }).user).toBeNull();
  });

  test.each([
    ["200", { status: 200 }, "admitted"],
    ["404", { status: 404 }, "admitted"],
    ["no answer", { status: 0 }, "unanswered"],
    ["a 500 that something before the target may have given", { status: 500 }, "unanswered"],
    ["a 500 with headers, which only the target knows", { status: 500, ...shown }, "admitted"],
    ["429", { status: 429 }, "refused"],
  ] as const)("%s", (_name, changes, expected) => {
    expect(told(changes).end).toBe(expected);
  });

  test("a refusal tells whose window refused, and at which count", () => {
    const refused = { status: 429, ...shown, ...shownUser };
    const broken = { ...refused, remaining: 0 };
    expect(told(broken)).toMatchObject({ owner: "organization", refusing: { whose: acme }, refusedAt: null });
    expect(told({ ...refused, userRemaining: 0 })).toMatchObject({ owner: "user", refusing: { whose: ada } });
    expect(told(refused)).toMatchObject({ owner: null, refusing: null });
    const window = { limit: 50, current: 48, remaining: 2, reset: 3, resetAtMs: startMs + 3000 };
    const refusal = refusalBody("rest", "user", { organization: window, user: window });
    expect(told({ ...broken, refusal })).toMatchObject({
      owner: "user",
      refusing: { whose: ada },
      refusedAt: 48,
    });
    expect(told({ ...broken, refusal, status: 200 }).refusedAt).toBeNull();
    expect(told({ ...broken, status: 200 })).toMatchObject({ owner: null, refusing: null, refusedAt: null });
  });

  test("only GraphQL has points: those charged, else those asked for", () => {
    const points = (changes: Partial<TraceCall>): number => told({ scope: "graphql", ...changes }).points;
    expect([points({ cost: 9, actual: 4 }), points({ cost: 9 }), points({ cost: null })]).toEqual([4, 9, 0]);
    expect(told({ cost: 9, actual: 4 }).points).toBe(0);
  });

  test("windows are as long as the rules say, each owner's and scope's", () => {
    const { lengths } = teller;
    expect(lengths.lengthMs({ org: "acme", user: null, scope: "rest" })).toBe(60_000);
    expect(lengths.lengthMs({ org: "acme", user: null, scope: "graphql" })).toBe(300_000);
    expect(lengths.lengthMs({ org: "acme", user: "ada", scope: "rest" })).toBe(30_000);
    expect(lengths.lengthMs({ quota: "tenant", key: {} })).toBeNull();
    expect(lengths.beforeMs({ org: "acme", user: null, scope: "rest" })).toBe(0);
    expect(lengths.beforeMs({ quota: "tenant", key: {} })).toBe(1000);
    const unknown = rulesLengths(null);
    expect([
      unknown.lengthMs({ org: "acme", user: null, scope: "rest" }),
      unknown.beforeMs({ org: "acme", user: null, scope: "rest" }),
    ]).toEqual([null, 1000]);
    expect([
      teller.quotas,
      tellerOf(traceHeader()).lengths.lengthMs({ org: "acme", user: null, scope: "rest" }),
    ]).toEqual([null, null]);
    const before = (["ceil", "floor", "round"] as const).map((reset) =>
      rulesLengths(parseRules({ semantics: { reset } })).beforeMs({ org: "acme", user: null, scope: "rest" }),
    );
    expect(before).toEqual([1000, 0, 500]);
  });

  test("owners have names, and a user's is narrow", () => {
    expect([
      whoseName({ org: "a", user: null, scope: "rest" }),
      whoseName({ quota: "q", key: { user: "b" } }),
    ]).toEqual(['["a",null,"rest"]', '["q",{"user":"b"}]']);
    expect([
      isNarrow({ org: "a", user: null, scope: "rest" }),
      isNarrow({ org: "a", user: "b", scope: "rest" }),
      isNarrow({ quota: "q", key: { user: "b" } }),
    ]).toEqual([false, true, false]);
  });

  test("a status call shows both scopes' windows as its body has them", () => {
    const scope = (limit: number, current: number, reset: number) => ({
      limit,
      current,
      remaining: limit - current,
      reset,
      resetAtMs: startMs + 1000 * reset,
      enforced: true,
    });
    const json = statusBody({ rest: scope(100, 10, 7), graphql: scope(500, 40, 9) }).scopes;
    const { shown: windows } = told({ kind: "status", body: json });
    expect(windows.map(({ whose, limit, count, reset }) => [whoseName(whose), limit, count, reset])).toEqual([
      ['["acme",null,"rest"]', 100, 10, 7],
      ['["acme",null,"graphql"]', 500, 40, 9],
    ]);
    expect(told({ kind: "status", body: {} }).shown).toEqual([]);
    expect(told({ kind: "other", body: json }).shown).toEqual([]);
  });
});

describe("under a policy", () => {
  const policy = parsePolicy(inference);
  const { rules: _, lost: __, version: ___, ...header } = traceHeader();
  const teller = tellerOf({ ...header, version: 2, policy, lost: 0 } as QuotaTraceHeader);
  const caller = { tenant: "acme", user: "ada", model: "m" };
  const reading = (quota: string, changes: Partial<QuotaReading> = {}): QuotaReading => ({
    quota,
    limit: null,
    remaining: null,
    used: 3,
    reset: { afterMs: 7000, atMs: null, gridMs: 1000 },
    ...changes,
  });
  const callOf = (changes: Partial<QuotaCall> = {}): QuotaCall => ({
    sent: startMs,
    received: startMs + 40,
    client: "agents/0",
    call: 0,
    caller,
    operation: "complete",
    cost: 20,
    status: 200,
    outcome: "admitted",
    readings: [],
    ...changes,
  });
  const told = (changes: Partial<QuotaCall> = {}) => teller.told(callOf(changes));
  const windows = (...readings: QuotaReading[]) =>
    told({ readings }).used.map(({ whose, limit, count, reset }) => [
      "quota" in whose ? [whose.quota, whose.key] : whose,
      limit,
      count,
      reset,
    ]);

  test("a call tells who called, what it used, and the points that it declared", () => {
    expect(told({ attempt: 1, wanted: startMs - 5, readings: [reading("tenant")] })).toEqual({
      client: "agents/0",
      sent: startMs,
      received: startMs + 40,
      kind: "call",
      attempt: 1,
      wanted: startMs - 5,
      user: { org: "acme/ada", user: "m" },
      end: "admitted",
      owner: null,
      refusedBy: null,
      points: 20,
      shown: [],
      used: [
        {
          whose: { quota: "tenant", key: { tenant: "acme" } },
          limit: 40,
          count: 3,
          reset: 7,
          sent: startMs,
          received: startMs + 40,
        },
      ],
      refusing: null,
      refusedAt: null,
    });
    expect(told().attempt).toBe(0);
    expect([told({ caller: {} }).user, told({ caller: { user: "ada" } }).user]).toEqual([
      null,
      { org: "", user: "ada" },
    ]);
  });

  test("points are those charged, else those declared; other operations have none", () => {
    expect([
      told({ actual: 4 }).points,
      told({ cost: null }).points,
      told({ operation: "look" }).points,
    ]).toEqual([4, 0, 0]);
  });

  test.each([
    [
      "a limit that the answer shows",
      reading("tenant", { limit: 80 }),
      [["tenant", { tenant: "acme" }], 80, 3, 7],
    ],
    [
      "what remains of it",
      reading("tenant", { limit: 80, used: null, remaining: 60 }),
      [["tenant", { tenant: "acme" }], 80, 20, 7],
    ],
    ["no count", reading("tenant", { used: null }), [["tenant", { tenant: "acme" }], 40, null, 7]],
    [
      "an instant, on the client's clock",
      reading("tenant", { reset: { afterMs: null, atMs: startMs + 5040, gridMs: 1 } }),
      [["tenant", { tenant: "acme" }], 40, 3, 5],
    ],
    [
      "an instant that is over",
      reading("tenant", { reset: { afterMs: null, atMs: startMs, gridMs: 1 } }),
      [["tenant", { tenant: "acme" }], 40, 3, 0],
    ],
    ["a bucket, which has no window", reading("burst"), [["burst", { user: "ada", model: "m" }], 5, 3, null]],
    [
      "a bucket without a reset",
      reading("burst", { reset: null }),
      [["burst", { user: "ada", model: "m" }], 5, 3, null],
    ],
    ["an idle window on a grid", reading("tenant", { used: 0 }), [["tenant", { tenant: "acme" }], 40, 0, 7]],
  ] as const)("an answer shows %s", (_name, shown, expected) => {
    expect(windows(shown)).toEqual([expected]);
  });

  test.each([
    ["a window without a reset", reading("tenant", { reset: null })],
    [
      "a window whose reset tells no time",
      reading("tenant", { reset: { afterMs: null, atMs: null, gridMs: 1 } }),
    ],
    ["an idle window that its next call would open", reading("user", { used: 0 })],
  ])("%s is none", (_name, shown) => {
    expect(windows(shown)).toEqual([]);
  });

  test("an override's limit holds for its key", () => {
    expect(told({ caller: { ...caller, tenant: "big" }, readings: [reading("tenant")] }).used[0]?.limit).toBe(
      400,
    );
  });

  test("one key is one owner, and attributes that are missing are empty", () => {
    const owner = (model: string) =>
      told({ caller: { ...caller, model }, readings: [reading("burst")] }).used[0]?.whose;
    expect(owner("m")).toBe(owner("m"));
    expect(owner("m")).not.toBe(owner("n"));
    const bare = told({ caller: { user: "ada" }, readings: [reading("burst")] });
    expect(bare.used[0]?.whose).toEqual({ quota: "burst", key: { user: "ada", model: "" } });
  });

  test("a refusal tells the quota that refused, and its window", () => {
    const readings = [reading("tenant"), reading("burst")];
    expect(told({ outcome: "refused", by: "burst", readings })).toMatchObject({
      end: "refused",
      refusedBy: "burst",
      refusing: { whose: { quota: "burst" } },
    });
    expect(told({ outcome: "refused", readings })).toMatchObject({ refusedBy: "unknown", refusing: null });
    expect(told({ by: "burst", readings }).refusedBy).toBeNull();
  });

  test.each([
    [
      "a status call, whose windows are shown and not used",
      { operation: "status" },
      ["status", "admitted", 1, 0],
    ],
    ["one that no quota counts", { operation: "other" }, ["other", "admitted", 0, 1]],
    ["one that was exempt", { outcome: "exempt" }, ["other", "admitted", 0, 1]],
    ["one without an answer", { outcome: "unknown" }, ["call", "unanswered", 0, 1]],
  ] as const)("%s", (_name, changes, expected) => {
    const { kind, end, shown, used } = told({ readings: [reading("tenant")], ...changes });
    expect([kind, end, shown.length, used.length]).toEqual(expected);
  });

  test("windows are as long as the policy says, but for those of a calendar", () => {
    const of = (quota: string) => [
      teller.lengths.lengthMs({ quota, key: {} }),
      teller.lengths.beforeMs({ quota, key: {} }),
    ];
    expect([of("tenant"), of("user"), of("model_day"), of("burst"), of("none")]).toEqual([
      [60_000, 1000],
      [10_000, 1000],
      [null, 1000],
      [null, 1000],
      [null, 1000],
    ]);
    expect(teller.lengths.lengthMs({ org: "acme", user: null, scope: "rest" })).toBeNull();
    expect(teller.quotas).toEqual(["tenant", "tenant_tokens", "user", "model_day", "burst", "anybody"]);
  });
});
