// Limiters whose factory, limiter or store is frozen, and a factory of getters: they are asked as any others.
import { expect, test } from "vitest";
import type { LimiterClock } from "../../sim/adapter/asker.ts";
import { checkInterleavings, checkLaws, keyedLimiter, type LimiterFactory } from "../../src/laws/index.ts";
import { clockedFactory } from "../../src/runs/clocked-limiter.ts";

const clock: LimiterClock = { set: async () => {}, during: (run) => run() };

const made = keyedLimiter({
  name: "made once",
  algorithm: "fixed-window",
  create({ limit, windowMs }, seam) {
    const counts = new Map<string, number>();
    const store = seam.over(
      Object.freeze({
        async add(key: string) {
          counts.set(key, (counts.get(key) ?? 0) + 1);
          return counts.get(key) ?? 0;
        },
      }),
    );
    return Object.freeze({
      consume: async (key: string, _cost: number, nowMs: number) =>
        (await store.add(`${key} ${Math.floor(nowMs / windowMs)}`)) <= limit,
    });
  },
  refused: "counted",
});
const factory: LimiterFactory = {
  ...made,
  create: async (...args) => Object.freeze(await made.create(...args)),
};
const getters = Object.entries(factory).map(([name, value]) => [name, { get: (): unknown => value }]);

test.each([
  ["frozen", Object.freeze(factory)],
  ["of getters", Object.create({}, Object.fromEntries(getters)) as LimiterFactory],
])("a factory that is %s", async (_, mine) => {
  const clocked = clockedFactory({ factory: mine, clock });
  const options = { seed: 1, runs: 5, timers: globalThis } as const;
  for (const one of [mine, clocked]) {
    expect(await checkLaws(one, options)).toMatchObject({ limiter: "made once", ok: true });
    expect(await checkInterleavings(one, options)).toMatchObject({ outcome: "no-counterexample" });
  }
});
