// Whose rows are held: all of most windows, and one pass over a trace is enough. A long window lets those go that the screen
// has passed (`Screened`). Where something is to be explained of it later all the same, its quota asks for them. Then all
// that was said is void, and there is another pass, in which that quota's windows hold all their rows.
import type { Screened } from "./screened.ts";

/** The part of a window's rows that a judgement holds. */
export interface Holding {
  /** Rows of a window that are held; of more, those go that the screen has passed. */
  readonly rowsMost: number;
  /** Quotas whose windows hold all their rows, by their numbers. */
  readonly all: ReadonlySet<number>;
}

export const holdsAll: Holding = { rowsMost: Number.POSITIVE_INFINITY, all: new Set() };

/** The rows that the windows of a judgement hold. */
export class HeldRows {
  /** Quotas that asked for rows that had gone. */
  readonly asked = new Set<number>();
  readonly #holding: Holding;
  readonly #screened = new Map<number, { readonly quota: number; readonly sums: Screened }>();
  /** By window: how many rows it has when it is looked at next. */
  readonly #next = new Map<number, number>();

  constructor(holding: Holding) {
    this.#holding = holding;
  }

  /** Tells whether a window is to let rows go. @param size number of those that it holds */
  isMany(quota: number, window: number, size: number): boolean {
    const { rowsMost, all } = this.#holding;
    return size >= rowsMost && size >= (this.#next.get(window) ?? 0) && !all.has(quota);
  }

  lookAgain(window: number, size: number): void {
    this.#next.set(window, size);
  }

  /** Sums over the rows that a window let go; `undefined` where it holds all. */
  of(window: number): Screened | undefined {
    return this.#screened.get(window)?.sums;
  }

  keep(quota: number, window: number, sums: Screened): void {
    this.#screened.set(window, { quota, sums });
  }

  /** Somebody asks for all rows of a window. */
  ask(window: number): void {
    const known = this.#screened.get(window);
    if (known !== undefined) this.asked.add(known.quota);
  }

  /** A window is over. */
  forget(window: number): void {
    if (this.#next.size === 0) return;
    this.#screened.delete(window);
    this.#next.delete(window);
  }
}
