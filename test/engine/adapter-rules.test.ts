// The rules that a foreign limiter can follow, and those that contradict what it says of itself.
import { describe, expect, test } from "vitest";
import { agreedRules, followedRules, keyedRules } from "../../src/engine/adapter-rules.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";

const given: RulesInput = {
  organization: { rest: { limit: 9 } },
  organizations: { acme: { rest: { limit: 3 } } },
  users: { "acme/ann": { rest: { limit: 2 } } },
  semantics: { refused: "counted", reset: { rest: "floor" } },
};
const rules = parseRules(given);
const both = <T>(value: T) => ({ rest: value, graphql: value });

test("by key, organizations refuse nothing, and all users have the same window", () => {
  const { organization, user, semantics } = rules;
  const off = {
    rest: { ...organization.rest, enforced: false },
    graphql: { ...organization.graphql, enforced: false },
  };
  const kept = { organization: off, user, organizations: {}, users: {} };
  expect(keyedRules(rules)).toEqual({ ...kept, semantics: { ...semantics, userEnforced: both("always") } });
});

test("a value that a limiter does not know becomes the first that it does", () => {
  const followed = followedRules(
    { semantics: { reset: ["round", "ceil"], refused: ["uncounted", "counted"] } },
    rules,
  );
  expect(followed).toEqual({
    ...rules,
    semantics: { ...rules.semantics, reset: { rest: "round", graphql: "ceil" } },
  });
  expect(followedRules({ keyed: false }, rules)).toEqual(rules);
  expect(followedRules({ keyed: true }, rules)).toEqual(keyedRules(rules));
});

describe("rules given for a limiter", () => {
  const limiter = {
    name: "mine",
    algorithm: "fixed-window",
    semantics: { reset: ["round", "ceil"] },
  } as const;
  const problems = (says: object, semantics: RulesInput["semantics"]): unknown => {
    try {
      return agreedRules({ ...limiter, ...says } as never, { semantics } as RulesInput);
    } catch (error) {
      const { code, message, problems: found, hint } = error as Record<string, unknown>;
      expect([code, String(message).split("\n")[0], hint]).toEqual([
        "RULES_INVALID",
        'the rules contradict what "mine" says of itself',
        "let the limiter declare these switches, or leave them out: write rules of limits alone in place of a preset",
      ]);
      return found;
    }
  };

  test("are completed by what it declares, and else by the defaults", () => {
    const { semantics } = agreedRules(limiter, { semantics: { refused: "counted" } });
    expect(semantics.refused).toEqual(both("counted"));
    expect(agreedRules(limiter, {}).semantics.reset).toEqual(both("round"));
    expect(agreedRules({ ...limiter, keyed: true }, {})).toEqual(
      keyedRules(parseRules({ semantics: { reset: "round" } })),
    );
  });

  test("contradict it by a value that it does not know, in a scope that it has", () => {
    const wrong = {
      path: "semantics.reset",
      got: '"floor" in the rules',
      allowed: '"round" or "ceil", as the limiter says',
    };
    expect(problems({}, { reset: "floor" })).toEqual([wrong]);
    expect(problems({}, { reset: { rest: "ceil", graphql: "floor" } })).toEqual([wrong]);
    expect(problems({ scopes: ["rest"] }, { reset: { rest: "ceil", graphql: "floor" } })).toMatchObject({
      semantics: { reset: { rest: "ceil", graphql: "floor" } },
    });
  });

  test("contradict it by an anchor, where it has no windows", () => {
    const allowed = 'none: what the limiter counts is "token-bucket", which has no windows';
    expect(problems({ algorithm: "token-bucket" }, { anchor: "epoch" })).toEqual([
      { path: "semantics.anchor", got: '"epoch" in the rules', allowed },
    ]);
    expect(problems({}, { anchor: "first-request" })).toMatchObject({
      semantics: { anchor: both("first-request") },
    });
  });

  test("do not contradict one by key by who enforces users' windows", () => {
    const says = { semantics: { userEnforced: ["with-organization"] } };
    expect(problems({ ...says, keyed: true }, { userEnforced: "always" })).toMatchObject({
      organizations: {},
    });
    expect(problems(says, { userEnforced: "always" })).toHaveLength(1);
  });
});
