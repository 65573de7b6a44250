// Limiters that people run, from npm, in the loop: under a clock that is virtual time they keep what they claim, twice
// alike, and a wrong setting of one is found.
import { rateLimit } from "express-rate-limit";
import { Hono } from "hono";
import { rateLimiter } from "hono-rate-limiter";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { describe, expect, test } from "vitest";
import { simulateLimiter } from "../../sim/adapter/simulate-limiter.ts";
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import { fetchLimiter, keyedLimiter, middlewareLimiter } from "../../src/laws/index.ts";
import { claimsInTraces } from "../../src/rules/algorithms.ts";
import { VirtualClock } from "../../src/runs/virtual-clock.ts";
import { defineScenario, pipelinesQuery, rest, waitReset, worker } from "../../src/scenario/index.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { claimedVerdict } from "../../src/verify/claims.ts";
import { judge } from "../../src/verify/judge.ts";

const scenario = defineScenario({
  name: "strangers",
  duration: "45s",
  rules: { user: { rest: { limit: 12, windowSeconds: 10 }, graphql: { limit: 90, windowSeconds: 10 } } },
  network: { latency: { least: 1, most: 40 } },
  populations: {
    agents: {
      clients: 6,
      user: 3,
      startWithin: "7s",
      behaviour: worker({
        calls: [{ call: rest("/v2/user"), weight: 4 }, { call: pipelinesQuery(10) }],
        think: { least: "50ms", most: "900ms" },
      }),
      onRefused: waitReset({ of: "both", fallback: "2s", jitter: { least: 0, most: "500ms" } }),
    },
  },
});

const flexible = (weighted: boolean, more = 0): LimiterFactory =>
  keyedLimiter({
    name: `rate-limiter-flexible${weighted ? ", by points" : ""}`,
    algorithm: "fixed-window",
    refused: "counted",
    weighted,
    create({ limit, windowSeconds }) {
      const limiter = new RateLimiterMemory({ points: limit + more, duration: windowSeconds });
      const shown = ({ consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes) => ({
        limit,
        current: consumedPoints,
        remaining: remainingPoints,
        resetMs: Math.round(msBeforeNext),
      });
      return {
        consume: (key, cost) =>
          limiter.consume(key, cost).then(
            (result) => ({ allowed: true, ...shown(result) }),
            (refusal: RateLimiterRes) => ({ allowed: false, ...shown(refusal) }),
          ),
      };
    },
  });

const strangers: readonly LimiterFactory[] = [
  middlewareLimiter({
    name: "express-rate-limit",
    algorithm: "fixed-window",
    refused: "counted",
    create: ({ limit, windowMs }) =>
      rateLimit({ limit, windowMs, standardHeaders: "draft-7", validate: false }),
  }),
  fetchLimiter({
    name: "hono-rate-limiter",
    algorithm: "fixed-window",
    refused: "counted",
    create({ limit, windowMs }) {
      const app = new Hono();
      const keyGenerator = (c: { req: { header(name: string): string | undefined } }): string =>
        c.req.header("x-key") ?? "";
      app.use(rateLimiter({ limit, windowMs, standardHeaders: "draft-6", keyGenerator }));
      app.get("/", (c) => c.text("welcome"));
      return app;
    },
  }),
  flexible(false),
  flexible(true),
];

/** A run in virtual time, under a clock of its own. */
async function run(factory: LimiterFactory) {
  const clock = new VirtualClock();
  const { header, calls } = simulateLimiter(scenario, factory, {
    clock: { set: (nowMs) => clock.advance(nowMs), during: (code) => clock.yielding(code) },
  });
  const lines = [];
  for await (const call of calls) lines.push({ line: lines.length + 2, call });
  const verdict = claimedVerdict(await judge(header, lines), claimsInTraces(factory));
  return { lines, verdict };
}

describe.each(strangers.map((factory) => [factory.name, factory] as const))("%s", (_, factory) => {
  test("keeps what it claims, over windows that fill and end", async () => {
    const { lines, verdict } = await run(factory);
    expect(verdict.violations).toEqual([]);
    expect(verdict.verdict).toBe("ok");
    const scope = factory.scopes?.[0];
    const limited = lines.filter(({ call }) => call.scope === scope && call.kind === "call");
    expect(limited.filter(({ call }) => call.status === 429).length).toBeGreaterThan(10);
    expect(limited.filter(({ call }) => call.status === 200).length).toBeGreaterThan(30);
    // Calls that it does not limit are let through, and no quota counts them.
    const others = lines.filter(({ call }) => call.scope !== scope);
    expect(others.every(({ call }) => call.kind === "other" && call.status === 200)).toBe(true);
  });

  test("the same run is the same trace", async () => {
    const [first, second] = [await run(factory), await run(factory)];
    expect(second.lines.map(({ call }) => encodeCall(call))).toEqual(
      first.lines.map(({ call }) => encodeCall(call)),
    );
  });
});

test("a limit that is set one too high is found", async () => {
  const { verdict } = await run(flexible(false, 1));
  expect(verdict.verdict).toBe("violated");
  expect(verdict.violations.map(({ law }) => law)).toContain("conserved");
});

test("the process's clock is its own again", async () => {
  const { Date: before, setTimeout: timer } = globalThis;
  await run(flexible(false));
  expect(globalThis.Date).toBe(before);
  expect(globalThis.setTimeout).toBe(timer);
});
