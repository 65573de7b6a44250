// A limiter behind the laws' adapter, in virtual time: our own gives the run that the simulator's deployment gives;
// one with a fault is accused as the fault is; one that misbehaves is named, with the client and the time.
import { describe, expect, test } from "vitest";
import { simulateLimiter } from "../../sim/adapter/simulate-limiter.ts";
import { simulate } from "../../sim/simulate.ts";
import type { LimiterAdapter, LimiterFactory, PartialDecision } from "../../src/engine/adapter.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { faultFactory } from "../../src/faults/factory.ts";
import { engineFactory } from "../../src/laws/engine-factory.ts";
import { keyedLimiter } from "../../src/laws/keyed.ts";
import { patient } from "../../src/laws/patience.ts";
import { claimsInTraces } from "../../src/rules/algorithms.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { defineScenario, graphql, poller, rest, status } from "../../src/scenario/index.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { encodeCall } from "../../src/trace/write.ts";
import { claimedVerdict } from "../../src/verify/claims.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { crowd, crowdRules, suited } from "../faults/crowd.ts";

const shorter = { durationMs: 40_000 };
/** Most faults show in a run that is as short. */
const shortest = { durationMs: 10_000 };

async function linesOf(calls: AsyncIterable<TraceCall> | Iterable<TraceCall>): Promise<string[]> {
  const lines: string[] = [];
  for await (const call of calls) lines.push(encodeCall(call));
  return lines;
}

async function judged(
  factory: LimiterFactory,
  rules: RulesInput = crowdRules,
  scenario = crowd,
  length = shorter,
): Promise<Verdict> {
  const { header, calls } = simulateLimiter(scenario, factory, { ...length, rules: parseRules(rules) });
  const numbered = async function* () {
    let line = 1;
    for await (const call of calls) {
      line += 1;
      yield { line, call };
    }
  };
  return claimedVerdict(await judge(header, numbered()), claimsInTraces(factory));
}

/** The same limiter, every answer of it a promise. */
const late = (factory: LimiterFactory): LimiterFactory => ({
  ...factory,
  async create(rules) {
    const limiter = await factory.create(rules);
    return new Proxy(limiter, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          await new Promise((resolve) => setImmediate(resolve));
          return member.apply(target, args);
        };
      },
    });
  },
});

const switches: readonly [string, RulesInput][] = Object.entries(switchValues).flatMap(([name, values]) =>
  values
    .slice(1)
    .map((value): [string, RulesInput] => [
      `${name as SwitchName} = ${value}`,
      { ...crowdRules, semantics: { [name]: value } },
    ]),
);

describe("our own engine behind the adapter is the right deployment, byte for byte", () => {
  test.each([["the default switches", crowdRules] as const, ...switches])("%s", async (_, input) => {
    const options = { durationMs: 15_000, seed: 3, rules: parseRules(input) };
    const right = simulate(crowd, options);
    const adapted = simulateLimiter(crowd, engineFactory, options);
    expect(adapted.header).toEqual(right.header);
    const lines = await linesOf(right.calls);
    expect(await linesOf(adapted.calls)).toEqual(lines);
    expect(await linesOf(simulate(crowd, { ...options, limiter: engineFactory }).calls)).toEqual(lines);
  });

  test("whether it answers at once or by promises", async () => {
    const options = { durationMs: 20_000, seed: 3, rules: parseRules(crowdRules) };
    const lines = await linesOf(simulate(crowd, options).calls);
    expect(await linesOf(simulateLimiter(crowd, late(engineFactory), options).calls)).toEqual(lines);
  });

  test("queries of too many points, too", async () => {
    const scenario = defineScenario({
      name: "dear",
      duration: "10s",
      populations: {
        one: {
          clients: 1,
          behaviour: poller({ every: "1s", call: graphql("{ viewer { id } }", { cost: 60_000 }) }),
        },
      },
    });
    const lines = await linesOf(simulate(scenario).calls);
    expect(lines).toHaveLength(10);
    expect(await linesOf(simulateLimiter(scenario, engineFactory).calls)).toEqual(lines);
  });
});

/** Faults that need calls in between: a limiter that is asked one call after the other does not have them. */
const needsOverlap = ["race-read-then-write"];
/** The request's headers pick the key; simulated requests have none. */
const needsHeaders = ["user-key-from-header"];

describe("a limiter with a fault is accused", () => {
  const shown = faults.filter(({ name }) => ![...needsOverlap, ...needsHeaders].includes(name));
  test.each(shown.filter(({ nets }) => nets.includes("V")).map(({ name }) => name))("%s", async (name) => {
    const fault = parseFault(name);
    const { scenario, rules } = suited({ scenario: crowd, rules: parseRules(crowdRules) }, fault);
    const soon = await judged(faultFactory(fault, 7), rules, scenario, shortest);
    if (soon.verdict === "violated") return;
    expect((await judged(faultFactory(fault, 7), rules, scenario)).verdict).toBe("violated");
  });
});

describe("what a limiter does not show is not judged", () => {
  const yesOrNo = keyedLimiter({
    name: "yes or no",
    algorithm: "fixed-window",
    claims: ["bounded", "twice-at-most"],
    anchor: "epoch",
    create: ({ limit, windowMs }) => {
      const counts = new Map<string, number>();
      return {
        consume(key, cost, nowMs) {
          const window = `${key} ${Math.floor(nowMs / windowMs)}`;
          const count = counts.get(window) ?? 0;
          if (count + cost > limit) return false;
          counts.set(window, count + cost);
          return true;
        },
      };
    },
  });

  test("one that says yes or no leaves a trace of nulls, and its admissions are counted", async () => {
    const { calls, header } = simulateLimiter(crowd, yesOrNo, { ...shorter, rules: parseRules(crowdRules) });
    const statuses = new Map<string, number>();
    for await (const call of calls) {
      expect(call.remaining).toBeNull();
      expect(call.userRemaining).toBeNull();
      const kind = `${call.scope} ${call.kind} ${call.status}`;
      statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
    }
    expect([...statuses.keys()].sort()).toEqual([
      "graphql other 200",
      "rest call 200",
      "rest call 429",
      "rest other 404",
    ]);
    expect(header.rules?.semantics.userEnforced.rest).toBe("always");
    expect((await judged(yesOrNo)).violations).toEqual([]);
  });

  test("one that admits everything is found by its admissions alone", async () => {
    const sieve = keyedLimiter({
      name: "sieve",
      algorithm: "fixed-window",
      claims: ["bounded", "twice-at-most"],
      create: () => ({ consume: () => true }),
    });
    const { verdict, violations, laws } = await judged(sieve);
    expect(verdict).toBe("violated");
    expect(violations.map(({ law }) => law)).toContain("twice-at-most");
    expect(laws["reset-agrees"]).toEqual({ skipped: "not claimed" });
  });
});

describe("a limiter that fails is named, with its client and the virtual time", () => {
  const scenario = defineScenario({
    name: "short",
    duration: "10s",
    network: { latency: 5 },
    populations: {
      calls: { clients: 1, behaviour: poller({ every: "1s", call: rest("/v2/user") }) },
      looks: { clients: 1, behaviour: poller({ every: "4s", call: status() }) },
    },
  });
  const of = (decide: LimiterAdapter["decide"]): LimiterFactory => ({
    name: "odd",
    algorithm: "fixed-window",
    claims: "all",
    create: () => ({ decide }),
  });
  const run = (factory: LimiterFactory): Promise<string[]> =>
    linesOf(simulateLimiter(scenario, factory).calls);

  test.each([
    [
      "throws",
      () => {
        throw new Error("no luck");
      },
      "Error: no luck",
    ],
    ["rejects", () => Promise.reject(new Error("no luck")), "Error: no luck"],
    ["returns NaN", () => ({ admitted: true, user: { remaining: Number.NaN } }), "user.remaining = NaN"],
    ["returns nothing", () => undefined as unknown as PartialDecision, "the decision = nothing"],
    [
      "returns a promise of nonsense",
      async () => ({ admitted: 1 }) as unknown as PartialDecision,
      "admitted = 1",
    ],
  ])("%s", async (_, decide, got) => {
    let count = 0;
    const failing = of(() => (++count < 3 ? { admitted: true } : decide()));
    await expect(run(failing)).rejects.toMatchObject({
      code: "ADAPTER_FAILED",
      problems: [
        {
          path: expect.stringMatching(
            /^calls\/0 at 2026-01-01T00:00:02\.005Z: decide\(\{"organization":"acme"/,
          ),
          got: expect.stringContaining(got),
        },
      ],
    });
  });

  test("never settles", async () => {
    const timers = {
      setTimeout: (run: () => void) => setImmediate(run),
      clearTimeout: (timer: never) => clearImmediate(timer),
    };
    const stuck = of(() => new Promise(() => {}));
    await expect(run(patient(stuck, timers))).rejects.toMatchObject({
      code: "ADAPTER_FAILED",
      problems: [{ got: "TimeoutError: no answer within 5 s" }],
    });
  });

  test("cannot be made", async () => {
    const create = () => {
      throw new Error("no memory");
    };
    await expect(run({ name: "none", algorithm: "fixed-window", claims: "all", create })).rejects.toThrow(
      /before the first call: create\(.*no memory/,
    );
  });

  test("and one that answers later is for simulateLimiter alone", () => {
    const promising = of(async () => ({ admitted: true }));
    expect(() => [...simulate(scenario, { limiter: promising }).calls]).toThrow(/odd is asynchronous/);
  });
});

test("a limiter that knows its users is asked by them, and too few of them are said", async () => {
  const users = new Set<string>();
  const factory: LimiterFactory = {
    name: "known users",
    algorithm: "fixed-window",
    claims: [],
    callers: { here: ["ann", "bob", "cid"], there: ["dan"] },
    create: () => ({
      decide({ organization, user }) {
        users.add(`${organization}/${user}`);
        return { admitted: true };
      },
    }),
  };
  const populations = { all: { clients: 3, behaviour: poller({ every: "1s", call: rest("/v2/user") }) } };
  await linesOf(simulateLimiter(defineScenario({ name: "few", duration: "3s", populations }), factory).calls);
  expect([...users].sort()).toEqual(["here/ann", "here/bob", "here/cid"]);
  const crowded = { all: { ...populations.all, clients: 4 } };
  expect(() =>
    simulateLimiter(defineScenario({ name: "many", duration: "3s", populations: crowded }), factory),
  ).toThrow(/too few tokens/);
});

test("a limiter is let go of, also when nobody reads to the end", async () => {
  let closed = 0;
  const factory: LimiterFactory = {
    name: "counted",
    algorithm: "fixed-window",
    claims: [],
    create: () => ({ decide: () => ({ admitted: true }), close: () => (closed += 1) }),
  };
  for await (const _ of simulateLimiter(crowd, factory, shorter).calls) break;
  expect(closed).toBe(1);
});
