// Worlds by name: a report names a failing world by seed and number, and who draws it later gets the same one. What is
// drawn stays within its bounds, and comes to both of them.
import { describe, expect, test } from "vitest";
import { Dice } from "../../sim/swarm/dice.ts";
import { swarm, worldNamed } from "../../sim/swarm/swarm.ts";
import { drawWorld } from "../../sim/swarm/world.ts";
import type { Plain, PlainObject } from "../../sim/swarm/world-recipe.ts";
import type { LimiterAdapter, LimiterFactory } from "../../src/engine/adapter.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { digestOf } from "../support/digest.ts";

const many = Array.from({ length: 400 }, (_, index) => drawWorld(77, index));
const marked = (value: unknown): string => digestOf(value, 16);

test("a world that was named is drawn again", () => {
  // Another digest here means that no world named until today can be drawn again: say so in CHANGELOG.md.
  expect(marked(many.map(({ recipe }) => recipe))).toBe("905be3682f2d3454");
  expect(worldNamed("77/13")).toEqual(many[13]?.recipe);
  expect(worldNamed(`${"9".repeat(15)}/0`)).toEqual(drawWorld(999_999_999_999_999, 0).recipe);
  // The greatest seed that `swarm` takes.
  expect(worldNamed(`${2 ** 53 - 1}/0`)).toEqual(drawWorld(2 ** 53 - 1, 0).recipe);
  for (const name of ["77", "77/", "/13", "-1/2", "1/2/3", "x/2", `1/${"1".repeat(10)}`, `${2 ** 53}/0`])
    expect(() => worldNamed(name)).toThrow(SpillwayError);
});

test("dice fall on all numbers of their bounds, and on all values alike", () => {
  const dice = new Dice(3, 5);
  const of = <T>(draw: () => T): T[] => Array.from({ length: 600 }, draw);
  expect([...new Set(of(() => dice.between(2, 4)))].toSorted()).toEqual([2, 3, 4]);
  const values = of(() => dice.of(["a", "b", "c"]));
  for (const value of ["a", "b", "c"])
    expect(Math.abs(values.filter((one) => one === value).length - 200)).toBeLessThan(50);
  expect(Math.abs(of(() => dice.oneIn(3)).filter(Boolean).length - 200)).toBeLessThan(50);
  expect(of(() => dice.oneIn(1))).not.toContain(false);
  expect(new Set(of(() => dice.seed())).size).toBeGreaterThan(590);
  expect(() => dice.of([])).toThrow(RangeError);
  expect(new Dice(3, 5).seed()).toBe(new Dice(3, 5).seed());
  expect(new Set([new Dice(3, 5), new Dice(3, 6), new Dice(4, 5)].map((one) => one.seed())).size).toBe(3);
});

describe("what a world has", () => {
  const withIt = (name: string) => many.filter(({ features }) => features.has(name as never));
  const without = (name: string) => many.filter(({ features }) => !features.has(name as never));
  const text = ({ recipe }: (typeof many)[number]): string => JSON.stringify(recipe);

  test.each([
    ["start off the grid", '"startAt":'],
    ["loss", '"loss":'],
    ["slow queries", '"execution":'],
    ["late timers", '"lateness":'],
    ["outages", '"outages":'],
    ["servers with a queue", '"service":'],
    ["clocks apart", '"clocks":'],
    ["overrides", '"organizations":'],
    ["unenforced", '"enforced":false'],
    ["several organizations", '"organization":"globex"'],
    ["shared users", '"user":"'],
    ["arrivals", '"executor":'],
    ["known clients", '"preset":'],
    ["retries without an answer", '"unanswered":true'],
    ["status calls", '"make":"status"'],
    ["give-backs", '"actual":'],
    ["oversized queries", '"cost":50001'],
    ["large limits", "5000000000"],
  ])("%s: some worlds that have it show it, and none without it", (feature, shown) => {
    expect(without(feature).filter((world) => text(world).includes(shown))).toEqual([]);
    expect(withIt(feature).filter((world) => text(world).includes(shown)).length).toBeGreaterThan(15);
  });

  /** All numbers of a member, wherever it stands. */
  function numbersOf(value: Plain, member: string): number[] {
    if (typeof value !== "object") return [];
    if (Array.isArray(value)) return value.flatMap((each) => numbersOf(each, member));
    return Object.entries(value as PlainObject).flatMap(([name, each]) =>
      name === member && typeof each === "number" ? [each] : numbersOf(each, member),
    );
  }

  test.each([
    ["duration", 4_000, 150_000],
    ["loss", 0.01, 0.2],
    ["timeout", 50, 5_000],
    ["servers", 1, 6],
    ["queue", 0, 20],
    ["apart", 1, 300],
    ["attempts", 2, 6],
    ["windowSeconds", 1, 60],
    ["clients", 1, 12],
    ["startWithin", 1, 5_000],
  ])("%s is from %d to %d", (member, least, most) => {
    const drawn = many.flatMap(({ recipe }) => numbersOf(recipe, member));
    const slack = (most - least) / 20;
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(least);
    expect(Math.min(...drawn)).toBeLessThanOrEqual(least + slack);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(most);
    expect(Math.max(...drawn)).toBeGreaterThanOrEqual(most - slack);
  });
});

test("a limiter that fails is told as one, and its world is tried forty times at most", async () => {
  const factory: LimiterFactory = {
    ...{ name: "broken", algorithm: "fixed-window", claims: "all" },
    create: (): LimiterAdapter => ({
      decide() {
        throw new Error("no store");
      },
    }),
  };
  const said: string[] = [];
  const { failures, worlds } = await swarm({
    ...{ worlds: 3, seed: 5, limiter: { factory, placeOf: () => "mine.ts:3" } },
    onProgress: ({ worlds: done, shrinking }) => void said.push(`${done} ${shrinking}`),
  });
  expect(worlds).toBe(1);
  expect(failures).toMatchObject([
    { world: "5/0", law: null, explanation: expect.stringMatching(/no store at mine\.ts:3$/) },
  ]);
  expect(failures[0]?.shrunk.tried).toBe(40);
  expect(said).toEqual([...Array.from({ length: 40 }, () => "0 5/0"), "1 null"]);
});

test.each([-1, 1.5, Number.NaN])("a seed or a number of worlds is no %d", async (value) => {
  await expect(swarm({ worlds: value, seed: 1 })).rejects.toThrow("worlds must be a whole number from 0");
  await expect(swarm({ worlds: 1, seed: value })).rejects.toThrow("seed must be a whole number from 0");
});

test("no worlds are a swarm, too", async () => {
  expect(await swarm({ worlds: 0, seed: 0 })).toMatchObject({ worlds: 0, failures: [], interrupted: false });
});
