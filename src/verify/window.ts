// Windows: answers are grouped by the end of the window that they show, an interval on the clients' clock. Windows of
// one quota end at least their length W apart, so that intervals narrower than W / 2 of different windows cannot meet.
// Intervals of one window all hold its end: intervals that meet belong together.
import { driftShare, type Span } from "./clock.ts";
import type { Mark } from "./mark.ts";
import { NONE, SENT } from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";
import type { Screened } from "./screened.ts";

/** A window as an object, to explain something: it reads its rows when asked. */
export class Window {
  readonly #open: OpenWindows;
  readonly #window: number;

  constructor(open: OpenWindows, window: number) {
    this.#open = open;
    this.#window = window;
  }

  get size(): number {
    return this.#open.size(this.#window);
  }

  get limit(): number {
    return this.#open.limit(this.#window);
  }

  /** End that all its answers agree on. */
  get end(): Span {
    return this.#open.end(this.#window);
  }

  /** Answers of the window, in the order in which they came. */
  get marks(): readonly Mark[] {
    return this.sentBefore(Number.POSITIVE_INFINITY);
  }

  /** The same answers, read from their rows (`MarkRows.view`): use them up before the window is over. */
  get views(): readonly Mark[] {
    this.#open.held.ask(this.#window);
    const found: Mark[] = [];
    this.#open.eachHeld(this.#window, (row) => found.push(this.#open.rows.view(row)));
    return found;
  }

  /** Answers that bound the window's end from below and from above. */
  get fromMark(): Mark {
    return this.#at(this.#open.fromRow(this.#window)) ?? (this.#screened?.fromMark as Mark);
  }

  get toMark(): Mark {
    return this.#at(this.#open.toRow(this.#window)) ?? (this.#screened?.toMark as Mark);
  }

  /** First answer that showed `reset_at`. */
  get dated(): Mark | null {
    return this.#screened?.dated ?? this.#at(this.#open.datedRow(this.#window));
  }

  get #screened(): Screened | undefined {
    return this.#open.held.of(this.#window);
  }

  #at(row: number): Mark | null {
    return row === NONE ? null : this.#open.rows.at(row);
  }

  /** First sent answer whose count shows its charge to be the window's first; `null` if there is none. */
  get opener(): Mark | null {
    let opener = this.#screened?.opener ?? null;
    for (const mark of this.#heldBefore(Number.POSITIVE_INFINITY))
      if (isFirstCharge(mark) && (opener === null || mark.sent < opener.sent)) opener = mark;
    return opener;
  }

  /** Returns the answers to calls that were sent before an instant. */
  sentBefore(instant: number): Mark[] {
    if (this.#open.firstSent(this.#window) >= instant) return [];
    this.#open.held.ask(this.#window);
    return this.#heldBefore(instant);
  }

  #heldBefore(instant: number): Mark[] {
    const found: Mark[] = [];
    const { numbers } = this.#open.rows;
    this.#open.eachHeld(this.#window, (row) => {
      if ((numbers[row + SENT] as number) < instant) found.push(this.#open.rows.at(row));
    });
    return found;
  }
}

const isFirstCharge = ({ count, least, most, clamped }: Mark): boolean =>
  count === least && least > 0 && least === most && !clamped;

/** Least and most time that a span of the target's clock can last on the clients'. */
export const shortest = (ms: number): number => ms * (1 - driftShare);
export const longest = (ms: number): number => ms * (1 + driftShare);

/** Tells whether an interval is narrow enough to tell windows apart that end at least `apartMs` from each other. */
export function isNarrow({ from, to }: Span, apartMs: number): boolean {
  return 2 * (to - from) < shortest(apartMs);
}

/**
 * Returns why two neighbouring windows contradict each other; `null` if they do not (SPEC.md §3). They end at least a
 * length apart, and on the epoch's grid by whole lengths. Only neighbours are compared: drift adds up over more.
 * @param lengthMs length of a window, or the least that it can be if unknown
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
