// The windows that a trace shows, for pictures and tables: finds the window of each answer, and counts its calls.
import { scopes } from "../rules/rules.ts";
import { type Whose, whoseOf } from "../trace/whose.ts";
import { type WindowSummary, windowsMost } from "./summary.ts";
import { isNarrow, type ToldWindow, type WindowLengths } from "./told.ts";
import { endedJustBefore, endOf, narrowed, takeOver, type WindowEnd } from "./window-ends.ts";

/** One window while readings still narrow its end. */
export interface WindowEntry extends WindowEnd {
  readonly whose: Whose;
  firstSeen: number;
  limit: number | null;
  highest: number | null;
  admitted: number;
  refused: number;
}

/** A window whose end an answer shows. */
export type EndingWindow = ToldWindow & { readonly reset: number };

export const hasEnd = (shown: ToldWindow): shown is EndingWindow => shown.reset !== null;

export class WindowTracker {
  readonly #lengths: WindowLengths;
  readonly #open = new Map<Whose, WindowEntry[]>();
  #kept: WindowSummary[] = [];
  /** Lightest window that the last thinning kept; lighter ones are dropped at once. `null` before any thinning. */
  #least: WindowSummary | null = null;
  #seen = 0;

  constructor(lengths: WindowLengths) {
    this.#lengths = lengths;
  }

  /** Returns the window that a reading shows, a new one if need be, and adds the reading's facts. */
  place(reading: EndingWindow): WindowEntry {
    const entry = this.#find(reading);
    entry.firstSeen = Math.min(entry.firstSeen, reading.sent);
    entry.limit = reading.limit ?? entry.limit;
    if (reading.count !== null) entry.highest = Math.max(entry.highest ?? 0, reading.count);
    return entry;
  }

  /** Tells whether an earlier window of the same owner ended at this instant, or less than a second before. */
  resetJustBefore(entry: WindowEntry, atMs: number): boolean {
    return endedJustBefore(this.#entriesOf(entry.whose), atMs);
  }

  #find(reading: EndingWindow): WindowEntry {
    const { whose, reset, sent, received } = reading;
    const beforeMs = this.#lengths.beforeMs(whose);
    const earliest = sent + reset * 1000 - beforeMs;
    const latest = received + reset * 1000 + 1000 - beforeMs;
    const entries = this.#entriesOf(whose);
    return narrowed(entries, earliest, latest) ?? this.#add(entries, reading, earliest, latest);
  }

  #entriesOf(whose: Whose): WindowEntry[] {
    const known = this.#open.get(whose) ?? [];
    this.#open.set(whose, known);
    return known;
  }

  #add(
    entries: WindowEntry[],
    { whose, sent, received }: EndingWindow,
    earliestEnd: number,
    latestEnd: number,
  ): WindowEntry {
    let over = takeOver(entries, received);
    for (; over !== undefined; over = takeOver(entries, received)) this.#close(over);
    const counts = { limit: null, highest: null, admitted: 0, refused: 0 };
    const windowMs = this.#lengths.lengthMs(whose);
    const entry: WindowEntry = { whose, windowMs, earliestEnd, latestEnd, firstSeen: sent, ...counts };
    entries.push(entry);
    return entry;
  }

  #close(entry: WindowEntry): void {
    this.#seen += 1;
    const window = describeWindow(entry);
    if (this.#least !== null && byWeight(window, this.#least) > 0) return;
    this.#kept.push(window);
    if (this.#kept.length >= 2 * windowsMost) this.#thin();
  }

  #thin(): void {
    if (this.#kept.length <= windowsMost) return;
    this.#kept.sort(byWeight);
    this.#kept.length = windowsMost;
    this.#least = this.#kept.at(-1) ?? null;
  }

  /** Closes every window; the tracker takes no more readings. */
  finish(): { readonly windows: readonly WindowSummary[]; readonly windowsSeen: number } {
    for (const entries of this.#open.values()) for (const entry of entries) this.#close(entry);
    this.#open.clear();
    this.#thin();
    return { windows: this.#kept.sort(byPlace), windowsSeen: this.#seen };
  }
}

/** Returns a window's summary by the readings so far. */
export function describeWindow(entry: WindowEntry): WindowSummary {
  const { whose, windowMs, limit, highest, admitted, refused } = entry;
  const endsAt = endOf(entry);
  const opensAt = windowMs === null ? entry.firstSeen : endsAt - windowMs;
  return { ...whoseOf(whose), opensAt, endsAt, limit, highest, admitted, refused };
}

/** Orders windows: organizations' first, then the most refused, the most admitted, the latest. */
function byWeight(a: WindowSummary, b: WindowSummary): number {
  return (
    Number(isNarrow(a)) - Number(isNarrow(b)) ||
    b.refused - a.refused ||
    b.admitted - a.admitted ||
    b.endsAt - a.endsAt ||
    byPlace(a, b)
  );
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function byPlace(a: WindowSummary, b: WindowSummary): number {
  return compareOwners(a, b) || a.endsAt - b.endsAt;
}

function compareOwners(a: Whose, b: Whose): number {
  if ("quota" in a || "quota" in b) return compareText(textOf(a), textOf(b));
  return (
    compareText(a.org, b.org) ||
    scopes.indexOf(a.scope) - scopes.indexOf(b.scope) ||
    compareText(a.user ?? "", b.user ?? "")
  );
}

const textOf = (whose: Whose): string =>
  "quota" in whose ? [whose.quota, ...Object.values(whose.key)].join("\n") : "";
