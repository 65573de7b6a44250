// The cost that a call of an operation declares.
import type { Policy } from "./policy.ts";

/** `declared` by the call; `bounded`, and told by its answer; or `fixed`. */
export type CostKind = "declared" | "bounded" | "fixed";

export function costKindOf({ operations }: Pick<Policy, "operations">, operation: string): CostKind {
  const costs = Object.values(operations[operation]?.uses ?? {});
  if (costs.includes("declared")) return "declared";
  return costs.some((cost) => typeof cost === "object") ? "bounded" : "fixed";
}
