// The adapters for other people's limiters: each docstring's example as it stands, real packages behind each
// kind of HTTP, and a bug of each kind that is found through it.
// @module-tag long
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fastifyRateLimit from "@fastify/rate-limit";
import { transform } from "esbuild";
import expressRateLimit from "express-rate-limit";
import fastify from "fastify";
import { Hono } from "hono";
import { rateLimiter } from "hono-rate-limiter";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as kit from "../../src/laws/index.ts";
import {
  type CheckReport,
  checkLaws,
  fetchLimiter,
  keyedLimiter,
  type LimiterLawName,
  middlewareLimiter,
  readRateLimitHeaders,
  renderCounterexample,
  storeLimiter,
} from "../../src/laws/index.ts";
import { entry } from "./expectations.ts";

const seed = 11;

/** The one clock of all limiters here. */
const clock = {
  now: (): number => Date.now(),
  set: (nowMs: number): void => {
    vi.setSystemTime(nowMs);
  },
};
beforeAll(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterAll(() => {
  vi.useRealTimers();
});

function expectNone(report: CheckReport, judged: readonly LimiterLawName[]): void {
  const text = report.laws.flatMap(renderCounterexample).join("\n");
  expect(text, text).toBe("");
  for (const law of judged) expect([law, entry(report, law).outcome]).toEqual([law, "no-counterexample"]);
}

/** Returns the laws that a limiter breaks. */
const broken = ({ laws }: CheckReport): LimiterLawName[] =>
  laws.flatMap(({ law, outcome }) => (outcome === "violated" ? [law] : []));

/** The examples of a file, by the function that they stand above. */
function examplesOf(file: string): [string, string][] {
  const text = readFileSync(fileURLToPath(new URL(`../../src/laws/${file}`, import.meta.url)), "utf8");
  return [
    ...text.matchAll(
      / \* @example\n([\s\S]*?) \*(?: @throws[^\n]*\n \*)?\/\nexport (?:async )?function (\w+)/g,
    ),
  ].map(([, block = "", name = ""]) => [name, block.replace(/^ \* ?/gm, "")]);
}

/** Checks in fewer runs than an example asks for: a bug of each kind shows in the first ones. */
const shortly: typeof checkLaws = (factory, options) => checkLaws(factory, { ...options, runs: 4 });

describe("the example of", () => {
  const examples = ["keyed.ts", "store-limiter.ts", "http-limiter.ts"].flatMap(examplesOf);

  test("each adapter is found", () => {
    expect(examples.map(([name]) => name)).toEqual([
      "keyedLimiter",
      "storeLimiter",
      "fetchLimiter",
      "injectLimiter",
      "middlewareLimiter",
    ]);
  });

  test.each(examples)("%s keeps the laws that it claims", async (_, example) => {
    const scope = { ...kit, checkLaws: shortly, clock, fastify, rateLimit: rateLimitOf(example) };
    const { code } = await transform(`async function example() {${example}\nreturn report;}`, {
      loader: "ts",
    });
    const run = new Function(...Object.keys(scope), `${code}\nreturn example();`);
    const report: CheckReport = await run(...Object.values(scope));
    expectNone(report, ["refusal-justified", "recovers", "isolated"]);
  });
});

test("an application takes a turn of the event loop before the next one: memory is let go of only then", async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (turns < 1000) setImmediate(count);
  };
  setImmediate(count);
  let made = 0;
  const limiter = kit.injectLimiter({
    name: "an application that answers at once",
    algorithm: "unknown",
    create() {
      made += 1;
      return { inject: async () => ({ statusCode: 200, headers: {} }) };
    },
  });
  await checkLaws(limiter, { seed, runs: 5, laws: ["isolated"] });
  expect(made).toBeGreaterThanOrEqual(10);
  expect(turns).toBeGreaterThanOrEqual(made - 2);
});

test("the example of describeLimiter registers cases that pass", async () => {
  const [[, example = ""] = []] = examplesOf("describe-limiter.ts");
  const bodies: ((context: { skip(why: string): void }) => Promise<void>)[] = [];
  const register = (_name: string, body: () => Promise<void>): number => bodies.push(body);
  const { code } = await transform(example, { loader: "ts" });
  const describeShortly: typeof kit.describeLimiter = (test, limiter, options) =>
    kit.describeLimiter(test, limiter, { ...options, runs: 20 });
  new Function("test", "keyedLimiter", "describeLimiter", code)(register, keyedLimiter, describeShortly);
  expect(bodies).toHaveLength(kit.keyedLaws({ algorithm: "fixed-window" }).length);
  // Each law of the example judges something: none skips itself.
  const skipped: string[] = [];
  for (const body of bodies) await body({ skip: (why) => skipped.push(why) });
  expect(skipped).toEqual([]);
});

test("the example of checkInterleavings finds what it shows", async () => {
  const [[, example = ""] = []] = examplesOf("interleavings.ts");
  const { code } = await transform(`async function example() {${example}\nreturn report;}`, { loader: "ts" });
  const said: string[] = [];
  const scope = { ...kit, console: { log: (text: string) => said.push(text) } };
  const report = await new Function(...Object.keys(scope), `${code}\nreturn example();`)(
    ...Object.values(scope),
  );
  expect(report.outcome).toBe("violated");
  expect(said.join()).toContain("2 calls overlap");
});

const rateLimitOf = (example: string): unknown =>
  example.includes("fastify") ? fastifyRateLimit : expressRateLimit;

describe("a limiter in a function", () => {
  type Bug = "none" | "costs 1" | "shared" | "peek counts" | "never ends";
  const windows = (bug: Bug, weighted: boolean) =>
    keyedLimiter({
      name: bug,
      algorithm: "fixed-window",
      weighted,
      create({ limit, windowMs }) {
        const kept = new Map<string, { count: number; resetAt: number }>();
        const at = (key: string, nowMs: number) => {
          const known = kept.get(bug === "shared" ? "all" : key);
          if (known !== undefined && (known.resetAt > nowMs || bug === "never ends")) return known;
          const fresh = { count: 0, resetAt: nowMs + windowMs };
          return fresh;
        };
        return {
          consume(key, cost, nowMs) {
            const window = at(key, nowMs);
            const charge = bug === "costs 1" ? 1 : cost;
            const allowed = window.count + charge <= limit;
            if (allowed) {
              window.count += charge;
              kept.set(bug === "shared" ? "all" : key, window);
            }
            const remaining = limit - window.count;
            return { allowed, limit, remaining, resetAt: new Date(window.resetAt) };
          },
          peek(key, nowMs) {
            const window = at(key, nowMs);
            if (bug === "peek counts") window.count += 1;
            return { current: window.count, remaining: Math.max(0, limit - window.count) };
          },
        };
      },
    });

  test.each([true, false])("keeps what it claims, weighted: %s", async (weighted) => {
    // Each bug below shows in the first runs of its law.
    const report = await checkLaws(windows("none", weighted), { seed, runs: 10 });
    expectNone(report, kit.keyedLaws({ algorithm: "fixed-window" }));
  });

  test.each<[Bug, boolean, LimiterLawName]>([
    ["costs 1", true, "conserved"],
    ["shared", false, "isolated"],
    ["peek counts", false, "status-free"],
    ["never ends", false, "recovers"],
  ])("%s is found", async (bug, weighted, law) => {
    const report = await checkLaws(windows(bug, weighted), { seed, laws: [law] });
    expect(broken(report)).toEqual([law]);
    expect(entry(report, law).counterexample?.script.ops.length).toBeLessThanOrEqual(4);
  });

  test("a bare yes or no is judged by that", async () => {
    const oneShort = keyedLimiter({
      name: "one short",
      algorithm: "fixed-window",
      anchor: "epoch",
      create({ limit, windowMs }) {
        const counts = new Map<string, number>();
        return {
          consume(key, _cost, nowMs) {
            const window = `${key} ${Math.floor(nowMs / windowMs)}`;
            counts.set(window, (counts.get(window) ?? 0) + 1);
            return Number(counts.get(window)) < limit;
          },
        };
      },
    });
    const report = await checkLaws(oneShort, { seed, laws: ["refusal-justified", "conserved"] });
    expect(broken(report)).toEqual(["refusal-justified"]);
    expect(entry(report, "conserved").outcome).toBe("not-observed");
  });

  test.each([
    ["a string", () => "yes" as never, 'the answer = "yes"'],
    ["no verdict", () => ({ remaining: 3 }) as never, "allowed = nothing"],
    ["half a point", () => ({ allowed: true, remaining: 0.5 }), "remaining = 0.5"],
    ["a date of nowhere", () => ({ allowed: true, resetAt: new Date("soon") }), "resetAt = NaN"],
  ])("%s is named", async (_, consume, got) => {
    const factory = keyedLimiter({
      name: "nonsense",
      algorithm: "fixed-window",
      create: () => ({ consume }),
    });
    const law = entry(await checkLaws(factory, { seed, runs: 5, laws: ["isolated"] }), "isolated");
    expect(law.failure?.got).toContain(got);
  });

  test("a reset in seconds since the epoch is named", async () => {
    const factory = keyedLimiter({
      ...{ name: "seconds", algorithm: "fixed-window", anchor: "epoch" },
      create: ({ windowMs }) => ({
        consume: (_key, _cost, nowMs) => ({
          allowed: true,
          resetAt: ((Math.floor(nowMs / windowMs) + 1) * windowMs) / 1000,
        }),
      }),
    });
    const law = entry(await checkLaws(factory, { seed, runs: 5, laws: ["reset-agrees"] }), "reset-agrees");
    expect(law.counterexample?.violation).toMatchObject({
      got: expect.stringMatching(/^reset_at 17672\d{5} since the epoch$/),
      arithmetic: "it fits in seconds since the epoch, and ms are expected",
    });
  });

  test("given rules are made rules by key", async () => {
    const rules = { user: { rest: { limit: 2, windowSeconds: 5 } } };
    const settings = new Set<string>();
    const factory = keyedLimiter({
      name: "told",
      algorithm: "fixed-window",
      claims: ["isolated"],
      create(told) {
        settings.add(JSON.stringify(told));
        return { consume: () => true };
      },
    });
    await checkLaws(factory, { seed, runs: 5, rules });
    expect([...settings]).toEqual(['{"limit":2,"windowSeconds":5,"windowMs":5000}']);
  });
});

describe("given rules that contradict the limiter", () => {
  const create = () => ({ consume: () => true });
  const error = (kind: Partial<kit.KeyedKind>, rules: kit.RulesInput): Promise<unknown> =>
    checkLaws(keyedLimiter({ name: "mine", algorithm: "fixed-window", ...kind, create }), {
      seed,
      runs: 1,
      rules,
    });

  test("are an error that names both, and change nothing", async () => {
    await expect(error({}, kit.parseRules({}))).rejects.toMatchObject({
      code: "RULES_INVALID",
      problems: [
        {
          path: "semantics.anchor",
          got: '"epoch" in the rules',
          allowed: '"first-request", as the limiter says',
        },
      ],
    });
  });

  test("by windows that its algorithm does not have, too", async () => {
    await expect(
      error({ algorithm: "token-bucket" }, { semantics: { anchor: "epoch" } }),
    ).rejects.toMatchObject({
      problems: [
        {
          got: '"epoch" in the rules',
          allowed: 'none: what the limiter counts is "token-bucket", which has no windows',
        },
      ],
    });
  });

  test("are none where they say the same, or nothing of it", async () => {
    await error({ anchor: "epoch" }, { semantics: { anchor: "epoch" } });
    await error({ refused: "counted" }, { user: { rest: { limit: 1 } } });
  });
});

describe("a store", () => {
  test("that outlives a limiter starts each key afresh", async () => {
    const hits = new Map<string, { count: number; resetTime: number }>();
    const factory = (reset: boolean) =>
      storeLimiter({
        name: "one for all",
        create: ({ windowMs }) => ({
          increment(key, nowMs) {
            const hit = hits.get(key);
            if (hit === undefined || hit.resetTime <= nowMs)
              hits.set(key, { count: 0, resetTime: nowMs + windowMs });
            const now = hits.get(key) ?? { count: 0, resetTime: 0 };
            now.count += 1;
            return { ...now };
          },
          get: (key, nowMs) => {
            const hit = hits.get(key);
            return hit === undefined || hit.resetTime <= nowMs ? null : { ...hit };
          },
          ...(reset && { reset: (key: string) => hits.delete(key) }),
        }),
      });
    expectNone(await checkLaws(factory(true), { seed, runs: 10 }), ["conserved", "recovers", "status-free"]);
    // Without that it is named, and not accused.
    await expect(checkLaws(factory(false), { seed, runs: 10 })).rejects.toMatchObject({
      code: "ADAPTER_INVALID",
      problems: [{ path: "create" }],
    });
  });
});

describe("real packages behind HTTP", () => {
  test("hono-rate-limiter, through app.fetch", async () => {
    const factory = fetchLimiter({
      name: "hono-rate-limiter",
      algorithm: "fixed-window",
      refused: "counted",
      create({ limit, windowMs }) {
        const app = new Hono();
        app.use(rateLimiter({ limit, windowMs, keyGenerator: (c) => c.req.header("x-key") ?? "" }));
        app.get("/", (c) => c.text("welcome"));
        return app;
      },
      setNow: clock.set,
    });
    expectNone(await checkLaws(factory, { seed, runs: 5 }), [
      "refusal-justified",
      "isolated",
      "recovers",
      "monotone",
    ]);
  });

  test.each(["draft-6", "draft-7", "draft-8"] as const)(
    "express-rate-limit with headers of %s",
    async (draft) => {
      const factory = middlewareLimiter({
        name: draft,
        algorithm: "fixed-window",
        refused: "counted",
        create: ({ limit, windowMs }) =>
          expressRateLimit({ limit, windowMs, standardHeaders: draft, legacyHeaders: false }),
        setNow: clock.set,
      });
      expectNone(await checkLaws(factory, { seed, runs: 5 }), [
        "conserved",
        "refusal-justified",
        "reset-agrees",
        "recovers",
        "limit-agrees",
      ]);
    },
  );

  test("handlers and middleware are closed as often as they are made", async () => {
    const open = { handlers: 0, middleware: 0 };
    const laws = ["isolated"] as const;
    const handler = fetchLimiter({
      name: "handler",
      algorithm: "fixed-window",
      create() {
        open.handlers += 1;
        return { fetch: () => new Response("welcome"), close: () => (open.handlers -= 1) };
      },
    });
    const middleware = middlewareLimiter({
      name: "middleware",
      algorithm: "fixed-window",
      create() {
        open.middleware += 1;
        return {
          middleware: (_request, _response, next) => next(),
          close: async () => (open.middleware -= 1),
        };
      },
    });
    expect((await checkLaws(handler, { seed, runs: 3, laws })).ok).toBe(true);
    expect((await checkLaws(middleware, { seed, runs: 3, laws })).ok).toBe(true);
    expect(open).toEqual({ handlers: 0, middleware: 0 });
  });

  test("an answer of 500 is a limiter that failed", async () => {
    const factory = fetchLimiter({
      name: "down",
      algorithm: "fixed-window",
      create: () => () => new Response("", { status: 503 }),
    });
    const { failure } = entry(await checkLaws(factory, { seed, runs: 5, laws: ["recovers"] }), "recovers");
    expect(failure?.got).toBe("Error: the answer has status 503");
  });

  test("what middleware passes to next, or uses and is not there, is named", async () => {
    const failing = (create: kit.MiddlewareOptions["create"]) =>
      checkLaws(middlewareLimiter({ name: "failing", algorithm: "fixed-window", create }), {
        seed,
        runs: 5,
        laws: ["recovers"],
      });
    const passed = await failing(() => (_request, _response, next) => next(new Error("no redis")));
    expect(entry(passed, "recovers").failure?.got).toBe("Error: no redis");
    const absent = await failing(() => (_request: never, response: { render(): void }) => response.render());
    expect(entry(absent, "recovers").failure?.got).toBe("TypeError: response.render is not a function");
  });
});

describe("headers of every dialect", () => {
  const nowMs = 1_767_225_600_000;
  const second = nowMs / 1000;
  const read = (headers: Record<string, string | number>, status = 200, at = nowMs) => {
    const { limit, remaining, reset, resetAt } = readRateLimitHeaders({ status, headers }, at);
    return [limit, remaining, reset, resetAt];
  };
  const none = undefined;

  test.each<[string, Record<string, string | number>, unknown[]]>([
    [
      "the draft's three",
      { "RateLimit-Limit": 5, "ratelimit-remaining": "4", "RateLimit-Reset": 9 },
      [5, 4, 9, none],
    ],
    [
      "a limit with its policies",
      { "RateLimit-Limit": "5, 5;w=60", "RateLimit-Remaining": "4" },
      [5, 4, none, none],
    ],
    ["combined", { RateLimit: "limit=5, remaining=4, reset=9" }, [5, 4, 9, none]],
    [
      "combined with a policy",
      { RateLimit: '"a";r=4;t=9', "RateLimit-Policy": '"a";q=5;w=60' },
      [5, 4, 9, none],
    ],
    [
      "combined with its own of two policies",
      { RateLimit: '"a";r=4;t=9', "RateLimit-Policy": '"day";q=900;w=86400, "a";q=5;w=60' },
      [5, 4, 9, none],
    ],
    ["combined of two policies", { RateLimit: '"a";r=4;t=9, "b";r=1;t=2' }, [none, none, none, none]],
    [
      "X-RateLimit, seconds of the epoch",
      { "X-RateLimit-Remaining": 4, "X-RateLimit-Reset": second + 9 },
      [none, 4, 9, none],
    ],
    [
      "X-Rate-Limit, ms of the epoch",
      { "X-Rate-Limit-Limit": 5, "X-Rate-Limit-Reset": nowMs + 1 },
      [5, none, none, nowMs + 1],
    ],
    ["a date", { "X-RateLimit-Limit": 5, "X-RateLimit-Reset": "2026-01-01T00:00:09Z" }, [5, none, 9, none]],
    [
      "a date with ms",
      { "X-RateLimit-Limit": 5, "X-RateLimit-Reset": "2026-01-01T00:00:09.250Z" },
      [5, none, none, nowMs + 9250],
    ],
    ["no integer", { "X-RateLimit-Limit": "5, 5", "X-RateLimit-Remaining": "many" }, [5, none, none, none]],
    ["none", { "Content-Type": "text/plain" }, [none, none, none, none]],
  ])("%s", (_, headers, expected) => {
    expect(read(headers)).toEqual(expected);
  });

  test("a second of the epoch says nothing certain between whole seconds", () => {
    expect(read({ "X-RateLimit-Limit": 5, "X-RateLimit-Reset": second + 9 }, 200, nowMs + 1)).toEqual([
      5,
      none,
      none,
      none,
    ]);
  });
});
