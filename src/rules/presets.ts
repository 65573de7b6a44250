// Rules by name (SPEC.md §8, last line).
import type { RulesInput } from "./rules.ts";

export const presets = {
  /** SPEC.md as it stands. */
  default: {},
  /**
   * Rules of the API's public documentation: GraphQL measured after execution, on windows that open
   * with their first call; refused REST calls counted; no `Retry-After`.
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
