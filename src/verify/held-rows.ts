// The rows that are held. Most windows hold all of them, and one pass over a trace is enough. A long window lets rows
// go that the screen has passed (`Screened`). If it must be explained later, its quota asks for those rows. Then the
// verdict is void, and another pass holds all rows of that quota's windows.
import type { Screened } from "./screened.ts";

/** The part of a window's rows that a judgement holds. */
export interface Holding {
  /** Number of rows that a window holds; of more, those go that the screen has passed. */
  readonly rowsMost: number;
  /** Numbers of the quotas whose windows hold all rows. */
  readonly all: ReadonlySet<number>;
}

export const holdsAll: Holding = { rowsMost: Number.POSITIVE_INFINITY, all: new Set() };

/** The rows that the windows of a judgement hold. */
export class HeldRows {
  /** Quotas that asked for rows which had gone. */
  readonly asked = new Set<number>();
  readonly #holding: Holding;
  readonly #screened = new Map<number, { readonly quota: number; readonly sums: Screened }>();
  /** Size at which a window is looked at next, by window. */
  readonly #next = new Map<number, number>();

  constructor(holding: Holding) {
    this.#holding = holding;
  }

  /** Tells whether a window is to let rows go. @param size number of rows that it holds */
  isMany(quota: number, window: number, size: number): boolean {
    const { rowsMost, all } = this.#holding;
    return size >= rowsMost && size >= (this.#next.get(window) ?? 0) && !all.has(quota);
  }

  lookAgain(window: number, size: number): void {
    this.#next.set(window, size);
  }

  /** Returns the sums over rows that a window let go; `undefined` if it holds all. */
  of(window: number): Screened | undefined {
    return this.#screened.get(window)?.sums;
  }

  keep(quota: number, window: number, sums: Screened): void {
    this.#screened.set(window, { quota, sums });
  }

  /** Notes that all rows of a window are asked for. */
  ask(window: number): void {
    const known = this.#screened.get(window);
    if (known !== undefined) this.asked.add(known.quota);
  }

  forget(window: number): void {
    if (this.#next.size === 0) return;
    this.#screened.delete(window);
    this.#next.delete(window);
  }
}
