// The kind of cost that a call of an operation has.
import type { Policy } from "./policy.ts";

/** Kind of cost: `declared` by the call; `bounded`, and told by the answer; or `fixed`. */
export type CostKind = "declared" | "bounded" | "fixed";

export function costKindOf({ operations }: Pick<Policy, "operations">, operation: string): CostKind {
  const costs = Object.values(operations[operation]?.uses ?? {});
  if (costs.includes("declared")) return "declared";
  return costs.some((cost) => typeof cost === "object") ? "bounded" : "fixed";
}
