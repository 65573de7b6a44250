// Calls that overlap: a store that reads and then writes is found and made small, with the interleaving shown;
// one that counts in one step is never accused; and a limiter that fails meanwhile is named.
// @module-tag long
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  checkInterleavings,
  engineFactory,
  type InterleavingReport,
  keyedLimiter,
  type LimiterFactory,
  renderInterleaving,
  type Seam,
  stillSeam,
  storeLimiter,
  type Unexplained,
} from "../../src/laws/index.ts";
import type { OverlapProgress } from "../../src/laws/overlaps.ts";
import { gcra } from "./kinds.ts";
import { TinyLimiter, tinyFactory } from "./tiny-limiter.ts";

type Wrap = <S extends object>(store: S, seam: Seam) => S;
const seamed: Wrap = (store, seam) => seam.over(store);
/** Each call of the store takes a few turns of real time. */
const real: Wrap = (store) =>
  new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await wait(0);
        return member.apply(target, args);
      };
    },
  });
const bare: Wrap = (store) => store;

/** As much of ioredis as chains commands: a transaction is built at once, and sent by `exec`. */
class Redis {
  readonly #counts = new Map<string, number>();
  #isDefined = false;

  defineCommand(_name: string): void {
    this.#isDefined = true;
  }

  multi() {
    // A command that was defined too late is none.
    if (!this.#isDefined) throw new Error("defined too late");
    const queued: (() => number)[] = [];
    const chain = {
      incr: (key: string) => {
        queued.push(() => {
          this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
          return this.#counts.get(key) ?? 0;
        });
        return chain;
      },
      expire: (_key: string) => chain,
      exec: async () => queued.map((run) => run()),
    };
    return chain;
  }
}

const windowOf = (key: string, nowMs: number, windowMs: number): string =>
  `${key} ${Math.floor(nowMs / windowMs)}`;

/** Reads the count, and writes it back when it has decided. */
const racy = (wrap: Wrap): LimiterFactory =>
  keyedLimiter({
    name: "reads, then writes",
    algorithm: "fixed-window",
    anchor: "epoch",
    create({ limit, windowMs }, seam) {
      const counts = new Map<string, number>();
      const store = wrap(
        {
          read: async (key: string) => counts.get(key) ?? 0,
          write: async (key: string, count: number) => void counts.set(key, count),
        },
        seam,
      );
      return {
        async consume(key, cost, nowMs) {
          const window = windowOf(key, nowMs, windowMs);
          const count = await store.read(window);
          if (count + cost > limit) return { allowed: false, current: count };
          await store.write(window, count + cost);
          return { allowed: true, current: count + cost };
        },
      };
    },
  });

/** Adds in one step, and takes back what was too much in a second. */
const adding = (wrap: Wrap, takesBack: boolean): LimiterFactory =>
  keyedLimiter({
    name: "adds",
    algorithm: "fixed-window",
    anchor: "epoch",
    refused: takesBack ? "uncounted" : "counted",
    create({ limit, windowMs }, seam) {
      const counts = new Map<string, number>();
      const store = wrap(
        {
          async add(key: string, cost: number) {
            counts.set(key, (counts.get(key) ?? 0) + cost);
            return counts.get(key) ?? 0;
          },
        },
        seam,
      );
      return {
        async consume(key, cost, nowMs) {
          const window = windowOf(key, nowMs, windowMs);
          const count = await store.add(window, cost);
          if (count <= limit) return { allowed: true, current: count };
          if (takesBack) await store.add(window, -cost);
          return { allowed: false };
        },
      };
    },
  });

test("a store may be given what is no JSON", async () => {
  const circular: Record<string, unknown> = {};
  circular["own"] = circular;
  const big = keyedLimiter({
    name: "counts in big integers",
    algorithm: "fixed-window",
    anchor: "epoch",
    refused: "counted",
    create({ limit, windowMs }, seam) {
      const counts = new Map<string, bigint>();
      const store = seam.over({
        async add(key: string, cost: bigint, _options: unknown) {
          counts.set(key, (counts.get(key) ?? 0n) + cost);
          return counts.get(key) ?? 0n;
        },
      });
      return {
        consume: async (key, _cost, nowMs) =>
          (await store.add(windowOf(key, nowMs, windowMs), 1n, circular)) <= BigInt(limit),
      };
    },
  });
  const { outcome, overlapped } = await checkInterleavings(big, { seed: 1, runs: 20 });
  expect(outcome).toBe("no-counterexample");
  expect(overlapped).toBeGreaterThan(0);
});

function found({ outcome, counterexample }: InterleavingReport): Unexplained {
  expect(outcome).toBe("violated");
  if (counterexample === undefined) throw new Error("a counterexample was expected");
  return counterexample;
}

const callsOf = ({ rounds }: Unexplained): number => rounds.flatMap(({ events }) => events).length;

describe("a store that is read, and then written", () => {
  test.each([1, 2])(
    "is found through the seam made two calls, and repeated by its path, seed %i",
    async (seed) => {
      const report = await checkInterleavings(racy(seamed), { seed });
      const unexplained = found(report);
      const again = await checkInterleavings(racy(seamed), { seed, path: report.path ?? "" });
      expect(again.counterexample).toEqual(unexplained);
      expect(callsOf(unexplained)).toBeLessThanOrEqual(3);
      const { steps } = unexplained.rounds.at(-1) ?? { steps: [] };
      const reads = steps.flatMap((step, at) => (step.includes("read(") ? [at] : []));
      const writes = steps.flatMap((step, at) => (step.includes("write(") ? [at] : []));
      expect(reads[1]).toBeLessThan(writes.at(-1) ?? 0);
      expect(unexplained.law).toBe("refusal-justified");
    },
  );

  test.each([
    ["without a seam", bare],
    ["over real time", real],
  ])("is found %s, by starting calls at once", async (_, wrap) => {
    const unexplained = found(await checkInterleavings(racy(wrap), { seed: 1, runs: 60 }));
    expect(callsOf(unexplained)).toBeLessThanOrEqual(3);
  });

  test("is shown with what came in between", async () => {
    const report = await checkInterleavings(racy(seamed), { seed: 1 });
    const lines = renderInterleaving(report).map((line) => line.trimEnd());
    expect(lines).toEqual([
      "no order of the overlapping calls explains their answers (2 tried)",
      "",
      "rule: acme/ann: 1 per 10 s",
      "+0 is 2026-01-01T00:00:00.000Z",
      "",
      "    +0.000 s  2 calls overlap",
      '              . call 1: read("acme/ann 176722560")',
      '              . call 0: read("acme/ann 176722560")',
      '              . call 0: write("acme/ann 176722560", 1)',
      '              . call 1: write("acme/ann 176722560", 1)',
      "              call 0: acme/ann: admitted",
      "              call 1: acme/ann: admitted",
      "              ^ expected a refusal (acme/ann)",
      "                answered admitted",
      "                because  the call found 1 of 1, and takes 1",
      "",
      "In the order of the answers refusal-justified is broken, and in every other this law or another.",
    ]);
  });

  test("by commands that are chained, and sent together, is one step", async () => {
    const chained = keyedLimiter({
      name: "counts in a transaction",
      algorithm: "fixed-window",
      anchor: "epoch",
      refused: "counted",
      create({ limit, windowMs }, seam) {
        const redis = seam.over(new Redis());
        redis.defineCommand("look");
        return {
          async consume(key, _cost, nowMs) {
            const transaction = redis.multi();
            transaction.incr(windowOf(key, nowMs, windowMs));
            const [count] = await transaction.expire(key).exec();
            return { allowed: Number(count) <= limit, current: Number(count) };
          },
        };
      },
    });
    const report = await checkInterleavings(chained, { seed: 1, runs: 30 });
    expect(renderInterleaving(report).join("\n")).toBe("");
    expect(report.overlapped).toBeGreaterThan(20);
  });

  test("an answer that fails is told to who awaits it, and to nobody else", async () => {
    const failing = keyedLimiter({
      name: "no such command",
      algorithm: "fixed-window",
      create: (_settings, seam) => {
        const redis = seam.over({ multi: () => ({}) as { incr(): { exec(): Promise<number> } } });
        return { consume: async () => (await redis.multi().incr().exec()) === 1 };
      },
    });
    const { failure } = await checkInterleavings(failing, { seed: 1, runs: 5 });
    expect(failure?.got).toBe("TypeError: incr is no method of what the store gave");
  });

  test("in two windows at once is found, too: what one lets go, the other has charged", async () => {
    const halves: LimiterFactory = {
      ...tinyFactory("two windows"),
      claims: ["refusal-justified", "conserved"],
      semantics: { ...tinyFactory("").semantics, graphqlCharge: ["prepaid"] },
      create(rules, seam = stillSeam) {
        const tiny = new TinyLimiter(rules);
        return {
          async decide(call, nowMs) {
            const refusedBy = tiny.refusedBy(call, nowMs);
            await seam.pause("decided");
            if (refusedBy === null)
              for (const owner of ["organization", "user"] as const) tiny.charge(call, owner, nowMs);
            return { admitted: refusedBy === null, refusedBy };
          },
        };
      },
    };
    const unexplained = found(await checkInterleavings(halves, { seed: 3 }));
    expect(callsOf(unexplained)).toBeLessThanOrEqual(3);
    expect(unexplained.rounds.at(-1)?.steps.join()).toContain("decided");
  });

  test.each([2, 3])("of places that are looked for, and then taken, is found, seed %i", async (seed) => {
    const places = keyedLimiter({
      name: "looks, then takes",
      algorithm: "concurrency",
      create({ limit }, seam) {
        const taken = new Map<string, number>();
        const store = seam.over({
          count: async (key: string) => taken.get(key) ?? 0,
          take: async (key: string) => taken.set(key, (taken.get(key) ?? 0) + 1),
        });
        return {
          async consume(key) {
            const allowed = (await store.count(key)) < limit;
            if (allowed) await store.take(key);
            return allowed;
          },
        };
      },
    });
    const { outcome, counterexample } = await checkInterleavings(places, { seed, runs: 30 });
    expect([outcome, counterexample?.law]).toEqual(["violated", "rate-bound"]);
    expect(counterexample?.violation.expected).toMatch(/^at most \d under way at once$/);
  });

  test("whose last count alone is wrong is found by the calls that follow", async () => {
    const lost = storeLimiter({
      name: "loses an update",
      anchor: "epoch",
      create({ windowMs }, seam) {
        const counts = new Map<string, number>();
        const store = seam.over({
          read: async (key: string) => counts.get(key) ?? 0,
          write: async (key: string, count: number) => void counts.set(key, count),
        });
        return {
          async increment(key, nowMs) {
            const window = windowOf(key, nowMs, windowMs);
            const count = await store.read(window);
            await store.write(window, count + 1);
            return count + 1;
          },
        };
      },
    });
    expect(found(await checkInterleavings(lost, { seed: 2 })).rounds.length).toBeLessThanOrEqual(2);
  });
});

/** Counts in keys that end. In two steps: a key that ends between them is made anew, without an end. */
function ending(steps: 1 | 2): LimiterFactory {
  let clockMs = 0;
  return keyedLimiter({
    name: `counts in keys that end, in ${steps}`,
    algorithm: "fixed-window",
    refused: "counted",
    setNow: (nowMs) => {
      clockMs = nowMs;
    },
    create({ limit, windowMs }, seam) {
      const keys = new Map<string, { count: number; untilMs: number }>();
      const alive = (key: string) => {
        const known = keys.get(key);
        return known !== undefined && clockMs < known.untilMs ? known : null;
      };
      const open = (key: string) => ({ count: 0, untilMs: clockMs + windowMs, key });
      const store = seam.over({
        exists: async (key: string) => alive(key) !== null,
        add: async (key: string, opens: boolean) => {
          const window = alive(key) ?? { ...open(key), ...(!opens && { untilMs: Number.POSITIVE_INFINITY }) };
          window.count += 1;
          keys.set(key, window);
          return window.count;
        },
      });
      return {
        consume: async (key) => (await store.add(key, steps === 1 || !(await store.exists(key)))) <= limit,
      };
    },
  });
}

describe("the clock may move while a call is under way", () => {
  const rules = { user: { rest: { limit: 1, windowSeconds: 10 } } };

  test.each([1, 2])("a key that ends between two steps is found, seed %i", async (seed) => {
    const still = await checkInterleavings(ending(2), { seed, rules, runs: 40, overlap: 2 });
    const report = await checkInterleavings(ending(2), {
      seed,
      rules,
      runs: 500,
      overlap: 1,
      clockMoves: true,
    });
    const { rounds } = found(report);
    expect(rounds.flatMap(({ events }) => events).length).toBeLessThanOrEqual(5);
    expect(renderInterleaving(report).join("\n")).toMatch(/a call under way\n.*exists.* ms pass\n.*add/s);
    const { path = "" } = report;
    const again = await checkInterleavings(ending(2), { seed, rules, overlap: 1, clockMoves: true, path });
    expect(again.counterexample).toEqual(report.counterexample);
    expect(still.outcome).toBe("no-counterexample");
  });

  test.each([
    ["that counts in one step", ending(1)],
    ["that takes the time once", adding(seamed, false)],
  ])("a limiter %s is not accused", async (_, factory) => {
    const report = await checkInterleavings(factory, { seed: 4, runs: 50, overlap: 3, clockMoves: true });
    expect(report).toMatchObject({ outcome: "no-counterexample" });
    expect(report.overlapped).toBeGreaterThan(50);
  });
});

/** The same limiter, whose decisions come later. */
const later = (factory: LimiterFactory): LimiterFactory => ({
  ...factory,
  async create(rules, seam) {
    const limiter = await factory.create(rules, seam);
    const decide: typeof limiter.decide = async (call, nowMs) => limiter.decide(call, nowMs);
    return Object.create(limiter, { decide: { value: decide } });
  },
});

describe("what some order explains is not accused", () => {
  test.each([
    ["through the seam", seamed],
    ["without one", bare],
    ["over real time", real],
  ])("a store that adds in one step, %s", async (_, wrap) => {
    const report = await checkInterleavings(adding(wrap, false), { seed: 7, runs: 30, overlap: 4 });
    expect(renderInterleaving(report).join("\n")).toBe("");
    expect(report).toMatchObject({ outcome: "no-counterexample", ok: true });
    expect(report.overlapped).toBeGreaterThan(30);
  });

  test("calls of one point each may be taken back: a refusal meanwhile found no room, either", async () => {
    const report = await checkInterleavings(adding(seamed, true), { seed: 7, runs: 60 });
    // Two are let in of two that are left, a third is added and taken back; a fourth in between is refused rightly.
    expect(renderInterleaving(report).join("\n")).toBe("");
  });

  test.each([1, 2])("fractions that round a moment late, seed %i", async (seed) => {
    const factory = later(keyedLimiter({ name: "GCRA", ...gcra() }));
    const report = await checkInterleavings(factory, { seed, runs: 60 });
    expect(report).toMatchObject({ outcome: "no-counterexample" });
    expect(report.overlapped).toBeGreaterThan(0);
  });

  test("the engine, under rules of all kinds", async () => {
    const report = await checkInterleavings(later(engineFactory), { seed: 7, runs: 60 });
    expect(renderInterleaving(report).join("\n")).toBe("");
    expect(report.overlapped).toBeGreaterThan(60);
    // It decides at once: of itself, no calls of it overlap.
    const itself = await checkInterleavings(engineFactory, { seed: 7, runs: 60 });
    expect(itself).toMatchObject({ outcome: "no-counterexample", runs: 60, overlapped: 0 });
    expect(await checkInterleavings(engineFactory, { seed: 7, runs: 60, path: "3" })).toMatchObject({
      ...{ outcome: "no-counterexample", runs: 1 },
    });
  });

  test("a limiter that claims none of the laws by which orders are told apart", async () => {
    const report = await checkInterleavings({ ...racy(seamed), claims: ["isolated"] }, { seed: 1 });
    expect(report).toEqual({
      ...{ limiter: "reads, then writes", seed: 1, runs: 0, overlapped: 0, ok: true, outcome: "not-claimed" },
    });
  });
});

describe("a limiter that fails while calls overlap", () => {
  const failing = (consume: () => Promise<boolean>): Promise<InterleavingReport> =>
    checkInterleavings(
      keyedLimiter({ name: "failing", algorithm: "fixed-window", create: () => ({ consume }) }),
      {
        seed: 1,
        runs: 20,
        timers: { setTimeout, clearTimeout },
        answerMsMost: 50,
      },
    );

  test("by a rejection is named", async () => {
    const report = await failing(() => Promise.reject(new Error("connection lost")));
    expect(report).toMatchObject({ outcome: "failed", ok: false });
    expect(report.failure).toMatchObject({ got: "Error: connection lost", hung: false });
    expect(report.failure?.call).toMatch(/^consume\(/);
    expect(renderInterleaving(report)[0]).toBe("the limiter failed in a check of overlapping calls");
  });

  test("by an answer that never comes is given up", async () => {
    const report = await failing(() => new Promise(() => {}));
    expect(report.failure).toMatchObject({ got: "TimeoutError: no answer within 0.05 s", hung: true });
  });
});

test.each([{ overlap: 1 }, { overlap: 0, clockMoves: true }, { overlap: 6 }, { runs: 0 }])(
  "%j is a RangeError",
  async (options) => {
    await expect(checkInterleavings(engineFactory, options)).rejects.toThrow(RangeError);
  },
);

test("each run is told before it, and whether it makes a counterexample smaller", async () => {
  const told: string[] = [];
  const onProgress = ({ run, runs, shrinking }: OverlapProgress): void => {
    told.push(shrinking ? "smaller" : `${run} of ${runs}`);
  };
  await checkInterleavings(engineFactory, { seed: 1, runs: 3, onProgress });
  expect(told.splice(0)).toEqual(["1 of 3", "2 of 3", "3 of 3"]);
  const refusing = { create: () => ({ consume: () => Promise.reject(new Error("lost")) }) };
  await checkInterleavings(keyedLimiter({ name: "lost", algorithm: "fixed-window", ...refusing }), {
    seed: 1,
    runs: 3,
    onProgress,
  });
  expect(told.slice(0, 2)).toEqual(["1 of 3", "smaller"]);
});
