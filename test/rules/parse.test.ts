// Rules from untrusted JSON: defaults, overrides, switches per scope, and errors that name every field.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SpillwayError } from "../../src/rules/errors.ts";
import { adviseRules, parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import { organizationLimit, semanticsOf, userLimit } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { property } from "../support/property.ts";

function problems(input: unknown): readonly { path: string; got: string; allowed: string }[] {
  try {
    parseRules(input);
  } catch (error) {
    if (error instanceof SpillwayError && error.code === "RULES_INVALID") return error.problems;
    throw error;
  }
  return [];
}

const switchNames = Object.keys(switchValues) as SwitchName[];

describe("defaults (SPEC.md §1, §8)", () => {
  test("nothing given is the API as the specification states it", () => {
    const rules = parseRules({});
    expect(rules.organization.rest).toEqual({ limit: 200, windowSeconds: 60, enforced: true });
    expect(rules.organization.graphql).toEqual({ limit: 20_000, windowSeconds: 300, enforced: true });
    expect(rules.user.rest).toEqual({ limit: 50, windowSeconds: 60 });
    expect(rules.user.graphql).toEqual({ limit: 5_000, windowSeconds: 300 });
    expect(semanticsOf(rules, "graphql")).toEqual({
      anchor: "epoch",
      refused: "uncounted",
      refusedByUser: "charges-nothing",
      graphqlCharge: "reserved",
      remaining: "clamped",
      reset: "ceil",
      userEnforced: "with-organization",
      retryAfter: true,
    });
  });

  test("a switch is one value, or one for each scope", () => {
    const rules = parseRules({ semantics: { anchor: "first-request", reset: { graphql: "floor" } } });
    expect(rules.semantics.anchor).toEqual({ rest: "first-request", graphql: "first-request" });
    expect(rules.semantics.reset).toEqual({ rest: "ceil", graphql: "floor" });
  });

  test("the preset `documented` is the public documentation's", () => {
    const rules = parseRules(presets.documented);
    expect(semanticsOf(rules, "rest")).toMatchObject({
      anchor: "epoch",
      refused: "counted",
      retryAfter: false,
    });
    expect(semanticsOf(rules, "graphql")).toMatchObject({
      anchor: "first-request",
      graphqlCharge: "postpaid",
    });
  });

  test("overrides apply by organization and by user, member by member", () => {
    const rules = parseRules({
      organizations: { acme: { rest: { limit: 1000, enforced: false } } },
      users: { "acme/agent-17": { rest: { limit: 7 } } },
    });
    expect(organizationLimit(rules, "acme", "rest")).toEqual({
      limit: 1000,
      windowSeconds: 60,
      enforced: false,
    });
    expect(organizationLimit(rules, "other", "rest").limit).toBe(200);
    expect(userLimit(rules, "acme", "agent-17", "rest")).toEqual({ limit: 7, windowSeconds: 60 });
    expect(userLimit(rules, "other", "agent-17", "rest").limit).toBe(50);
    expect(organizationLimit(rules, "hasOwnProperty", "rest").limit).toBe(200);
  });

  const limit = fc.record(
    { limit: fc.integer({ min: 1 }), windowSeconds: fc.integer({ min: 1, max: 3600 }) },
    { requiredKeys: [] },
  );
  const input = fc.record(
    {
      user: fc.record({ rest: limit, graphql: limit }, { requiredKeys: [] }),
      organizations: fc.dictionary(
        fc.stringMatching(/^[a-z]{1,8}$/).filter((name) => !["constructor", "prototype"].includes(name)),
        fc.record({ rest: limit }, { requiredKeys: [] }),
      ),
      semantics: fc.record(
        Object.fromEntries(
          switchNames.map((name) => [
            name,
            fc.oneof(
              fc.constantFrom(...switchValues[name]),
              fc.record({ rest: fc.constantFrom(...switchValues[name]) }),
            ),
          ]),
        ),
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
  property([input])("complete rules read again give themselves, through JSON too", (given) => {
    const rules = parseRules(given);
    expect(parseRules(JSON.parse(JSON.stringify(rules)))).toEqual(rules);
  });
});

describe("bad rules", () => {
  test.each([
    ["0", 0],
    ["-1", -1],
    ["1.5", 1.5],
    ["9007199254740992", 2 ** 53],
    ['"200"', "200"],
    ["null", null],
    ["true", true],
  ])("a limit of %s names the field, what was got and what is allowed", (got, limit) => {
    expect(problems({ organization: { rest: { limit } } })).toEqual([
      {
        path: "organization.rest.limit",
        got,
        allowed: "a whole number of requests or points from 1 to 9007199254740991",
      },
    ]);
  });

  test("several mistakes are reported together", () => {
    const found = problems({
      organisation: {},
      user: { rest: { windowSeconds: 0 }, soap: {} },
      semantics: { anchor: "midnight", reset: { graphql: "up" } },
      users: { nobody: {} },
    });
    expect(found.map(({ path }) => path).sort()).toEqual(
      [
        "organisation",
        "semantics.anchor",
        "semantics.reset.graphql",
        "user.rest.windowSeconds",
        "user.soap",
        "users.nobody",
      ].sort(),
    );
    expect(found.find(({ path }) => path === "organisation")?.allowed).toContain("organization");
    expect(found.find(({ path }) => path === "semantics.anchor")?.allowed).toContain(
      '"epoch", "first-request"',
    );
  });

  test.each([[[]], [null], ["default"], [7]])("%j is no rules object", (input) => {
    expect(problems(input)).toHaveLength(1);
    expect(problems(input)[0]?.path).toBe("rules");
  });

  test("names that JavaScript treats specially are refused, not silently dropped", () => {
    expect(problems(JSON.parse('{"organizations":{"__proto__":{},"constructor":{}}}'))).toHaveLength(2);
    expect(({} as Record<string, unknown>)["rest"]).toBeUndefined();
  });
});

describe("advice (SPEC.md §2.7)", () => {
  test("a user's limit above its organization's is said, by place", () => {
    expect(adviseRules(parseRules({}))).toEqual([]);
    const advice = adviseRules(
      parseRules({ user: { rest: { limit: 300 } }, users: { "acme/a": { graphql: { limit: 20_001 } } } }),
    );
    expect(advice).toHaveLength(3);
    expect(advice[0]).toBe(
      "user.rest.limit is 300, above its organization's 200: a user can never use it in full, and a cost above 200 is refused for ever",
    );
    expect(advice.at(-1)).toContain('users["acme/a"].graphql.limit is 20001');
  });
});
