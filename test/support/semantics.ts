// Any mix of the switches of rules, each of its own value for each scope.
import fc from "fast-check";
import type { RulesInput } from "../../src/rules/rules.ts";
import { switchValues } from "../../src/rules/switches.ts";

export const semantics = fc.record(
  Object.fromEntries(
    Object.entries(switchValues).map(([name, values]) => {
      const value = fc.constantFrom<unknown>(...values);
      return [name, fc.record({ rest: value, graphql: value })];
    }),
  ),
) as fc.Arbitrary<NonNullable<RulesInput["semantics"]>>;
