// Numbers that checks of laws are given: whole ones, in their range.
import { describe, expect, test } from "vitest";
import { checkLaws } from "../../src/laws/index.ts";
import { requireLaws } from "../../src/laws/subject.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";
import { TinyLimiter, tinyFactory } from "./tiny-limiter.ts";

const factory = tinyFactory("tiny", TinyLimiter);

describe("numbers of a check", () => {
  test.each([
    ["runs", 0, "from 1 to 10000000, got 0"],
    ["runs", 1.5, "from 1 to 10000000, got 1.5"],
    ["runs", 10_000_001, "from 1 to 10000000, got 10000001"],
    ["seed", 2 ** 31, "from -2147483648 to 2147483647, got 2147483648"],
    ["seed", -(2 ** 31) - 1, "from -2147483648 to 2147483647, got -2147483649"],
    ["seed", Number.NaN, "from -2147483648 to 2147483647, got NaN"],
  ])("%s = %d cannot be used", async (name, value, said) => {
    await expect(checkLaws(factory, { runs: 1, [name]: value })).rejects.toThrow(
      new RangeError(`${name} must be an integer ${said}`),
    );
  });

  test.each([2 ** 31 - 1, -(2 ** 31)])("the seed %d can", async (seed) => {
    expect((await checkLaws(factory, { runs: 1, seed, laws: ["bounded"] })).seed).toBe(seed);
  });
});

test("laws are asked for by name, and come in the catalogue's order", () => {
  const [first, second, ...others] = limiterLawNames;
  expect(requireLaws()).toEqual(limiterLawNames);
  expect(requireLaws([second, first] as never)).toEqual([first, second]);
  expect(others.length).toBeGreaterThan(5);
  expect(() => requireLaws([first, "fairness"] as never)).toThrow(RangeError);
});
