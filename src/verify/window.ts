// Windows: answers are put together by where the window ends that they show. Each shows it as an interval on the
// clients' clock. Windows of one quota end at least their length W apart, so intervals narrower than W / 2 of
// different windows cannot meet, and those of one window all hold its end: whatever meets belongs together.
import { driftShare, type Span } from "./clock.ts";
import type { Mark } from "./mark.ts";
import { MarkRows, type MarkStore } from "./mark-rows.ts";

export class Window {
  /** End that all its answers agree on. */
  readonly end: { from: number; to: number };
  readonly limit: number;
  /** Its answers; `marks` and the others below make objects of them. */
  readonly rows: MarkRows;
  /** True if its answers showed more than one limit. */
  mixed = false;
  /** The answers that say that it ends so late, and so early, and the first that showed `reset_at`. */
  readonly #firstRow: number;
  #fromRow: number;
  #toRow: number;
  #datedRow: number | null = null;

  constructor(mark: Mark, store: MarkStore) {
    this.end = { from: mark.end.from, to: mark.end.to };
    this.limit = mark.limit;
    this.rows = new MarkRows(store);
    this.#firstRow = this.rows.add(mark);
    this.#fromRow = this.#firstRow;
    this.#toRow = this.#firstRow;
    if (mark.resetAt !== null) this.#datedRow = this.#firstRow;
  }

  get marks(): readonly Mark[] {
    return this.rows.all();
  }

  get first(): Mark {
    return this.rows.at(this.#firstRow);
  }

  get fromMark(): Mark {
    return this.rows.at(this.#fromRow);
  }

  get toMark(): Mark {
    return this.rows.at(this.#toRow);
  }

  get dated(): Mark | null {
    return this.#datedRow === null ? null : this.rows.at(this.#datedRow);
  }

  meets({ end }: Mark): boolean {
    return end.from <= this.end.to && end.to >= this.end.from;
  }

  /** @param mark is not kept, only what it says */
  add(mark: Mark): void {
    const row = this.rows.add(mark);
    if (mark.limit !== this.limit) this.mixed = true;
    if (mark.resetAt !== null) this.#datedRow ??= row;
    if (mark.end.from > this.end.from) {
      this.end.from = mark.end.from;
      this.#fromRow = row;
    }
    if (mark.end.to < this.end.to) {
      this.end.to = mark.end.to;
      this.#toRow = row;
    }
  }

  /** Gives up its answers: none of them may be asked for any more. */
  release(): void {
    this.rows.release();
  }
}

/** Least and most that a span of the target's clock can last on the clients'. */
export const shortest = (ms: number): number => ms * (1 - driftShare);
export const longest = (ms: number): number => ms * (1 + driftShare);

/** Tells whether an interval is narrow enough to tell windows apart that end at least `apartMs` from each other. */
export function isNarrow({ from, to }: Span, apartMs: number): boolean {
  return 2 * (to - from) < shortest(apartMs);
}

/**
 * Says why two neighbouring windows cannot both be, `null` if they can (SPEC.md §3): they end at least a length apart,
 * and on the epoch's grid by whole lengths. Only neighbours are compared: drift adds up over more.
 * @param lengthMs the length, or the least it can be where it is not known
 */
export function conflict(
  earlier: Span,
  later: Span,
  lengthMs: number,
  onGrid: boolean,
): "nearer than a window" | "off the grid" | null {
  const least = later.from - earlier.to;
  const most = later.to - earlier.from;
  if (most < shortest(lengthMs)) return "nearer than a window";
  return onGrid && least > longest(lengthMs) && most < shortest(2 * lengthMs) ? "off the grid" : null;
}
