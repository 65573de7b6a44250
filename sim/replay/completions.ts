// The calls that are completed, and the amounts (POLICY.md §4).
import type { CompiledOperation } from "../../src/engine/compiled-policy.ts";
import type { PolicyCore } from "../../src/engine/policy-core.ts";

export class Completions {
  /** Greatest number of quotas of a call, and so of windows that are kept for each running call. */
  readonly width: number;
  /** True if any operation's calls are completed. */
  readonly any: boolean;
  /** Flags by operation: true if a completion of its calls may change a count. */
  readonly changes: readonly boolean[];
  readonly #operations: readonly CompiledOperation[];
  readonly #charges: readonly boolean[];
  readonly #givesBack: readonly boolean[];
  /** True for operations whose costs are final beforehand. */
  readonly #isFixed: readonly boolean[];

  constructor({ operations, quotas }: Pick<PolicyCore, "operations" | "quotas">) {
    this.#operations = operations;
    const has = (one: CompiledOperation, fits: "isLate" | "isHeld"): boolean =>
      one.isSettled && one.quotas.some((place) => quotas[place]?.[fits] === true);
    this.#charges = operations.map((one) => has(one, "isLate"));
    this.#givesBack = operations.map((one) => has(one, "isHeld"));
    this.#isFixed = operations.map((one) => one.isFixed.every((fixed) => fixed));
    this.changes = this.#charges.map((charges, place) => charges || this.#givesBack[place] === true);
    this.any = this.changes.includes(true);
    this.width = Math.max(0, ...operations.map((one) => one.quotas.length));
  }

  /** Tells whether the completion of a call changes a count. */
  matters(operation: number, cost: number, actual: number): boolean {
    if (this.#charges[operation] === true) return true;
    if (this.#givesBack[operation] !== true) return false;
    const { costs, isFixed } = this.#operations[operation] as CompiledOperation;
    return costs.some((known, place) => isFixed[place] === false && actual < (known < 0 ? cost : known));
  }

  /**
   * Returns what a call used.
   * @param known amount by the log; below 0 if unknown, and the call then used all that it asked for
   */
  actual(operation: number, cost: number, known: number): number {
    if (this.#isFixed[operation] === true) return cost;
    const { costs, isFixed } = this.#operations[operation] as CompiledOperation;
    let most = Number.POSITIVE_INFINITY;
    for (const [place, each] of costs.entries())
      if (isFixed[place] === false) most = Math.min(most, each < 0 ? cost : each);
    return known < 0 ? most : Math.min(known, most);
  }
}
