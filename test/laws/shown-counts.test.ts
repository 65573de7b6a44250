// Laws on shown counts, by rules: the last number that each lets pass, the first that it does not, and what it says.
import { describe, expect, test } from "vitest";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { judged, type Said } from "./scripted.ts";

/** For an organization 4 requests in 6 s, and 9 points in 10 s; a user is never in the way. */
const rulesOf = (semantics: RulesInput["semantics"] = {}) =>
  parseRules({
    organization: { rest: { limit: 4, windowSeconds: 6 }, graphql: { limit: 9, windowSeconds: 10 } },
    user: { rest: { limit: 99, windowSeconds: 6 }, graphql: { limit: 99, windowSeconds: 10 } },
    semantics,
  });

/** A limiter that admits all, and shows these numbers of the organization, by operation. */
const showing =
  (readings: readonly object[]): Said =>
  (one, before) => {
    const organization = readings[before.length] ?? {};
    if (one.do === "status") return { status: { rest: organization } };
    if (one.do === "settle") return { call: before[0], readings: { organization } };
    return one.do === "call" ? { decision: { admitted: true, refusedBy: null, organization } } : {};
  };

async function found(
  law: LimiterLawName,
  words: string,
  readings: readonly object[],
  semantics?: RulesInput["semantics"],
) {
  const { judged: count, broken } = await judged(law, words, {
    rules: rulesOf(semantics),
    said: showing(readings),
  });
  return broken ?? count;
}

describe("bounded", () => {
  const why = "the limit is 4 and every call of this window was decided while enforced";
  test.each<[object, string | number]>([
    [{ current: 4 }, 1],
    [{ current: 5 }, `0: 0 <= current <= 4; current 5; ${why}`],
    [{ current: 0 }, 1],
    [{ current: -1 }, `0: 0 <= current <= 4; current -1; ${why}`],
    [{ remaining: 4 }, 1],
    [{ remaining: 5 }, `0: 0 <= current <= 4; current -1; ${why}`],
    [{ current: 1, remaining: 5 }, `0: 0 <= remaining <= 4; remaining 5; ${why}`],
    [{ remaining: 0 }, 1],
    [{ remaining: -1 }, `0: 0 <= remaining <= 4; remaining -1; ${why}`],
    // A limit that is said counts for nothing: limit-agrees judges it.
    [{ limit: 9, current: 5 }, `0: 0 <= current <= 4; current 5; ${why}`],
    [{}, 0],
  ])("of a reading %j", async (reading, expected) => {
    expect(await found("bounded", "a1", [reading])).toBe(expected);
  });

  test("says nothing of windows that were not enforced, or of calls that may pass a limit", async () => {
    expect(await found("bounded", "off a1", [{}, { current: 9 }])).toBe(0);
    // A call before the switch makes this window one that may pass its limit.
    expect(await found("bounded", "off a1 on a2", [{}, { current: 9 }, {}, { current: 9 }])).toBe(0);
    expect(await found("bounded", "a1", [{ current: 9 }], { refused: "counted" })).toBe(0);
    expect(await found("bounded", "a1g", [{ current: 10 }], { graphqlCharge: "postpaid" })).toBe(0);
    expect(await found("bounded", "a1g", [{ current: 10 }], { graphqlCharge: "prepaid" })).toMatch(
      /current 10/,
    );
  });
});

describe("conserved", () => {
  test.each<[readonly object[], string | number]>([
    [[{ current: 1 }, { current: 2 }], 2],
    [[{ remaining: 3 }, { remaining: 2 }], 2],
    [
      [{ current: 2 }],
      "0: current 1; current 2; nothing was charged in this window before, this operation adds 1: 1",
    ],
    [[{ current: 1 }, { current: 3 }], "1: current 2; current 3; 1 charged before, this operation adds 1: 2"],
    [[{ current: 1 }, { current: 1 }], "1: current 2; current 1; 1 charged before, this operation adds 1: 2"],
    [
      [{ current: 1 }, { remaining: 1 }],
      "1: current 2; current 3; 1 charged before, this operation adds 1: 2",
    ],
    [[{}, { current: 2 }], 1],
    // Nothing left shows 4 used, or more.
    [[{}, { remaining: 0 }], 0],
  ])("of two calls that show %j", async (readings, expected) => {
    expect(await found("conserved", "a1 a2", readings)).toBe(expected);
  });

  test.each<[number, string | number]>([
    [1, 2],
    [2, "1: current 1; current 2; 1 charged before, this operation charges nothing: 1"],
  ])("of a status after one call, which shows %d", async (current, expected) => {
    expect(await found("conserved", "a1 ?", [{ current: 1 }, { current }])).toBe(expected);
  });

  test.each<[number, string | number]>([
    [5, 2],
    [9, "1: current 5; current 9; 9 charged before, this operation charges nothing, 4 given back: 5"],
    [6, "1: current 8; current 6; 9 charged before, this operation charges nothing, 1 given back: 8"],
  ])("of a query of 9 that used as much as is right, which shows %d", async (current, expected) => {
    const readings = [{ current: 9 }, { current }];
    const used = current === 6 ? 8 : 5;
    expect(await found("conserved", `a1gx9 =1x${used}`, readings, { graphqlCharge: "reserved" })).toBe(
      expected,
    );
  });
});

describe("remaining-agrees", () => {
  test.each<[object, string | number]>([
    [{ current: 1, remaining: 3 }, 1],
    [{ current: 1, remaining: 2 }, "0: remaining 3; remaining 2; max(0, 4 - 1) = 3"],
    [{ current: 1, remaining: 4 }, "0: remaining 3; remaining 4; max(0, 4 - 1) = 3"],
    [{ limit: 6, current: 1, remaining: 5 }, 1],
    [{ current: 5, remaining: 0 }, 1],
    [{ current: 5, remaining: -1 }, "0: remaining 0; remaining -1; max(0, 4 - 5) = 0"],
    [{ remaining: 0 }, 0],
    [{ remaining: -1 }, "0: remaining 0 or more; remaining -1; what is left is never less than nothing"],
    [{ current: 1 }, 0],
  ])("of a reading %j", async (reading, expected) => {
    expect(await found("remaining-agrees", "a1", [reading])).toBe(expected);
  });

  test.each<[object, string | number]>([
    [{ current: 5, remaining: -1 }, 1],
    [{ current: 5, remaining: 0 }, "0: remaining -1; remaining 0; 4 - 5 = -1"],
    [{ remaining: -1 }, 0],
  ])("of a signed reading %j", async (reading, expected) => {
    expect(await found("remaining-agrees", "a1", [reading], { remaining: "signed" })).toBe(expected);
  });
});
