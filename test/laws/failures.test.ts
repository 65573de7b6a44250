// Limiters that misbehave: the report names the call at which each failed, its script is made small, and no
// check hangs.
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { playCalls } from "../../src/laws/history.ts";
import {
  type CheckReport,
  checkLaws,
  engineFactory,
  type Failure,
  keyedLimiter,
  type LawReport,
  type LimiterAdapter,
  type LimiterFactory,
  type LimiterLawName,
  limiterLawNames,
  parseRules,
  renderCounterexample,
} from "../../src/laws/index.ts";
import { entry, expectKept } from "./expectations.ts";
import { TinyLimiter, tinyFactory } from "./tiny-limiter.ts";

const seed = 5;
const timers = { setTimeout, clearTimeout };

const limiter = (decide: LimiterAdapter["decide"], more: Partial<LimiterAdapter> = {}): LimiterFactory => ({
  name: "mine",
  algorithm: "fixed-window",
  claims: "all",
  create: () => ({ decide, ...more }),
});

const check = (factory: LimiterFactory, ...laws: LimiterLawName[]): Promise<CheckReport> =>
  checkLaws(factory, {
    seed,
    runs: 30,
    laws: laws.length === 0 ? limiterLawNames : laws,
    repeatWith: ["--adapter mine.ts"],
    timers,
    answerMsMost: 100,
  });

function failureOf({ outcome, failure }: LawReport): Failure {
  expect(outcome).toBe("failed");
  if (failure === undefined) throw new Error("a failure was expected");
  return failure;
}

const bounded = async (factory: LimiterFactory): Promise<Failure> =>
  failureOf(entry(await check(factory, "bounded"), "bounded"));

describe("a limiter that throws", () => {
  const thrower = limiter((call) => {
    if (call.scope === "graphql") throw new TypeError("points is undefined");
    return { admitted: true };
  });

  test("is reported by the call, made small, and how to repeat it", async () => {
    const report = await check(thrower, "bounded");
    expect(report.ok).toBe(false);
    const law = entry(report, "bounded");
    const { call, got, script, history } = failureOf(law);
    expect(call).toMatch(
      /^decide\(\{"organization":"acme","user":"ann","scope":"graphql","cost":1\}, \d+\)$/,
    );
    expect(got).toBe("TypeError: points is undefined");
    expect(script.ops).toHaveLength(1);
    expect(history).toEqual([]);
    expect(law.repeat).toMatch(
      /^npx spillway check --law bounded --seed 5 --path [\d:]+ --adapter mine\.ts$/,
    );
  });

  test("is shown as a timeline that ends with that call", async () => {
    const late = limiter((call) => {
      if (call.cost > 1) throw new Error("no store");
      return { admitted: true };
    });
    const lines = renderCounterexample(entry(await check(late, "conserved"), "conserved"));
    expect(lines[0]).toBe("conserved cannot be judged: the limiter failed");
    expect(lines.join("\n")).toMatch(
      /\+0\.000 s {2}decide\(.*\n +\^ got +Error: no store\n +at +.*failures\.test\.ts:\d+\n +expected an answer/,
    );
    expect(lines.at(-1)).toMatch(/^repeat: npx spillway check --law conserved/);
  });

  test("fails each law for itself: those whose scripts it can answer are judged", async () => {
    const settles = limiter(() => ({ admitted: true }), {
      snapshot: () => {
        throw new Error("read-only");
      },
    });
    const report = await check({ ...settles, restore: () => ({ decide: () => ({ admitted: true }) }) });
    const failed = report.laws.filter(({ outcome }) => outcome === "failed").map(({ law }) => law);
    expect(failed).toEqual(["snapshot-equals"]);
    expect(failureOf(entry(report, "snapshot-equals")).call).toBe("snapshot()");
  });

  test.each<[string, Partial<LimiterAdapter>, RegExp]>([
    ["setNow", { setNow: () => Promise.reject(new Error("no clock")) }, /^setNow\(\d+\)$/],
    ["status", { status: () => Promise.reject(new Error("no clock")) }, /^status\("\w+", \d+\)$/],
    ["sweep", { sweep: () => Promise.reject(new Error("no clock")) }, /^sweep\(\d+\)$/],
  ])("%s is named, too", async (_, more, call) => {
    const failure = await bounded(limiter(() => ({ admitted: true }), more));
    expect(failure.call).toMatch(call);
    expect(failure.got).toBe("Error: no clock");
  });
});

describe("a limiter that answers nonsense", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;

  test.each<[string, LimiterAdapter["decide"], string]>([
    ["nothing", () => undefined as never, "the decision = nothing"],
    ["a word", () => "yes" as never, 'the decision = "yes"'],
    ["no verdict", () => ({}) as never, "admitted = nothing"],
    ["a string", () => ({ admitted: true, user: { current: "5" } }) as never, 'user.current = "5"'],
    ["a big integer", () => ({ admitted: true, user: { current: 5n } }) as never, "user.current = 5"],
    [
      "half a request",
      () => ({ admitted: true, organization: { remaining: 0.5 } }),
      "organization.remaining = 0.5",
    ],
    ["not a number", () => ({ admitted: true, user: { reset: Number.NaN } }), "user.reset = NaN"],
    ["a stranger", () => ({ admitted: false, refusedBy: "proxy" }) as never, 'refusedBy = "proxy"'],
    ["a rejection", () => Promise.reject(new Error("connection lost")), "Error: connection lost"],
    ["a rejection of nothing", () => Promise.reject(), "a throw of nothing"],
  ])("%s is named", async (_, decide, got) => {
    expect((await bounded(limiter(decide))).got).toBe(got);
  });

  test("a reservation that is no plain JSON is named", async () => {
    const failure = await bounded(limiter(() => ({ admitted: true, reservation: circular })));
    expect(failure.got).toMatch(/^the reservation: TypeError: Converting circular structure/);
    expect(failure.allowed).toBe("plain JSON");
  });

  test("an answer whose members throw is named", async () => {
    const failure = await bounded(
      limiter(() => ({
        get admitted(): boolean {
          throw new Error("disposed");
        },
      })),
    );
    expect(failure.got).toBe("an answer that throws Error: disposed");
  });

  test("negative numbers are no nonsense, but a law that is broken", async () => {
    const report = await check(
      limiter(() => ({ admitted: true, user: { current: -1 } })),
      "bounded",
    );
    expect(entry(report, "bounded").outcome).toBe("violated");
  });
});

describe("a limiter that never answers", () => {
  test("is given up, made small in bounded time, and the laws after it are not run", async () => {
    let asked = 0;
    const hangs = limiter(({ cost }) => {
      asked += 1;
      return cost > 1 ? new Promise(() => {}) : { admitted: true };
    });
    const report = await check(hangs);
    const { call, got, hung, script } = failureOf(entry(report, "bounded"));
    expect(hung).toBe(true);
    expect(call).toMatch(/^decide\(/);
    expect(got).toBe("TimeoutError: no answer within 0.1 s");
    expect(script.ops.length).toBeLessThanOrEqual(3);
    const rest = report.laws.filter(({ law }) => law !== "bounded").map(({ outcome }) => outcome);
    expect(new Set(rest)).toEqual(new Set(["not-run"]));
    expect(report).toMatchObject({ ok: false, interrupted: false });
    expect(asked).toBeLessThan(500);
  });

  test("is named while it is made, and then no law is checked", async () => {
    const never: LimiterFactory = {
      name: "mine",
      algorithm: "fixed-window",
      claims: "all",
      create: () => new Promise(() => {}),
    };
    await expect(check(never)).rejects.toMatchObject({
      code: "ADAPTER_INVALID",
      problems: [{ got: "TimeoutError: no answer within 0.1 s" }],
    });
  });

  test("one that is slow is judged like any other", async () => {
    const slow: LimiterFactory = {
      ...tinyFactory("slow"),
      create(rules) {
        const tiny = new TinyLimiter(rules);
        return {
          async decide(call, nowMs) {
            await wait(1);
            return tiny.decide(call, nowMs);
          },
        };
      },
    };
    const semantics = { ...slow.semantics, graphqlCharge: ["prepaid"] as const };
    const report = await checkLaws({ ...slow, semantics }, { seed, runs: 8, laws: ["conserved"], timers });
    expect(entry(report, "conserved").outcome).toBe("no-counterexample");
  });
});

describe("a limiter that changes what is not its own", () => {
  test("the call that it was given is frozen: the change is named", async () => {
    const failure = await bounded(
      limiter((call) => {
        Object.assign(call, { cost: 0 });
        return { admitted: true };
      }),
    );
    expect(failure.call).toMatch(/^decide\(/);
    expect(failure.got).toMatch(/^TypeError: Cannot assign to read only property 'cost'/);
  });

  test("the rules that it was made with are a copy: the laws go by those that were drawn", async () => {
    const unruly: LimiterFactory = {
      ...tinyFactory("unruly"),
      create(rules) {
        const tiny = new TinyLimiter(rules);
        tiny.decide = (call, nowMs) => {
          Object.assign(rules.user.rest, { limit: 1_000 });
          Object.assign(rules.organization.rest, { limit: 1_000 });
          return TinyLimiter.prototype.decide.call(tiny, call, nowMs);
        };
        return tiny;
      },
    };
    expect(entry(await check(unruly, "limit-agrees"), "limit-agrees").outcome).toBe("violated");
  });

  test("the answer that it gave is kept as it was given", async () => {
    const reused: LimiterFactory = {
      ...tinyFactory("reused"),
      create(rules) {
        const tiny = new TinyLimiter(rules);
        const answer = { admitted: true };
        const { decide } = tiny;
        tiny.decide = (call, nowMs) => Object.assign(answer, decide.call(tiny, call, nowMs));
        return tiny;
      },
    };
    const report = await check(reused);
    expectKept(report);
  });
});

test("a limiter that cannot be made is named before any law", async () => {
  const bare: LimiterFactory = {
    name: "mine",
    algorithm: "fixed-window",
    claims: "all",
    create: () => ({}) as never,
  };
  await expect(check(bare)).rejects.toMatchObject({
    code: "ADAPTER_INVALID",
    problems: [{ path: "create(rules)", got: "{}", allowed: "a limiter with `decide`" }],
  });
});

describe("a limiter by key that does not start afresh", () => {
  const counts = new Map<string, number>();
  const consume = (key: string) => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return { allowed: true, remaining: 9 - (counts.get(key) ?? 0) };
  };
  const factory = (create: () => void) =>
    keyedLimiter({
      name: "mine",
      algorithm: "unknown",
      create: () => {
        create();
        return { consume };
      },
    });

  test("is named before any law", async () => {
    await expect(check(factory(() => {}))).rejects.toMatchObject({
      code: "ADAPTER_INVALID",
      problems: [
        {
          path: "create",
          got: "the first call is told admitted, remaining 7",
          allowed: "admitted, remaining 8, as by the limiter before",
        },
      ],
    });
  });

  test("is checked once it clears its store", async () => {
    expect(
      (
        await check(
          factory(() => counts.clear()),
          "isolated",
        )
      ).ok,
    ).toBe(true);
  });
});

test("a limiter that never lets anybody in is never told a time before its script's", async () => {
  const times: number[] = [];
  const factory = keyedLimiter({
    name: "closed",
    algorithm: "fixed-window",
    setNow: (nowMs) => times.push(nowMs),
    create: () => ({ consume: () => false }),
  });
  expect(entry(await check(factory, "refusal-justified"), "refusal-justified").outcome).toBe("violated");
  expect(times.length).toBeGreaterThan(2);
  expect(Math.min(...times)).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1));
});

test("the factory and its limiter are told the time of each operation", async () => {
  const told: unknown[] = [];
  const rules = parseRules({});
  const limiter = Object.assign(await engineFactory.create(rules), {
    setNow: (nowMs: number) => void told.push(["limiter", nowMs]),
  });
  const factory: LimiterFactory = {
    ...{
      name: "told",
      algorithm: "fixed-window",
      claims: "all",
      create: () => limiter,
      setNow: (nowMs) => void told.push(["factory", nowMs]),
    },
  };
  const call = { do: "call", organization: "acme", user: "ann", scope: "rest", cost: 1 } as const;
  await playCalls(factory, rules, [
    { ...call, id: 0, atMs: 1000 },
    { ...call, id: 1, atMs: 1500 },
  ]);
  expect(told).toEqual([
    ...[
      ["factory", 1000],
      ["factory", 1000],
      ["limiter", 1000],
      ["factory", 1500],
      ["limiter", 1500],
    ],
  ]);
});
