// Scenarios under any policy, counted: the four quotas of rules as rules have them, and quotas that rules cannot say.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measure } from "../../sim/measure.ts";
import { simulate } from "../../sim/simulate.ts";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { changeScenario, placesOf } from "../../src/plan/paths.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import {
  adviseScenario,
  burst,
  defineScenario,
  graphql,
  poller,
  rest,
  retryAfter,
  type Scenario,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";

const under = (scenario: Scenario, policy: Policy): Scenario => adjustScenario(scenario, { policy });
const preset = (name: string): Policy => parsePolicy(presets[name]?.policy);

/** One quota, one operation, every path. */
const oneQuota = (
  algorithm: PolicyInput["quotas"][string]["algorithm"],
  more: Partial<PolicyInput["quotas"][string]> = {},
  cost: number | "declared" | { atMost: number } = 1,
): Policy =>
  parsePolicy({
    version: 2,
    name: "mine",
    quotas: { units: { algorithm, key: ["user"], ...more } },
    operations: { call: { uses: { units: cost } } },
    routes: [{ path: "/**", operation: "call" }],
  });

const once = (size: number, call = rest("/a")): Scenario =>
  defineScenario({
    name: "once",
    duration: "2s",
    populations: { all: { clients: 1, behaviour: burst({ call, size }) } },
  });

describe("rules as a policy", () => {
  const switches = fc.record({
    anchor: fc.constantFrom("epoch" as const, "first-request" as const),
    refused: fc.constantFrom("uncounted" as const, "counted" as const),
    refusedByUser: fc.constantFrom("charges-nothing" as const, "charges-organization" as const),
    graphqlCharge: fc.constantFrom("reserved" as const, "prepaid" as const, "postpaid" as const),
    userEnforced: fc.constantFrom("always" as const, "with-organization" as const),
    reset: fc.constantFrom("ceil" as const, "floor" as const),
    retryAfter: fc.boolean(),
  });
  const limits = fc.record({
    rest: fc.integer({ min: 1, max: 40 }),
    user: fc.integer({ min: 1, max: 20 }),
    points: fc.integer({ min: 60, max: 400 }),
    seed: fc.nat(),
  });

  test("count a scenario as rules do", () => {
    fc.assert(
      fc.property(switches, limits, (semantics, { rest: most, user, points, seed }) => {
        const rules = parseRules({
          organization: {
            rest: { limit: most, windowSeconds: 7 },
            graphql: { limit: points, windowSeconds: 11 },
          },
          user: { rest: { limit: user, windowSeconds: 5 }, graphql: { limit: points, windowSeconds: 9 } },
          semantics,
        });
        const scenario = defineScenario({
          name: "mixed",
          seed,
          duration: "40s",
          populations: {
            agents: {
              clients: 4,
              behaviour: worker({
                calls: [
                  { call: rest("/v2/user") },
                  { call: graphql("{ viewer { id } }", { cost: 30, actual: 12 }) },
                ],
                think: { least: "100ms", most: "900ms" },
              }),
              onRefused: waitReset({ of: "both", jitter: { least: 0, most: "1s" } }),
            },
            advised: {
              clients: 2,
              user: "shared",
              behaviour: poller({ every: "300ms", call: rest("/v2/user") }),
              onRefused: retryAfter({ fallback: "700ms" }),
            },
            watchers: { clients: 1, behaviour: poller({ every: "1s", call: status() }) },
          },
        });
        const byRules = measure(scenario, { rules });
        const byPolicy = measure(under(scenario, policyOf(rules)));
        const ofWindows = {
          refusedByOrganization: null,
          refusedByUser: null,
          windowsExhausted: null,
          refusedFirstSecondShare: null,
        };
        expect(byPolicy.figures).toEqual({ ...byRules.figures, ...ofWindows });
        expect(byPolicy.populations).toEqual(
          byRules.populations.map((one) => ({ ...one, figures: { ...one.figures, ...ofWindows } })),
        );
        const refusedBy = byPolicy.refusedBy ?? {};
        const { refusedByOrganization, refusedByUser } = byRules.figures;
        expect((refusedBy["rest"] ?? 0) + (refusedBy["graphql"] ?? 0)).toBe(refusedByOrganization);
        expect((refusedBy["rest_user"] ?? 0) + (refusedBy["graphql_user"] ?? 0)).toBe(refusedByUser);
      }),
      { numRuns: 40 },
    );
  });
});

describe("quotas that rules cannot say", () => {
  test("a bucket admits its capacity, then what comes back", () => {
    const policy = oneQuota({ kind: "token-bucket", capacity: 10, refill: { amount: 1, everyMs: 60_000 } });
    expect(measure(under(once(25), policy))).toMatchObject({
      figures: { admitted: 10, refused: 15, refusedByUser: null },
      refusedBy: { units: 15 },
    });
  });

  test("a cost that is held comes back as far as it was not used", () => {
    const quota = { kind: "fixed-window", limit: 100, windowSeconds: 60 } as const;
    const call = rest("/v1/messages", { method: "POST", cost: 40, actual: 10 });
    const world = defineScenario({
      name: "one-by-one",
      duration: "10s",
      network: { execution: "20ms" },
      populations: { all: { clients: 1, behaviour: poller({ every: "1s", call }) } },
    });
    const held = oneQuota(quota, { charge: { when: "reserve-settle" } }, "declared");
    // 10 each, while 40 must fit: the seventh holds 60 to 100.
    expect(measure(under(world, held)).figures.admitted).toBe(7);
    const paid = oneQuota(quota, {}, "declared");
    expect(measure(under(world, paid)).figures.admitted).toBe(2);
  });

  test("quotas are told apart by their callers, and by the path's attributes", () => {
    const policy = parsePolicy({
      version: 2,
      name: "rooms",
      quotas: {
        room: { algorithm: { kind: "fixed-window", limit: 3, windowSeconds: 60 }, key: ["room"] },
        user: { algorithm: { kind: "fixed-window", limit: 4, windowSeconds: 60 }, key: ["user"] },
      },
      operations: { post: { uses: { room: 1, user: 1 } } },
      routes: [{ methods: ["POST"], path: "/rooms/{room}/messages", operation: "post" }],
    });
    const post = (room: string) => rest(`/rooms/${room}/messages`, { method: "POST", name: room });
    const world = (user: "each" | "shared") =>
      defineScenario({
        name: "chat",
        duration: "2s",
        populations: {
          one: { clients: 2, user, behaviour: burst({ call: post("a"), size: 3 }) },
          other: { clients: 1, behaviour: burst({ call: post("b"), size: 3 }) },
        },
      });
    expect(measure(under(world("each"), policy))).toMatchObject({
      figures: { admitted: 6, refused: 3 },
      refusedBy: { room: 3, user: 0 },
    });
  });

  test("calls of no route, and a status, cost nothing", () => {
    const policy = parsePolicy({
      version: 2,
      name: "some",
      quotas: { units: { algorithm: { kind: "fixed-window", limit: 1, windowSeconds: 60 }, key: ["user"] } },
      operations: { call: { uses: { units: 1 } } },
      routes: [{ path: "/limited/**", operation: "call" }],
    });
    const free = defineScenario({
      name: "free",
      duration: "2s",
      populations: {
        free: { clients: 1, behaviour: burst({ call: rest("/elsewhere"), size: 5 }) },
        watchers: { clients: 1, behaviour: burst({ call: status(), size: 5 }) },
      },
    });
    expect(measure(under(free, policy)).figures).toMatchObject({ calls: 0, refused: 0, statusCalls: 5 });
    expect(adviseScenario(under(free, policy), parseRules({}))).toEqual([
      "free: elsewhere is limited by no quota of some",
      "some limits no call of this scenario: npx spillway init --policy NAME|FILE writes one of a policy's own calls",
    ]);
  });

  test("a call that asks for more than a limit is advised against", () => {
    const policy = oneQuota({ kind: "fixed-window", limit: 5, windowSeconds: 60 }, {}, "declared");
    const scenario = under(once(1, rest("/a", { cost: 6 })), policy);
    expect(adviseScenario(scenario, parseRules({}))).toEqual([
      "all: a costs 6 of units, above its limit of 5: it is refused for ever",
    ]);
  });

  test("clients see what the API shows: no reset of Slack's, a Retry-After", () => {
    const world = (onRefused: ReturnType<typeof retryAfter>) =>
      defineScenario({
        name: "slack",
        duration: "3m",
        populations: {
          bot: {
            clients: 1,
            behaviour: poller({ every: "250ms", call: rest("/api/conversations.list", { method: "POST" }) }),
            onRefused,
          },
        },
      });
    const policy = parsePolicy({
      version: 2,
      name: "quiet",
      quotas: { calls: { algorithm: { kind: "fixed-window", limit: 20, windowSeconds: 60 }, key: ["user"] } },
      operations: { call: { uses: { calls: 1 } } },
      routes: [{ path: "/**", operation: "call" }],
      wire: { revision: "1", readings: [], retryAfter: [{ header: "Retry-After", form: "delta-s" }] },
    });
    const advised = measure(under(world(retryAfter({})), policy)).figures;
    const blind = measure(under(world(waitReset({ of: "both" })), policy)).figures;
    // It waits for the next window, and its call comes through; without a reset it gives up.
    // The last one may wait for it still when the run ends.
    expect(advised.gaveUp).toBeLessThanOrEqual(1);
    expect(blind.gaveUp).toBe(blind.refused);
    expect(blind.refused).toBeGreaterThan(advised.refused ?? 0);
  });
});

describe("a policy beside what it does not go with", () => {
  const policy = preset("github");

  test("a trace of version 1, a fault that it cannot have, a limiter", () => {
    expect(() => simulate(under(once(1), policy))).toThrow(/ask simulateQuotas/);
    const fault = parseFault("reset-disagrees");
    expect(() => measure(under(once(1), policy), { fault })).toThrow(
      /cannot be injected under the policy github/,
    );
    const limiter = { name: "mine" } as never;
    expect(() => measure(under(once(1), policy), { limiter })).toThrow(/a limiter goes with rules/);
  });

  test("costs of REST go with a policy alone", () => {
    expect(() => measure(once(1, rest("/a", { cost: 2 })))).toThrow(/populations.all.a.cost/);
  });
});

describe("plans", () => {
  const scenario = under(once(10), preset("github"));

  test("vary the limits of a policy", () => {
    const paths = placesOf(scenario).map(({ path }) => path);
    expect(paths).toContain("policy.quotas.core.algorithm.limit");
    expect(paths.filter((path) => path.startsWith("rules."))).toEqual([]);
    const changed = changeScenario(scenario, [{ path: "policy.quotas.core.algorithm.limit", value: 4 }]);
    expect(measure(changed)).toMatchObject({ figures: { admitted: 4 }, refusedBy: { core: 6 } });
  });

  test("take all limits times a factor", () => {
    const bucket = oneQuota({ kind: "token-bucket", capacity: 3, refill: { amount: 1, everyMs: 60_000 } });
    const doubled = changeScenario(under(once(10), bucket), [{ path: "limits", value: 2 }]);
    expect(doubled.policy?.quotas["units"]?.algorithm).toMatchObject({ capacity: 6, refill: { amount: 2 } });
    expect(measure(doubled).figures.admitted).toBe(6);
  });
});

describe("an operation that costs 5 of 8", () => {
  const pool = { kind: "token-bucket", capacity: 8, refill: { amount: 1, everyMs: 1000 } } as const;
  const policy = parsePolicy({
    version: 2,
    name: "pool",
    quotas: {
      pool: { algorithm: pool, key: ["user"] },
      day: { algorithm: { kind: "fixed-window", limit: 4, windowSeconds: 86_400 }, key: ["user"] },
    },
    operations: { write: { uses: { pool: 5, day: 1 } } },
    routes: [{ path: "/**", operation: "write" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["user"] },
    wire: {
      revision: "1",
      readings: ["pool", "day"].map((quota) => ({
        quotas: [quota],
        headers: { [`X-${quota}`]: "{limit} {remaining} {reset}" },
        reset: { form: "delta-s", means: quota === "pool" ? "full" : "window-end" },
      })),
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    },
  });

  test("is refused in the trace with the wait that its client was told", () => {
    const calls = [...simulateQuotas(under(once(2), policy)).calls];
    const advised = calls.flatMap(({ outcome, retryAfterMs }) =>
      outcome === "refused" ? [retryAfterMs] : [],
    );
    expect(advised).toEqual([2_000]);
  });

  test("is refused by the same quota in the trace and in figures", () => {
    const scenario = under(once(2), policy);
    const refused = [...simulateQuotas(scenario).calls].filter(({ outcome }) => outcome === "refused");
    expect(refused.map(({ by }) => by)).toEqual(["pool"]);
    expect(measure(scenario).refusedBy).toEqual({ pool: 1, day: 0 });
  });

  // Of 8, 3 are left, and of 4 a day, 3: a client that compared both with 1 would wait for the day's end.
  test.each([undefined, "reset-truncated"])(
    "waits for the one quota that lacks room (fault: %s)",
    (fault) => {
      const behaviour = burst({ call: rest("/a"), size: 2 });
      const onRefused = waitReset({ of: "both" });
      const scenario = defineScenario({
        ...{ name: "twice", duration: "10s" },
        populations: { all: { clients: 1, behaviour, onRefused } },
      });
      const { figures } = measure(
        under(scenario, policy),
        fault === undefined ? {} : { fault: parseFault(fault) },
      );
      expect(figures).toMatchObject({ admitted: 2, refused: 1 });
    },
  );
});
