// The epoch's grid: a window ends at a multiple of its length (SPEC.md §3) by the target's own clock. `reset_at` of a
// status body shows that end, whatever the clock reads.
import type { GridJudge } from "./count.ts";
import type { Docket } from "./docket.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Suspect } from "./suspects.ts";

export class EpochGrid implements GridJudge {
  readonly #name: QuotaName;
  readonly #windowMs: number;
  /** Greatest distance of shown ends from the grid, ms. */
  #besideMost = 0;
  #resetLeast = Number.POSITIVE_INFINITY;
  #first: { readonly line: number; readonly resetAt: number } | null = null;
  /** Distances of shown ends from the grid, ms; at most two are kept. */
  readonly #remainders = new Set<number>();
  #count = 0;
  #onGrid = 0;

  constructor(name: QuotaName, windowMs: number) {
    this.#name = name;
    this.#windowMs = windowMs;
  }

  /** Checks a shown end. @param reset seconds that the body shows beside it */
  observe(line: number, resetAt: number, reset: number): void {
    const beside = resetAt % this.#windowMs;
    if (beside === 0) {
      this.#onGrid += 1;
      return;
    }
    if (this.#remainders.size < 2) this.#remainders.add(beside);
    this.#resetLeast = Math.min(this.#resetLeast, reset);
    this.#first ??= { line, resetAt };
    this.#count += 1;
    this.#besideMost = Math.max(this.#besideMost, Math.min(beside, this.#windowMs - beside));
  }

  finish(docket: Docket): void {
    docket.clues.dates(this.#onGrid, this.#count);
    if (this.#first === null) return;
    const { line, resetAt } = this.#first;
    docket.accuse({
      law: "reset-agrees",
      breach: "off the grid",
      suspects: this.#suspects(),
      ...this.#name.told,
      window: null,
      count: this.#count,
      lines: [line],
      explanation: `line ${line} shows reset_at ${new Date(resetAt).toISOString()}, which is no multiple of ${this.#windowMs / 1000} s`,
    });
  }

  /** Names suspects: an end that is always a whole window away moves with every call; an end near the grid is rounded. */
  #suspects(): readonly Suspect[] {
    if (this.#onGrid === 0 && this.#count > 1 && this.#remainders.size === 1)
      return ["organization-off-grid", "reset-disagrees", "two-interleaved-windows"];
    if (this.#count > 1 && this.#resetLeast * 1000 >= this.#windowMs - 1000)
      return ["rearmed-per-hit", "reset-at-drifts"];
    return this.#besideMost <= 2000
      ? ["reset-at-drifts", "reset-disagrees"]
      : ["reset-disagrees", "two-interleaved-windows", "reset-at-drifts"];
  }
}
