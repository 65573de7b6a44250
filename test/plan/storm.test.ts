// Retry storms, where the answer can be worked out: what a burst leaves over takes from what later windows can spare.
import { defineScenario, poller, rest, status } from "spillway/scenario";
import { describe, expect, test } from "vitest";
import type { CountsByWindow } from "../../src/plan/job.ts";
import { plan } from "../../src/plan/plan.ts";
import { parseStorm, recoveredAfter } from "../../src/plan/storm.ts";
import { withTrigger } from "../../src/plan/trigger.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { hammering, steady } from "./worlds.ts";

describe("recovered", () => {
  const outcome = (...windows: [number, number][]): CountsByWindow => windows;
  const at = { atMs: 60_000, windowMs: 60_000 };
  const calm = outcome([100, 0], [100, 10], [100, 0], [100, 5], [100, 0]);
  const windowsUntil = (...windows: [number, number][]) =>
    recoveredAfter(calm, outcome(...windows), at, 90_000);

  test("at once where every window after the trigger's is in the range without it", () => {
    expect(windowsUntil([100, 0], [100, 90], [100, 10], [100, 0], [100, 9])).toBe(0);
  });

  test("later where some are not; a percentage point is given", () => {
    expect(windowsUntil([100, 0], [100, 90], [100, 50], [100, 11], [100, 0])).toBe(1);
    expect(windowsUntil([100, 0], [100, 90], [100, 50], [100, 12], [100, 0])).toBe(2);
  });

  test("never where the last window is not, whatever came between", () => {
    expect(windowsUntil([100, 0], [100, 90], [100, 0], [100, 0], [100, 12])).toBeNull();
  });

  test("never where clients fell silent", () => {
    expect(windowsUntil([100, 0], [100, 90], [100, 0], [100, 0], [0, 0])).toBeNull();
  });

  test("over more windows than a function takes arguments", () => {
    const normal = new Array<[number, number]>(200_000).fill([100, 0]);
    const seen = normal.with(2, [100, 50]);
    expect(recoveredAfter(normal, seen, at, 90_000)).toBe(1);
  });
});

describe("a trigger comes after the first window", () => {
  const looking = (call: ReturnType<typeof rest>, duration: string) =>
    defineScenario({
      ...{ name: "looking", duration, rules: { organization: { rest: { limit: 9, windowSeconds: 30 } } } },
      populations: { one: { clients: 1, behaviour: poller({ call, every: "9s" }) } },
    });

  test("of the limit that the calls touch, or of a minute if they touch none", () => {
    expect(parseStorm("burst", looking(rest("/v2/user"), "2m"))).toMatchObject({
      atMs: 30_000,
      windowMs: 30_000,
    });
    expect(parseStorm("burst", looking(status(), "4m"))).toMatchObject({ atMs: 60_000, windowMs: 60_000 });
  });

  test("of the policy, where the scenario has one", () => {
    const { policy } = presets["fastify"] ?? {};
    const slow: unknown = JSON.parse(
      JSON.stringify(policy).replaceAll('"windowSeconds":60', '"windowSeconds":600'),
    );
    const underPolicy = (duration: string) => ({
      ...looking(rest("/v2/user"), duration),
      policy: parsePolicy(slow),
    });
    expect(parseStorm("burst", underPolicy("40m"))).toMatchObject({ atMs: 600_000, windowMs: 600_000 });
    expect(() => parseStorm("burst", underPolicy("39m"))).toThrow(/2400000 ms or more/);
  });

  test("and is over a window before the end: an outage lasts half of what is left, a burst has 2,000 calls", () => {
    const { sizes } = parseStorm("outage", looking(rest("/v2/user"), "2m"));
    expect([sizes[0], sizes.at(-1)]).toEqual([1_000, 45_000]);
    const burst = parseStorm("burst", looking(rest("/v2/user"), "2m")).sizes;
    expect([burst[0], burst.at(-1)]).toEqual([1, 2_000]);
  });
});

describe("a burst on 150 of 200 calls a minute, six minutes, the burst in the second", () => {
  // A burst of B leaves B - 50 over; each of the windows 3, 4, 5 works off 50. Those left over try again within 2 s of
  // each reset, before the others come: window 6 refuses nobody where B - 50 - 3 x 50 is at most 50, so B <= 250.
  const result = plan(steady(), { storm: "burst=10..500" });

  test("is recovered from up to 250, give or take what one percentage point is", () => {
    const answer = result.storm?.answer;
    if (answer?.kind !== "value") throw new Error(`the answer is ${answer?.kind}`);
    const { holds, fails } = answer;
    expect(holds).toBeGreaterThanOrEqual(245);
    expect(fails).toBeLessThanOrEqual(256);
    expect(result.sentences[0]).toMatch(
      /^The load does not recover by the end of 6 min from a burst of \d+ calls; from a burst of \d+ calls it does/,
    );
  });

  test("is recovered from within two windows up to 200 alone: windows 3 and 4 work off 50 each, 5 has room for 50", () => {
    const { storm, sentences } = plan(steady(), { storm: "burst=10..500:10", within: 2 });
    expect(storm).toMatchObject({ withinWindows: 2, answer: { kind: "value", holds: 200, fails: 210 } });
    expect(sentences[0]).toContain("does not recover within 2 windows of 1 min from a burst of 210 calls");
  });

  test("takes longer the larger it is, and is drawn on both sides of the edge", () => {
    const waits = (result.storm?.triggers ?? []).map(({ windowsToRecover }) => windowsToRecover ?? 99);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(result.storm?.series.map(({ shares }) => shares.length)).toEqual([6, 6, 6]);
    expect(result.storm?.series[0]?.shares.every((share) => share === 0)).toBe(true);
  });
});

test("with nothing to spare, and retries at short notice, no burst is ever recovered from", () => {
  const { storm, sentences } = plan(hammering(), { storm: "burst=20..60:20" });
  expect(storm?.answer).toEqual({ kind: "none" });
  expect(sentences[0]).toContain(
    "does not recover by the end of 6 min in 50% of runs even from a burst of 20 calls",
  );
});

test("an outage that loses its calls leaves nothing over: every one is recovered from", () => {
  const { storm } = plan(steady(), { storm: "outage=5s..60s:5s" });
  expect(storm?.answer).toEqual({ kind: "all" });
  expect(storm?.triggers.every(({ windowsToRecover }) => windowsToRecover === 0)).toBe(true);
});

describe("triggers", () => {
  test("a burst is a population of its own, like the largest, and comes last", () => {
    const { populations } = withTrigger(steady(), { kind: "burst", atMs: 60_000, size: 40 });
    expect(populations.map(({ name }) => name)).toEqual(["calls", "burst"]);
    expect(populations[1]?.onRefused).toBe(populations[0]?.onRefused);
  });

  test("an outage is added to those that the scenario has", () => {
    const { outages } = withTrigger(steady(), { kind: "outage", atMs: 60_000, size: 5_000 });
    expect(outages).toEqual([{ atMs: 60_000, forMs: 5_000, answer: 503, share: 1 }]);
  });

  test("sizes are given or have defaults", () => {
    expect(parseStorm("outage", steady())).toMatchObject({ kind: "outage", atMs: 60_000, windowMs: 60_000 });
    expect(parseStorm("outage", steady()).sizes.at(-1)).toBe(150_000);
    expect(parseStorm("burst=10,20", steady()).sizes).toEqual([10, 20]);
    expect(() => parseStorm("burst=many", steady())).toThrow("this storm cannot be looked for");
    expect(() => parseStorm("outage=1s..5m", steady())).toThrow("this storm cannot be looked for");
  });
});
