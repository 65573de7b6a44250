// Rules by name (SPEC.md §8, last line).
import type { RulesInput } from "./rules.ts";

export const presets = {
  /** Rules of SPEC.md, unchanged. */
  default: {},
  /**
   * Rules of the API's public documentation: GraphQL is measured after execution, in windows that open with their first
   * call. Refused REST calls count. There is no `Retry-After`.
   */
  documented: {
    semantics: {
      anchor: { rest: "epoch", graphql: "first-request" },
      refused: { rest: "counted", graphql: "uncounted" },
      graphqlCharge: "postpaid",
      retryAfter: false,
    },
  },
} as const satisfies Record<string, RulesInput>;

export type PresetName = keyof typeof presets;
