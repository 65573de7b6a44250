// Which windows the answers of a simulated run tell of, by numbers alone: what `WindowTracker` does with a trace, less
// what only pictures ask for.
//
// Nearly all answers tell of the newest window of their owner. Its span lies in a column, with all that such an answer
// asks for; the windows themselves are objects, which the others go to.
import { organizationLimit, type Rules, type Scope, userLimit } from "../src/rules/rules.ts";
import type { Seat } from "../src/scenario/seats.ts";
import {
  endedJustBefore,
  narrowed,
  spanBeforeMs,
  takeOver,
  type WindowEnd,
} from "../src/summary/window-ends.ts";

/** One window as it is narrowed down. */
export interface MeasuredWindow extends WindowEnd {
  /** The populations that it refused calls of, by place; `null` where it refused none. */
  refused: boolean[] | null;
}

/** One owner's windows of one scope, those that answers may still tell of. */
interface OwnerWindows {
  readonly windowMs: number;
  readonly windows: MeasuredWindow[];
  /** The one that ends last. */
  newest: MeasuredWindow | null;
}

// Doubles an owner's windows of one scope, and where each is: the span of the newest one's end, and an
// instant that no other one ends after.
const DOUBLES = 4;
const EARLIEST = 0;
const LATEST = 1;
const OTHERS = 2;

/** By number. */
const scopes: readonly Scope[] = ["rest", "graphql"];

/** An owner is a number, that of its windows of the first scope (REST); those of the second (GraphQL) have the next. */
export class MeasuredWindows {
  readonly #rules: Rules;
  readonly #beforeMs: Float64Array;
  readonly #organizations = new Map<string, number>();
  readonly #owners: OwnerWindows[] = [];
  #spans = new Float64Array(64 * DOUBLES);
  /** The window that the last reading was of; `null`: the newest of its owner. */
  #last: MeasuredWindow | null = null;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.#beforeMs = Float64Array.from(scopes, (scope) => spanBeforeMs(rules, scope));
  }

  /** The organization of a caller. */
  organization({ organization }: Seat): number {
    const known = this.#organizations.get(organization);
    if (known !== undefined) return known;
    const owner = this.#add((scope) => organizationLimit(this.#rules, organization, scope).windowSeconds);
    this.#organizations.set(organization, owner);
    return owner;
  }

  /** The user of a caller that was not asked for before. */
  user({ organization, user }: Seat): number {
    return this.#add((scope) => userLimit(this.#rules, organization, user, scope).windowSeconds);
  }

  #add(secondsOf: (scope: Scope) => number): number {
    const owner = this.#owners.length;
    for (const scope of scopes)
      this.#owners.push({ windowMs: 1000 * secondsOf(scope), windows: [], newest: null });
    if (this.#owners.length * DOUBLES > this.#spans.length) {
      const larger = new Float64Array(2 * this.#spans.length);
      larger.set(this.#spans);
      this.#spans = larger;
    }
    // No reading is of a window that is not there.
    for (const at of [owner * DOUBLES, (owner + 1) * DOUBLES])
      this.#spans.fill(Number.NEGATIVE_INFINITY, at, at + DOUBLES);
    return owner;
  }

  /** A reset of so many seconds tells of a window of this owner, a new one where none fits. */
  place(owner: number, scope: number, reset: number, sentMs: number, receivedMs: number): void {
    const beforeMs = this.#beforeMs[scope] as number;
    const earliest = sentMs + reset * 1000 - beforeMs;
    const latest = receivedMs + reset * 1000 + 1000 - beforeMs;
    const spans = this.#spans;
    const at = (owner + scope) * DOUBLES;
    const from = Math.max(earliest, spans[at + EARLIEST] as number);
    const to = Math.min(latest, spans[at + LATEST] as number);
    // It overlaps the newest window, and no other.
    if (from <= to && (spans[at + OTHERS] as number) < earliest) {
      spans[at + EARLIEST] = from;
      spans[at + LATEST] = to;
      this.#last = null;
    } else this.#placeAmong(owner + scope, earliest, latest, receivedMs);
  }

  /** Finds the window among all of an owner's, or makes it. */
  #placeAmong(place: number, earliestEnd: number, latestEnd: number, receivedMs: number): void {
    const owner = this.#owners[place] as OwnerWindows;
    const { windows, windowMs, newest } = owner;
    this.#bringBack(place, owner);
    let window = narrowed(windows, earliestEnd, latestEnd);
    if (window === undefined) {
      while (takeOver(windows, receivedMs) !== undefined);
      window = { windowMs, earliestEnd, latestEnd, refused: null };
      windows.push(window);
      if (newest === null || latestEnd > newest.latestEnd || !windows.includes(newest)) owner.newest = window;
      const older = newest === null ? Number.NEGATIVE_INFINITY : Math.min(newest.latestEnd, latestEnd);
      const at = place * DOUBLES + OTHERS;
      this.#spans[at] = Math.max(this.#spans[at] as number, older);
    }
    const last = owner.newest as MeasuredWindow;
    this.#spans[place * DOUBLES + EARLIEST] = last.earliestEnd;
    this.#spans[place * DOUBLES + LATEST] = last.latestEnd;
    this.#last = window === last ? null : window;
  }

  /** Writes the span of the newest window into it. */
  #bringBack(place: number, { newest }: OwnerWindows): void {
    if (newest === null) return;
    newest.earliestEnd = this.#spans[place * DOUBLES + EARLIEST] as number;
    newest.latestEnd = this.#spans[place * DOUBLES + LATEST] as number;
  }

  /** The window that the last reading was of, which was one of this owner's. */
  placed(owner: number, scope: number): MeasuredWindow {
    return this.#last ?? ((this.#owners[owner + scope] as OwnerWindows).newest as MeasuredWindow);
  }

  /** Tells whether one of an owner's windows ended at this instant, or less than a second before. */
  endedJustBefore(owner: number, scope: number, atMs: number): boolean {
    const at = (owner + scope) * DOUBLES;
    const spans = this.#spans;
    if ((spans[at + EARLIEST] as number) > atMs && (spans[at + OTHERS] as number) <= atMs - 1000)
      return false;
    const windows = this.#owners[owner + scope] as OwnerWindows;
    this.#bringBack(owner + scope, windows);
    return endedJustBefore(windows.windows, atMs);
  }
}
