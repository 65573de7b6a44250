// The runner: the same seed gives the same report, a path leads back, every limiter that can be written is
// taken as it is, and one that fails is named.
// @module-tag long
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { evidenceOf, joined } from "../../src/laws/evidence.ts";
import {
  type CheckProgress,
  checkLaws,
  engineFactory,
  type History,
  type LimiterAdapter,
  type LimiterFactory,
  type LimiterLawName,
  limiterLawNames,
  parseRules,
} from "../../src/laws/index.ts";
import { brokenLimiters } from "./broken-limiters.ts";
import { entry, expectKept, only } from "./expectations.ts";
import { TinyLimiter, tinyFactory } from "./tiny-limiter.ts";

const seed = 5;

function broken(fault: string): LimiterFactory {
  const found = brokenLimiters.find((limiter) => limiter.fault === fault);
  if (found === undefined) throw new Error(`no fault ${fault}`);
  return tinyFactory(fault, found.Kind);
}

/** The same limiter, every answer a promise that takes a turn of the event loop now and then. */
function later(factory: LimiterFactory): LimiterFactory {
  let calls = 0;
  return {
    ...factory,
    async create(rules) {
      const limiter = await factory.create(rules);
      return {
        ...(limiter.settle && { settle: async (...args) => limiter.settle?.(...args) ?? {} }),
        ...(limiter.status && { status: async (...args) => limiter.status?.(...args) ?? {} }),
        async decide(call, nowMs) {
          calls += 1;
          if (calls % 100 === 0) await setImmediate();
          return limiter.decide(call, nowMs);
        },
      };
    },
  };
}

describe("on how much a law rests", () => {
  const history = (calls: readonly (readonly [string, number, boolean])[]): History =>
    calls.map(([user, atMs, admitted], id) => ({
      op: { do: "call", atMs, id, organization: "acme", user, scope: "rest", cost: 1 },
      decision: { admitted, user: { limit: 1, resetAtMs: Math.floor(atMs / 10_000) * 10_000 + 10_000 } },
    }));
  const rules = parseRules({ user: { rest: { limit: 1, windowSeconds: 10 } } });

  test("readings, refusals and windows are counted, and the windows that follow another of their quota", () => {
    const calls = history([
      ["ann", 0, true],
      ["ann", 1, false],
      ["bob", 2, true],
      ["ann", 10_000, true],
      ["ann", 20_000, true],
    ]);
    expect(evidenceOf({ rules, keyed: true, startMs: 0, ops: [], pick: 0 }, calls)).toEqual({
      readings: 5,
      refusals: 1,
      windows: 4,
      resets: 2,
    });
  });

  test("what a limiter does not show is no reading", () => {
    const [first] = history([["ann", 0, false]]);
    if (first === undefined || !("decision" in first)) throw new Error("there is no call");
    const calls = [{ ...first, decision: { admitted: false } }];
    expect(evidenceOf({ rules, keyed: true, startMs: 0, ops: [], pick: 0 }, calls)).toMatchObject({
      readings: 0,
      refusals: 1,
      windows: 0,
    });
  });

  test("that of two runs is added up", () => {
    const one = { readings: 1, refusals: 2, windows: 3, resets: 4 };
    const other = { readings: 10, refusals: 20, windows: 30, resets: 40 };
    expect(joined(one, other)).toEqual({ readings: 11, refusals: 22, windows: 33, resets: 44 });
  });

  test("it is counted where it is asked for, over the runs in which the law judged something", async () => {
    const options = { seed, runs: 20, laws: ["conserved", "snapshot-equals"] as const };
    const plain = await checkLaws(engineFactory, options);
    expect(plain.laws.map(({ evidence }) => evidence)).toEqual([undefined, undefined]);
    const { laws } = await checkLaws(engineFactory, { ...options, evidence: true });
    for (const { judged, evidence } of laws) {
      expect(evidence?.readings).toBeGreaterThanOrEqual(judged / 2);
      expect(evidence?.windows).toBeGreaterThan(evidence?.resets ?? 0);
      expect(evidence?.resets).toBeGreaterThan(0);
    }
  });
});

describe("repeating", () => {
  test("the same seed gives the same report, plain JSON", async () => {
    const options = { seed, runs: 20, laws: ["conserved", "reset-agrees", "isolated"] as const };
    const first = await checkLaws(broken("double-count"), options);
    const second = await checkLaws(broken("double-count"), options);
    expect(second).toEqual(first);
    expect(JSON.parse(JSON.stringify(first))).toEqual(JSON.parse(JSON.stringify(second)));
    expect(first.ok).toBe(false);
  });

  test("a law sees the same scripts, whichever laws are checked beside it", async () => {
    const all = await checkLaws(engineFactory, { seed, runs: 4 });
    const one = await checkLaws(engineFactory, { seed, runs: 4, laws: ["isolated"] });
    expect(only(one)).toEqual(entry(all, "isolated"));
  });

  test.each([2 ** 31 - 1, -(2 ** 31)])("%d is a seed", async (outermost) => {
    expect(await checkLaws(engineFactory, { seed: outermost, runs: 1, laws: ["bounded"] })).toMatchObject({
      seed: outermost,
      ok: true,
    });
  });

  test("a seed is drawn and told where none is given", async () => {
    const { seed: drawn } = await checkLaws(engineFactory, { runs: 1, laws: ["bounded"] });
    expect(Number.isSafeInteger(drawn)).toBe(true);
  });

  test("a path leads straight to its counterexample", async () => {
    const laws: LimiterLawName[] = ["recovers"];
    const found = only(await checkLaws(broken("rearmed-per-hit"), { seed, laws }));
    const { path } = found;
    if (path === undefined) throw new Error("no path");
    expect(found.repeat).toBe(`npx spillway check --law recovers --seed ${seed} --path ${path}`);
    let played = 0;
    const onProgress = (): void => {
      played += 1;
    };
    const again = only(await checkLaws(broken("rearmed-per-hit"), { seed, laws, path, onProgress }));
    expect(played).toBe(1);
    expect(again.counterexample).toEqual(found.counterexample);
    expect(again.path).toBe(path);
    expectKept(await checkLaws(tinyFactory("mended"), { seed, laws, path: path.split(":")[0] ?? "" }));
  });

  test.each(["3:9999:9999", "3:9999"])("the path %s, which leads nowhere, is a usage error", async (path) => {
    const options = { seed, laws: ["recovers"] as const, path };
    await expect(checkLaws(engineFactory, options)).rejects.toMatchObject({ code: "USAGE" });
  });

  test("a path plays its own script alone, where that breaks no law, too", async () => {
    const options = { seed, laws: ["recovers"] as const, path: "3:1" };
    expect(only(await checkLaws(engineFactory, options))).toMatchObject({ runs: 1 });
  });

  test.each([
    [{ runs: 0 }, "runs"],
    [{ runs: 1.5 }, "runs"],
    [{ seed: 2 ** 31 }, "seed"],
    [{ seed: -(2 ** 31) - 1 }, "seed"],
    [{ laws: ["conservd" as "conserved"] }, "laws .*conservd"],
    [{ path: "1", seed }, "path"],
    [{ path: "1", laws: ["bounded"] as const }, "path"],
  ])("%j is a RangeError", async (options, field) => {
    await expect(checkLaws(engineFactory, options)).rejects.toThrow(new RegExp(field));
  });
});

describe("limiters of every kind", () => {
  test("an asynchronous one is judged like a synchronous one", async () => {
    const options = { seed, runs: 30, laws: ["conserved", "status-free", "isolated"] as const };
    const sync = await checkLaws(tinyFactory("tiny"), options);
    expectKept(sync);
    expectKept(await checkLaws(later(tinyFactory("tiny")), options));
    const found = only(await checkLaws(later(broken("status-charged")), { seed, laws: ["status-free"] }));
    expect(found.outcome).toBe("violated");
  });

  test("one that only says admitted is judged by that alone, and the rest is not observed", async () => {
    const factory: LimiterFactory = {
      ...tinyFactory("bare"),
      create(rules) {
        const limiter = new TinyLimiter(rules);
        return { decide: (call, nowMs) => ({ admitted: limiter.decide(call, nowMs).admitted }) };
      },
    };
    const report = await checkLaws(
      { ...factory, semantics: { ...factory.semantics, graphqlCharge: ["prepaid"] } },
      { seed, runs: 30 },
    );
    const unseen = report.laws.filter(({ outcome }) => outcome === "not-observed").map(({ law }) => law);
    expect(unseen).toEqual([
      "bounded",
      "conserved",
      "remaining-agrees",
      "reset-agrees",
      "status-free",
      "monotone",
      "snapshot-equals",
      "headers-present",
      "limit-agrees",
      "refusal-agrees",
      "honest-wait",
    ]);
    const judged = report.laws.filter(({ outcome }) => outcome === "no-counterexample");
    expect(judged.length + unseen.length).toBe(limiterLawNames.length);
    expect(report.ok).toBe(true);
  });

  test("partial readings are judged as far as they go", async () => {
    const factory: LimiterFactory = {
      ...engineFactory,
      async create(rules) {
        const limiter = await engineFactory.create(rules);
        return {
          async decide(call, nowMs) {
            const { admitted, user, reservation } = await limiter.decide(call, nowMs);
            return {
              admitted,
              reservation,
              user: { remaining: user?.remaining, reset: user?.reset } as never,
            };
          },
          settle: async (...args) => {
            await limiter.settle?.(...args);
            return {};
          },
        };
      },
    };
    const report = await checkLaws(factory, { seed, runs: 25 });
    expect(report.laws.filter(({ outcome }) => outcome === "violated")).toEqual([]);
    expect(entry(report, "reset-agrees").judged).toBeGreaterThan(100);
    expect(entry(report, "remaining-agrees").outcome).toBe("not-observed");
  });

  test("a check in which nothing was judged is not ok", async () => {
    const report = await checkLaws({ ...engineFactory, claims: ["bounded"] }, { seed, laws: ["monotone"] });
    expect([report.ok, report.laws.map(({ outcome }) => outcome)]).toEqual([false, ["not-claimed"]]);
  });

  test("only what is claimed is checked", async () => {
    const report = await checkLaws({ ...broken("double-count"), claims: ["reset-agrees"] }, { seed });
    expect(report.ok).toBe(true);
    const claimed = report.laws.filter(({ outcome }) => outcome !== "not-claimed");
    expect(claimed.map(({ law }) => law)).toEqual(["reset-agrees"]);
  });

  test("one that does not claim never-rolls-back sees no clock that steps back", async () => {
    const times: number[][] = [];
    const factory = (claims: LimiterFactory["claims"]): LimiterFactory => ({
      ...tinyFactory("watched"),
      claims,
      create(rules) {
        const seen: number[] = [];
        times.push(seen);
        const limiter = new TinyLimiter(rules);
        const { decide } = limiter;
        limiter.decide = (call, nowMs) => {
          seen.push(nowMs);
          return decide.call(limiter, call, nowMs);
        };
        return limiter;
      },
    });
    const steps = (): boolean => times.some((seen) => seen.some((ms, n) => ms < (seen[n - 1] ?? 0)));
    await checkLaws(factory(["conserved"]), { seed });
    expect(steps()).toBe(false);
    await checkLaws(factory("all"), { seed, laws: ["conserved"] });
    expect(steps()).toBe(true);
  });

  test("rules are drawn from the semantics that it names", async () => {
    const seen = new Set<string>();
    const factory: LimiterFactory = {
      ...engineFactory,
      semantics: { reset: ["floor", "round"], anchor: ["first-request"] },
      create(rules) {
        seen.add(`${rules.semantics.reset.rest} ${rules.semantics.anchor.graphql}`);
        return engineFactory.create(rules);
      },
    };
    expectKept(await checkLaws(factory, { seed, laws: ["reset-agrees"] }));
    expect([...seen].sort()).toEqual(["floor first-request", "round first-request"]);
  });

  test("one that reads a clock of its own is told the time first", async () => {
    const factory: LimiterFactory = {
      ...tinyFactory("clocked"),
      create(rules): LimiterAdapter {
        const limiter = new TinyLimiter(rules);
        let now = 0;
        return {
          setNow: (nowMs) => {
            now = nowMs;
          },
          decide: (call) => limiter.decide(call, now),
          settle: (reservation, actual) => limiter.settle(reservation, actual, now),
          status: (organization) => limiter.status(organization, now),
        };
      },
    };
    const report = await checkLaws(factory, { seed, runs: 30 });
    expect(report.laws.filter(({ outcome }) => outcome === "violated")).toEqual([]);
    expect(entry(report, "conserved").judged).toBeGreaterThan(100);
  });

  test("given rules are checked with users enough to use up the organization's window", async () => {
    const refusedBy = new Set<string | null | undefined>();
    const factory: LimiterFactory = {
      ...engineFactory,
      async create(rules) {
        const limiter = await engineFactory.create(rules);
        return {
          ...limiter,
          async decide(call, nowMs) {
            const decision = await limiter.decide(call, nowMs);
            refusedBy.add(decision.refusedBy);
            return decision;
          },
        };
      },
    };
    expectKept(
      await checkLaws(factory, { seed, rules: parseRules({}), runs: 40, laws: ["refusal-justified"] }),
    );
    expect(refusedBy).toEqual(new Set([null, "organization", "user"]));
  });
});

describe("progress and interruption", () => {
  test("progress is told before every run, and awaited", async () => {
    const seen: CheckProgress[] = [];
    let awaited = 0;
    await checkLaws(engineFactory, {
      seed,
      runs: 3,
      laws: ["conserved", "isolated"],
      async onProgress(progress) {
        seen.push(progress);
        await setImmediate();
        awaited += 1;
        expect(awaited).toBe(seen.length);
      },
    });
    expect(seen.map(({ law, run, done, laws }) => [law, run, done, laws])).toEqual([
      ...[0, 1, 2].map((run) => ["conserved", run, 0, 2]),
      ...[0, 1, 2].map((run) => ["isolated", run, 1, 2]),
    ]);
  });

  test("an aborted check keeps what it has and says what it has not", async () => {
    const controller = new AbortController();
    const report = await checkLaws(engineFactory, {
      seed,
      signal: controller.signal,
      onProgress({ law, run }) {
        if (law === "conserved" && run === 7) controller.abort();
      },
    });
    expect(report.interrupted).toBe(true);
    expect(entry(report, "bounded").outcome).toBe("no-counterexample");
    expect(entry(report, "conserved")).toMatchObject({ outcome: "interrupted", runs: 7 });
    expect(entry(report, "give-back").outcome).toBe("not-run");
  });

  test("a counterexample that is being made smaller is kept as small as it got", async () => {
    const controller = new AbortController();
    const report = await checkLaws(broken("rearmed-per-hit"), {
      seed,
      laws: ["recovers"],
      signal: controller.signal,
      onProgress({ shrinking }) {
        if (shrinking) controller.abort();
      },
    });
    expect(only(report).outcome).toBe("violated");
  });
});
