// The laws under policies of other APIs: the engine keeps them, known faults break the right ones, and `check` says so.
// @module-tag long
import { describe, expect, test } from "vitest";
import type { QuotaLimiterFactory } from "../../src/engine/quota-limiter.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { quotaFaultFactory } from "../../src/faults/factory.ts";
import { laws } from "../../src/laws/catalogue.ts";
import { quotaEngine } from "../../src/laws/engine-factory.ts";
import { checkQuotaInterleavings } from "../../src/laws/quotas/interleavings.ts";
import { checkQuotaLaws } from "../../src/laws/quotas/kit.ts";
import { playQuotas } from "../../src/laws/quotas/play.ts";
import type { QuotaScript } from "../../src/laws/quotas/script.ts";
import { unenforceable } from "../../src/policy/as-window.ts";
import { calendarWindow } from "../../src/policy/calendar.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { spillwayHere } from "../support/command.ts";
import { seed } from "../support/seed.ts";

const policyNamed = (name: string) => parsePolicy(presets[name]?.policy);

/** A policy of one quota of the same name, which each call uses. */
const policyOf = (
  name: string,
  quota: { readonly algorithm: object; readonly key?: readonly string[]; readonly charge?: object },
  use: number | "declared" = 1,
) => {
  const { key = ["client"] } = quota;
  return parsePolicy({
    ...{ version: 2, name, quotas: { [name]: { ...quota, key } } },
    operations: { call: { uses: { [name]: use } } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { header: "Authorization", form: "Bearer {token}", attributes: key },
    wire: "openai",
  });
};

describe("the engine keeps every law that a policy implies", () => {
  test.each(["github", "anthropic", "fastify", "stripe"])("%s", async (name) => {
    const { laws, ok } = await checkQuotaLaws(quotaEngine, policyNamed(name), { runs: 5, seed });
    expect(laws.filter(({ outcome }) => outcome === "violated" || outcome === "failed")).toEqual([]);
    expect(ok).toBe(true);
    const judged = laws.filter(({ outcome }) => outcome === "no-counterexample");
    expect(judged.length).toBeGreaterThan(12);
    for (const law of judged) expect(law.judged).toBeGreaterThan(0);
  });
});

test("a bucket that was passed while it was not enforced may show more than its capacity until it is full again", async () => {
  const policy = policyOf("points", {
    algorithm: { kind: "token-bucket", capacity: 1, refill: { amount: 1, everyMs: 1_000 } },
  });
  const caller = { client: "ann" };
  const call = (id: number) =>
    ({ do: "call", atMs: id * 100, id, caller, operation: "call", cost: 1 }) as const;
  const enforce = (atMs: number, enforced: boolean) =>
    ({ do: "enforce", atMs, quota: "points", caller, enforced }) as const;
  const judged = (...ops: QuotaScript["ops"]) =>
    laws.bounded.judge({
      script: { policy, isExact: true, startMs: 0, ops, pick: 0 },
      play: (played) => playQuotas(quotaEngine, policy, played),
    });
  const passed = [call(0), enforce(1, false), call(1), call(2), enforce(201, true), call(3)];
  expect((await judged(...passed)).violation).toBeNull();
  const full = await judged(...passed, call(100), call(101));
  expect(full.violation).toBeNull();
  expect(full.judged).toBeGreaterThan(0);
});

test("what a call gives back at a time that stepped back is no fall of its window", async () => {
  const algorithm = { kind: "fixed-window", limit: 6, windowSeconds: 10, anchor: "first-request" };
  const policy = policyOf("points", { algorithm, charge: { when: "reserve-settle" } }, "declared");
  const call = { do: "call", caller: { client: "ann" }, operation: "call" } as const;
  const ops = [
    { ...call, id: 0, atMs: 1_000, cost: 6 },
    { do: "settle", id: 0, atMs: 999, actual: 4 } as const,
    { ...call, id: 1, atMs: 1_001, cost: 1 },
  ];
  const { violation } = await laws.monotone.judge({
    script: { policy, isExact: true, startMs: 0, ops, pick: 0 },
    play: (played) => playQuotas(quotaEngine, policy, played),
  });
  expect(violation).toBeNull();
});

test.each([
  ["right", 0],
  ["24 hours long on the days on which clocks change", 86_400_000],
])("days that are %s", async (_, lengthMs) => {
  const policy = policyOf("daily", {
    algorithm: { kind: "fixed-window", limit: 2, anchor: { calendar: "day", zone: "Europe/Paris" } },
  });
  const counts = new Map<string, { used: number; until: number }>();
  const factory: QuotaLimiterFactory = {
    ...{ name: "days", limits: "given", claims: "all" },
    create: () => {
      counts.clear();
      return {
        decide({ caller }, nowMs) {
          const key = JSON.stringify(caller);
          const known = counts.get(key);
          const { opensAt, endsAt } = calendarWindow("day", "Europe/Paris", nowMs);
          const fresh = { used: 0, until: lengthMs === 0 ? endsAt : opensAt + lengthMs };
          const count = known !== undefined && nowMs < known.until ? known : fresh;
          counts.set(key, count);
          const admitted = count.used < 2;
          if (admitted) count.used += 1;
          return { admitted, refusedBy: admitted ? null : "daily" };
        },
      };
    },
  };
  const { laws } = await checkQuotaLaws(factory, policy, { seed, laws: ["refusal-justified"] });
  expect(laws.find(({ law }) => law === "refusal-justified")?.outcome).toBe(
    lengthMs === 0 ? "no-counterexample" : "violated",
  );
});

describe("of many overrides and operations, none is left out", () => {
  const count = 12;
  const names = Array.from({ length: count }, (_, n) => `op-${n}`);
  const policy = parsePolicy({
    version: 2,
    name: "many",
    quotas: {
      minute: {
        algorithm: { kind: "fixed-window", limit: 9, windowSeconds: 60, anchor: "epoch" },
        key: ["client"],
      },
    },
    operations: Object.fromEntries(names.map((name) => [name, { uses: { minute: 1 } }])),
    routes: names.map((name) => ({ path: `/${name}`, operation: name })),
    overrides: names.map((client) => ({ match: { client }, quotas: { minute: { limit: 1 } } })),
    auth: { header: "Authorization", form: "Bearer {token}", attributes: ["client"] },
    wire: "openai",
  });
  const accused = async (factory: QuotaLimiterFactory, law: "limit-agrees" | "refusal-justified") => {
    const { laws } = await checkQuotaLaws(factory, policy, { seed: 1, laws: [law] });
    return laws.map(({ outcome }) => outcome);
  };

  test("the last override", async () => {
    const forgets: QuotaLimiterFactory = {
      ...quotaEngine,
      create: (given, seam) =>
        quotaEngine.create({ ...given, overrides: given.overrides.slice(0, count - 1) }, seam),
    };
    expect(await accused(quotaEngine, "limit-agrees")).toEqual(["no-counterexample"]);
    expect(await accused(forgets, "limit-agrees")).toEqual(["violated"]);
  });

  test("the last operation", async () => {
    const free = `op-${count - 1}`;
    const unlimited: QuotaLimiterFactory = {
      ...quotaEngine,
      async create(given, seam) {
        const limiter = await quotaEngine.create(given, seam);
        return {
          ...limiter,
          decide: async (asked, nowMs) => {
            const said = await limiter.decide(asked, nowMs);
            return asked.operation === free ? { ...said, admitted: true } : said;
          },
        };
      },
    };
    expect(await accused(quotaEngine, "refusal-justified")).toEqual(["no-counterexample"]);
    expect(await accused(unlimited, "refusal-justified")).toEqual(["violated"]);
  });
});

describe("calls of the engine that overlap are explained", () => {
  test.each(["github", "anthropic"])("%s", async (name) => {
    const later: typeof quotaEngine = {
      ...quotaEngine,
      async create(policy, seam) {
        const limiter = await quotaEngine.create(policy, seam);
        const decide: typeof limiter.decide = async (call, nowMs) => limiter.decide(call, nowMs);
        return { ...limiter, decide };
      },
    };
    const report = await checkQuotaInterleavings(later, policyNamed(name), { runs: 15, seed: 3 });
    expect(report).toMatchObject({ outcome: "no-counterexample", ok: true });
    expect(report.overlapped).toBeGreaterThan(10);
  });
});

describe("faults break the laws that name them", () => {
  test.each([
    ["one-short", "refusal-justified"],
    ["one-extra", "bounded"],
    ["cost-ignored", "conserved"],
    ["refused-counted", "all-or-nothing"],
    ["status-charged", "status-free"],
    ["wrong-user-key", "isolated"],
    ["boundary-inclusive", "reset-agrees"],
    ["refusal-names-user", "refusal-agrees"],
    ["headers-missing-on-429", "headers-present"],
    ["double-roll", "monotone"],
    ["double-roll", "never-rolls-back"],
    ["one-short", "recovers"],
    ["one-short", "honest-wait"],
    ["one-extra", "twice-at-most"],
    ["refused-counted", "give-back"],
    // By buckets.
    ["one-extra", "rate-bound", "anthropic"],
    ["one-short", "honest-wait", "anthropic"],
    ["refused-counted", "give-back", "anthropic"],
    ["cost-ignored", "recovers", "anthropic"],
  ] as const)("%s: %s", async (fault, law, policy: string = "github") => {
    const { laws } = await checkQuotaLaws(quotaFaultFactory(parseFault(fault), 1), policyNamed(policy), {
      runs: 60,
      seed: 5,
      laws: [law],
    });
    expect(laws).toMatchObject([{ law, outcome: "violated" }]);
    expect(laws[0]?.counterexample?.script.ops.length).toBeLessThan(12);
  });
});

describe("spillway check --policy", () => {
  test("names the law, the quota, and the line that repeats it", async () => {
    const words = ["--law", "bounded", "--runs", "30", "--seed", "1"];
    const { code, stdout } = await spillwayHere([
      ...["check", "--policy", "github", "--fault", "one-extra"],
      ...words,
    ]);
    expect(stdout).toContain("under the policy github, seed 1, 30 runs a law");
    expect(stdout).toContain("bounded is violated: while enforced, 0 <= used <= limit");
    expect(stdout).toMatch(/rule: core of user-1: \d+ per 3600 s/);
    const [, repeat = ""] = /repeat: npx spillway (.+)/.exec(stdout) ?? [];
    expect(repeat).toContain("--policy github");
    expect(code).toBe(1);
    const again = await spillwayHere(repeat.split(" "));
    expect(again.stdout).toContain("bounded is violated");
    expect(again.code).toBe(1);
  });

  test("says what checks a deployment", async () => {
    const words = ["check", "--policy", "github", "--target", "http://127.0.0.1:1"];
    const { code, stderr } = await spillwayHere(words);
    expect(stderr).toContain("error USAGE");
    expect(stderr).toContain("spillway audit --target http://127.0.0.1:1");
    expect(code).toBe(2);
  });

  test("asks for windows where the engine lacks a quota's kind", async () => {
    const sliding = Object.keys(presets).find((name) => unenforceable(policyNamed(name)).length > 0);
    expect(sliding).toBeDefined();
    const { code, stderr } = await spillwayHere(["check", "--policy", `${sliding}`, "--runs", "1"]);
    expect(stderr).toContain("POLICY_UNSERVABLE");
    expect(code).toBe(2);
  });
});

describe("callers are told apart", () => {
  const policy = policyOf("minute", {
    algorithm: { kind: "fixed-window", limit: 2, windowSeconds: 60, anchor: "epoch" },
    key: ["team", "model"],
  });
  const mixesUp = (mixed: (team: string, model: string) => string): QuotaLimiterFactory => ({
    ...quotaEngine,
    async create(given, seam) {
      const limiter = await quotaEngine.create(given, seam);
      return {
        decide: ({ caller, ...call }, nowMs) => {
          const { team = "", model = "" } = caller;
          return limiter.decide({ ...call, caller: { team: mixed(team, model), model: "" } }, nowMs);
        },
      };
    },
  });

  test.each([
    ["right", (team: string, model: string) => `${team}/${model}`, "no-counterexample"],
    ["case", (team: string, model: string) => `${team}/${model}`.toLowerCase(), "violated"],
    ["joined", (team: string, model: string) => team + model, "violated"],
    ["joined by a hyphen", (team: string, model: string) => `${team}-${model}`, "violated"],
  ] as const)("%s", async (_, mixed, outcome) => {
    const { laws } = await checkQuotaLaws(mixesUp(mixed), policy, { seed: 1, laws: ["isolated"], runs: 200 });
    expect(laws.map((law) => law.outcome)).toEqual([outcome]);
  });
});
