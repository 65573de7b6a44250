// Options of a replay: members of the rules that are changed, bounds by figure, reactions by name.
import { describe, expect, test } from "vitest";
import { changedRules, expectedOf, reactionOf } from "../../src/cli/replay-options.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { codedError } from "../support/coded-error.ts";

function problemOf(make: () => unknown): string {
  const { code, problems } = codedError(make);
  return `${code} ${problems.map(({ path, got }) => `${path}: ${got}`).join("; ")}`;
}

const rules = parseRules({});

describe("--set", () => {
  test("changes members by their paths, and nothing else", () => {
    const changed = changedRules(rules, [
      "organization.rest.limit=400",
      "organization.rest.enforced=false",
      "semantics.anchor.rest=first-request",
    ]);
    const { organization, semantics } = structuredClone(rules);
    expect(changed).toEqual({
      ...rules,
      organization: { ...organization, rest: { ...organization.rest, limit: 400, enforced: false } },
      semantics: { ...semantics, anchor: { ...semantics.anchor, rest: "first-request" } },
    });
    expect(changedRules(rules, [])).toEqual(rules);
    expect(rules).toEqual(parseRules({}));
  });

  test.each([
    ["organization", 'USAGE --set: "organization"'],
    ["organization.rest.limit", 'USAGE --set: "organization.rest.limit"'],
    ["organization.rest.limit=", 'USAGE --set: "organization.rest.limit="'],
    ["limit=4", 'USAGE --set: "limit=4"'],
    ["organization.rest.limit=1.5", "RULES_INVALID organization.rest.limit: 1.5"],
    ["organization.rest.limit=-1", "RULES_INVALID organization.rest.limit: -1"],
    ["organization.rest.limit=4x", 'RULES_INVALID organization.rest.limit: "4x"'],
    ["organization.rest.enforced=yes", 'RULES_INVALID organization.rest.enforced: "yes"'],
  ])("%s", (change, problem) => {
    expect(problemOf(() => changedRules(rules, [change]))).toBe(problem);
  });

  test("takes __proto__ for a mistake", () => {
    expect(problemOf(() => changedRules(rules, ["__proto__.limit=1"]))).toContain("RULES_INVALID");
    expect(Object.hasOwn(Object.prototype, "limit")).toBe(false);
  });
});

test("--expect takes a figure and a bound, each figure once", () => {
  expect(expectedOf([" refusedShare <1%", "agents.waitP95Ms>=2s"])).toEqual({
    refusedShare: "<1%",
    "agents.waitP95Ms": ">=2s",
  });
  expect(problemOf(() => expectedOf(["refusedShare"]))).toBe('USAGE --expect: "refusedShare"');
  expect(problemOf(() => expectedOf(["<1%"]))).toBe('USAGE --expect: "<1%"');
  expect(problemOf(() => expectedOf(["calls<1", "calls>0"]))).toBe('USAGE --expect: "calls>0"');
});

test("--on-refused takes a policy by its name, with the seed of its draws", () => {
  expect(reactionOf("waitReset+0..5s", 7)).toMatchObject({ words: "waitReset+0..5s", seed: 7 });
  expect(problemOf(() => reactionOf("own", 7))).toBe('USAGE --on-refused: "own"');
  expect(problemOf(() => reactionOf("waitRest", 7))).toMatch(/^USAGE .*"waitRest"/);
});
