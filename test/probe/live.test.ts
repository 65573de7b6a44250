// `check --target` without the terminal: a right deployment is not accused, in real time and by a moved clock;
// known bugs are found and made small; and the budget, bans and tokens are kept to.
// @module-tag long
import type { FastifyInstance, InjectOptions } from "fastify";
import { describe, expect, test } from "vitest";
import { NoAnswer } from "../../src/connect/no-answer.ts";
import type { Ask, Got } from "../../src/connect/send.ts";
import { injectFault, parseFault } from "../../src/faults/choice.ts";
import {
  checkLaws,
  type LimiterLawName,
  limiterLawNames,
  renderCounterexample,
} from "../../src/laws/index.ts";
import { LiveCaller, type LiveOptions } from "../../src/probe/live.ts";
import { clockedLimiter, notSeenFromOutside } from "../../src/probe/live-adapter.ts";
import { checkLive, type LiveReport } from "../../src/probe/live-check.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { buildApp } from "../../src/service/app.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";

const startMs = Date.UTC(2026, 0, 2, 3, 2, 17, 300);
const tokens: Token[] = ["ann", "bob", "eve"].map((user) => ({
  token: `secret-of-${user}`,
  user,
  organization: user === "eve" ? "beta" : "acme",
  scopes: tokenScopes,
}));
const small: RulesInput = {
  organization: { rest: { limit: 5, windowSeconds: 6 } },
  user: { rest: { limit: 3, windowSeconds: 4 } },
};

/** The reference service without a socket, right or with a fault, under a clock of its own. */
class Deployment {
  nowMs = startMs;
  readonly asked: Ask[] = [];
  readonly #app: FastifyInstance;

  constructor(input: RulesInput, fault?: string) {
    const rules = parseRules(input);
    const store = fault === undefined ? undefined : injectFault(parseFault(fault), rules, () => 0).store;
    this.#app = buildApp({
      rules,
      tokens,
      now: () => Math.floor(this.nowMs),
      ...(store !== undefined && { store: store as never }),
    });
  }

  readonly now = (): number => Math.floor(this.nowMs);
  readonly sleep = async (ms: number): Promise<void> => {
    this.nowMs += ms;
  };

  /** Takes 2 ms each way; in the same way whoever calls beside it. */
  readonly send = async (ask: Ask): Promise<Got> => {
    this.asked.push(ask);
    const clock = ask.headers?.["x-now"];
    if (clock === undefined) this.nowMs += 2;
    else this.nowMs = Number(clock);
    const { pathname, search } = new URL(ask.url);
    const request: InjectOptions = {
      method: ask.method,
      url: pathname + search,
      headers: { authorization: `Bearer ${ask.token}` },
    };
    const { statusCode, headers, body } = await this.#app.inject(request);
    if (clock === undefined) this.nowMs += 2;
    const sent = Object.entries(headers).map(([name, value]) => [
      name,
      value === undefined ? undefined : String(value),
    ]);
    return { status: statusCode, headers: Object.fromEntries(sent), body };
  };

  caller(options: Partial<LiveOptions> = {}): LiveCaller {
    const budget = { calls: 1_000_000, ms: 1e12 };
    const { now, sleep, send } = this;
    return new LiveCaller({
      base: "http://127.0.0.1:1",
      callers: tokens,
      budget,
      now,
      sleep,
      send,
      ...options,
    });
  }
}

describe("a deployment whose clock is moved by a header", () => {
  /** Six runs of each law show each of the faults below. */
  const check = (input: RulesInput, fault?: string, laws: readonly LimiterLawName[] = limiterLawNames) => {
    const rules = parseRules(input);
    const live = new Deployment(input, fault).caller();
    const limiter = clockedLimiter(live, { name: "live", rules, clockHeader: "x-now", nowMs: startMs });
    const claims = laws.filter((law) => !(notSeenFromOutside as readonly LimiterLawName[]).includes(law));
    return checkLaws({ ...limiter, claims }, { seed: 3, runs: 6, rules });
  };

  test.each<[string, RulesInput]>([
    ["the default switches", small],
    [
      "first-request windows, floor and counted refusals",
      {
        ...small,
        semantics: { anchor: "first-request", reset: "floor", refused: "counted", remaining: "signed" },
      },
    ],
  ])("keeps every law that shows from outside, under %s", async (_, rules) => {
    const report = await check(rules);
    expect(report.laws.flatMap(renderCounterexample).join("\n")).toBe("");
    const judged = report.laws.filter(({ outcome }) => outcome === "no-counterexample").map(({ law }) => law);
    expect(judged).toEqual(
      expect.arrayContaining([
        "conserved",
        "recovers",
        "isolated",
        "never-rolls-back",
        "headers-present",
        "refusal-agrees",
      ]),
    );
  });

  test.each<[string, LimiterLawName]>([
    ["one-extra", "refusal-justified"],
    ["double-count", "conserved"],
    ["narrow-drains-broad", "all-or-nothing"],
    ["lost-expiry", "recovers"],
    ["rearmed-per-hit", "recovers"],
  ])("%s is found, and made a few calls", async (fault, law) => {
    const report = await check(small, fault, [law]);
    const [found] = report.laws.filter(({ outcome }) => outcome === "violated");
    expect(found?.law).toBe(law);
    expect(found?.counterexample?.script.ops.length).toBeLessThanOrEqual(6);
  });
});

describe("a deployment in real time", () => {
  const check = async (
    deployment: Deployment,
    options: { runs?: number; seed?: number; rules?: RulesInput | null; live?: Partial<LiveOptions> } = {},
  ): Promise<LiveReport<Verdict>> => {
    const { runs = 12, seed = 1, rules = small, live = {} } = options;
    return checkLive<Verdict>({
      live: deployment.caller(live),
      target: "http://127.0.0.1:1",
      rules: rules === null ? null : parseRules(rules),
      alone: true,
      runs,
      seed,
      judge,
    });
  };

  test.each([1, 2, 3])("that is right is not accused, seed %i", async (seed) => {
    const report = await check(new Deployment(small), { seed });
    expect(report.counterexample?.verdict.violations[0]?.explanation).toBeUndefined();
    expect(report).toMatchObject({ ok: true, ended: null, runs: 12 });
    const held = Object.entries(report.laws).flatMap(([law, state]) => (state === "held" ? [law] : []));
    expect(held).toEqual(
      expect.arrayContaining(["bounded", "conserved", "reset-agrees", "refusal-justified"]),
    );
  });

  test("its report says on how much each law rests, over all runs", async () => {
    const one = await check(new Deployment(small), { runs: 1 });
    const all = await check(new Deployment(small), { runs: 12 });
    const { readings = 0, windows = 0 } = one.evidence["conserved"] ?? {};
    expect([readings, windows]).toEqual([expect.any(Number), expect.any(Number)]);
    expect(readings).toBeGreaterThan(0);
    expect(all.evidence["conserved"]?.readings).toBeGreaterThan(2 * readings);
    expect(all.evidence["conserved"]?.windows).toBeGreaterThan(2 * windows);
    expect(all.evidence["recovers"]?.resets).toBeGreaterThan(0);
    expect(all.evidence["refusal-justified"]?.refusals).toBeGreaterThan(0);
    expect(all.evidence["snapshot-equals"]).toEqual({ readings: 0, refusals: 0, windows: 0, resets: 0 });
  });

  test("that is right is not accused by one who does not know its rules", async () => {
    expect(await check(new Deployment(small), { rules: null })).toMatchObject({ ok: true, runs: 12 });
  });

  test.each(["one-extra", "double-count", "narrow-drains-broad", "lost-expiry", "reset-in-ms"])(
    "%s is found, with the run's trace",
    async (fault) => {
      const report = await check(new Deployment(small, fault), { runs: 40 });
      expect(report.ok).toBe(false);
      const { lines = [], verdict } = report.counterexample ?? {};
      expect(verdict?.violations[0]?.lines.length).toBeGreaterThan(0);
      expect(lines.length).toBeLessThanOrEqual(20);
    },
  );

  test("the calls that were allowed are not passed", async () => {
    const deployment = new Deployment(small);
    const report = await check(deployment, { runs: 1000, live: { budget: { calls: 30, ms: 1e9 } } });
    expect(deployment.asked).toHaveLength(30);
    expect(report.calls).toBe(30);
    expect(report.ended).toEqual({ why: "budget", reason: "the calls that were allowed are used up" });
  });

  test("the time that was allowed is not passed", async () => {
    const deployment = new Deployment(small);
    const report = await check(deployment, { runs: 1000, live: { budget: { calls: 1e6, ms: 9_000 } } });
    expect(deployment.nowMs - startMs).toBeLessThan(9_010);
    expect(report.ended?.why).toBe("budget");
  });

  const answering = (
    deployment: Deployment,
    got: (call: number) => Got | NoAnswer | null,
  ): Partial<LiveOptions> => {
    let calls = 0;
    return {
      send: async (ask) => {
        calls += 1;
        const other = got(calls);
        if (other instanceof NoAnswer) throw other;
        return other ?? deployment.send(ask);
      },
    };
  };
  const page = (status: number): Got => ({ status, headers: {}, body: "<h1>no</h1>" });

  test.each<[string, (call: number) => Got | NoAnswer | null, string]>([
    [
      "three answers of 503 in a row",
      (call) => (call > 5 ? page(503) : null),
      "3 calls in a row were answered 503",
    ],
    [
      "silence",
      (call) => (call > 5 ? new NoAnswer("timeout", "late") : null),
      "2 calls in a row had no answer (timeout)",
    ],
    ["a token that is no longer taken", (call) => (call > 5 ? page(401) : null), "was answered 401"],
    ["a firewall's 403", (call) => (call > 5 ? page(403) : null), "something that is not the rate limiter"],
    ["a firewall's 429", (call) => (call > 5 ? page(429) : null), "something that is not the rate limiter"],
    ["a redirect", (call) => (call > 5 ? page(302) : null), "was answered 302"],
  ])("%s ends it", async (_, got, reason) => {
    const deployment = new Deployment(small);
    const report = await check(deployment, { live: answering(deployment, got) });
    expect(report.ended?.why).toBe("unwelcome");
    expect(report.ended?.reason).toContain(reason);
    // Up to eight calls are under way together.
    expect(report.calls).toBeLessThanOrEqual(5 + 3 + 8);
  });

  test("an answer 304 ends nothing: it is no redirect", async () => {
    const deployment = new Deployment(small);
    const report = await check(deployment, {
      live: answering(deployment, (call) => (call > 5 ? page(304) : null)),
    });
    expect(report.ended?.reason ?? "").not.toContain("was answered 304");
  });

  test("an interruption ends it, and is told apart", async () => {
    const controller = new AbortController();
    const deployment = new Deployment(small);
    const live = answering(deployment, (call) => {
      if (call === 6) controller.abort();
      return null;
    });
    const report = await check(deployment, { live: { ...live, signal: controller.signal } });
    expect(report.ended?.why).toBe("interrupted");
  });

  test("no token is in what it tells, though the deployment echoes it", async () => {
    const deployment = new Deployment(small, "one-extra");
    const live: Partial<LiveOptions> = {
      send: async (ask) => {
        const got = await deployment.send(ask);
        return {
          ...got,
          headers: { ...got.headers, "ratelimit-warning": ask.token ?? undefined },
          body: got.body + ask.token,
        };
      },
    };
    const report = await check(deployment, { runs: 40, live });
    expect(report.ok).toBe(false);
    expect(JSON.stringify(report)).not.toContain("secret-of");
  });
});
