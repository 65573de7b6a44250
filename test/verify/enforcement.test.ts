// When it is known whether a limit was enforced: by what rules say, and by status bodies that agree or differ.
import { describe, expect, test } from "vitest";
import { Enforcement } from "../../src/verify/enforcement.ts";

/** Bodies, each read at some instant from its first number to its second. */
function seen(
  claimed: boolean | null,
  ...bodies: [sent: number, received: number, enforced: boolean][]
): Enforcement {
  const enforcement = new Enforcement(claimed);
  for (const body of bodies) enforcement.observe(...body);
  return enforcement;
}

describe("the last bodies confirm a value", () => {
  const bodies = seen(null, [0, 10, true], [20, 30, false], [40, 50, false]);
  test.each([
    ["that they show, before the last was sent", false, 39, true],
    ["not as it was sent", false, 40, false],
    ["not one that they do not show", true, 5, false],
  ])("%s", (_name, value, at, expected) => {
    expect(bodies.isConfirmed(value, at)).toBe(expected);
  });

  test("none, where there is no body", () => {
    expect(seen(true).isConfirmed(true, 0)).toBe(false);
  });
});

describe("a value holds throughout a span", () => {
  test.each([
    ["by the rules alone", seen(true), 0, 100, true],
    ["by nothing", seen(null), 0, 100, null],
    ["before the last body that agrees was sent", seen(true, [0, 10, true], [40, 50, false]), -20, -1, true],
    [
      "up to the last body of before",
      seen(true, [0, 10, true], [30, 35, true], [40, 50, false]),
      0,
      29,
      true,
    ],
    ["not as it may have changed", seen(true, [0, 10, true], [30, 35, true], [40, 50, false]), 0, 30, null],
    ["nor until the change was received", seen(true, [0, 10, true], [40, 50, false]), 50, 60, null],
    ["after it was", seen(true, [0, 10, true], [40, 50, false]), 51, 60, false],
    ["whatever the order they came in", seen(null, [40, 50, false], [0, 10, true]), 51, 60, false],
    ["before them, too", seen(null, [40, 50, false], [0, 10, true]), -20, -1, true],
    [
      "after the earliest that shows the change",
      seen(true, [0, 10, true], [60, 70, false], [40, 50, false]),
      51,
      60,
      false,
    ],
    [
      "not where one was sent as the other was received",
      seen(null, [0, 10, true], [10, 20, false]),
      60,
      90,
      null,
    ],
    [
      "nor where it overlaps a later one of them",
      seen(null, [0, 10, true], [5, 40, true], [30, 45, false]),
      60,
      90,
      null,
    ],
    ["not where bodies that differ overlap", seen(null, [0, 20, true], [10, 30, false]), 60, 90, null],
    [
      "from a body that is surely later",
      seen(null, [0, 20, true], [10, 30, false], [40, 50, true]),
      60,
      90,
      true,
    ],
  ])("%s", (_name, enforcement, from, to, expected) => {
    expect(enforcement.throughout(from, to)).toBe(expected);
  });
});

test("limits were on at some time, by the bodies, or by the rules if there are none", () => {
  expect(seen(true, [0, 10, true], [20, 30, false]).wasOn).toBe(true);
  expect(seen(true, [0, 10, false]).wasOn).toBe(false);
  expect(seen(true).wasOn).toBe(true);
  expect(seen(null).wasOn).toBe(false);
});
