// Finds the windows that a simulated run's answers show, by numbers alone: like `WindowTracker` for traces, without the
// facts that only pictures need. A window is a row of numbers, known by its own number, until no answer can show it.
//
// Nearly all answers show the newest window of their owner. So the owner's row holds this window's span, and all else
// that such an answer needs.
import { organizationLimit, type Rules, scopes } from "../src/rules/rules.ts";
import type { Seat } from "../src/scenario/seats.ts";
import { rulesLengths } from "../src/summary/told.ts";
import { disorderMs, endOf, isJustAfter, slackMs } from "../src/summary/window-ends.ts";
import { RowTable } from "./row-table.ts";

// Number of doubles in an owner's row (one scope) and in a window's row, and their places: the span of the end, in an
// owner's row that of the newest window; and, for owners, an instant after which no other window ends.
const DOUBLES = 4;
const EARLIEST = 0;
const LATEST = 1;
const OTHERS = 2;
// Number of integers per row, and their places: for an owner, the window met last, and the newest; for a window, the
// one met after it, or the first if it is the last.
const INTS = 8;
const LAST = 6;
const NEWEST = 7;
const NEXT = 6;
const NONE = -1;

/** Windows by owner; scopes are numbered in their order. An owner is the number of its REST row; the next number is its GraphQL row. */
export class MeasuredWindows {
  readonly #rules: Rules;
  readonly #startAtMs: number;
  readonly #beforeMs: Float64Array;
  readonly #organizations = new Map<string, number>();
  /** Lengths of organizations' windows, ms, by row. */
  readonly #lengthsMs = new Map<number, number>();
  readonly #owners = new RowTable(DOUBLES);
  readonly #windows = new RowTable(DOUBLES);
  /** By window: true at the places of the populations whose calls it refused. */
  readonly #refused: (boolean[] | null)[] = [];

  /** @param startAtMs origin of all times, which are then small integers that compilers pass without making objects */
  constructor(rules: Rules, startAtMs: number) {
    this.#rules = rules;
    this.#startAtMs = startAtMs;
    const { beforeMs } = rulesLengths(rules);
    this.#beforeMs = Float64Array.from(scopes, (scope) => beforeMs({ org: "", user: null, scope }));
  }

  /** Returns the owner number of a seat's organization. */
  organization({ organization }: Seat): number {
    const known = this.#organizations.get(organization);
    if (known !== undefined) return known;
    const owner = this.newOwner();
    this.#organizations.set(organization, owner);
    for (const [place, scope] of scopes.entries())
      this.#lengthsMs.set(
        owner + place,
        1000 * organizationLimit(this.#rules, organization, scope).windowSeconds,
      );
    return owner;
  }

  /** Returns the number of a new owner: a user, or an organization. */
  newOwner(): number {
    const rows = scopes.map(() => this.#owners.take());
    const { doubles, ints } = this.#owners;
    for (const row of rows) {
      // An empty span matches no reading.
      doubles.fill(Number.NEGATIVE_INFINITY, row * DOUBLES, (row + 1) * DOUBLES);
      ints[row * INTS + LAST] = NONE;
      ints[row * INTS + NEWEST] = NONE;
    }
    return rows[0] as number;
  }

  /** Returns the window of this owner that a reset, s, shows: a new one if none fits. */
  place(owner: number, scope: number, reset: number, sentMs: number, receivedMs: number): number {
    const beforeMs = this.#beforeMs[scope] as number;
    const earliest = sentMs + reset * 1000 - beforeMs;
    const latest = receivedMs + reset * 1000 + 1000 - beforeMs;
    const { doubles, ints } = this.#owners;
    const at = (owner + scope) * DOUBLES;
    const from = Math.max(earliest, doubles[at + EARLIEST] as number);
    const to = Math.min(latest, doubles[at + LATEST] as number);
    // The reading overlaps the newest window, and no other.
    if (from <= to && (doubles[at + OTHERS] as number) < earliest) {
      doubles[at + EARLIEST] = from;
      doubles[at + LATEST] = to;
      return ints[(owner + scope) * INTS + NEWEST] as number;
    }
    return this.#placeAmong(owner + scope, earliest, latest, receivedMs);
  }

  /** Returns the list of populations, by place, whose calls a window refused; callers add to it. */
  refused(window: number): boolean[] {
    const refused = this.#refused[window] ?? [];
    this.#refused[window] = refused;
    return refused;
  }

  /** Tells whether one of an organization's windows ended at this instant, or less than a second before. */
  endedJustBefore(organization: number, scope: number, atMs: number): boolean {
    const row = organization + scope;
    const { doubles } = this.#owners;
    const at = row * DOUBLES;
    if ((doubles[at + EARLIEST] as number) > atMs && (doubles[at + OTHERS] as number) <= atMs - 1000)
      return false;
    this.#bringBack(row);
    const windowMs = this.#lengthsMs.get(row) as number;
    for (let window = this.#first(row); window !== NONE; window = this.#after(row, window)) {
      const earliestEnd = this.#startAtMs + (this.#windows.doubles[window * DOUBLES + EARLIEST] as number);
      const latestEnd = this.#startAtMs + (this.#windows.doubles[window * DOUBLES + LATEST] as number);
      if (isJustAfter(endOf({ windowMs, earliestEnd, latestEnd }), this.#startAtMs + atMs)) return true;
    }
    return false;
  }

  /** Returns the window of a reading among all of the owner's windows, a new one if none fits. */
  #placeAmong(row: number, earliest: number, latest: number, receivedMs: number): number {
    this.#bringBack(row);
    const found = this.#narrowed(row, earliest, latest);
    const window = found === NONE ? this.#add(row, earliest, latest, receivedMs) : found;
    const newest = this.#owners.ints[row * INTS + NEWEST] as number;
    this.#copySpan(this.#windows.doubles, newest, this.#owners.doubles, row);
    return window;
  }

  /** Copies the span of the newest window from the owner's row into the window's row. */
  #bringBack(row: number): void {
    const newest = this.#owners.ints[row * INTS + NEWEST] as number;
    if (newest !== NONE) this.#copySpan(this.#owners.doubles, row, this.#windows.doubles, newest);
  }

  #copySpan(from: Float64Array, fromRow: number, to: Float64Array, toRow: number): void {
    to[toRow * DOUBLES + EARLIEST] = from[fromRow * DOUBLES + EARLIEST] as number;
    to[toRow * DOUBLES + LATEST] = from[fromRow * DOUBLES + LATEST] as number;
  }

  /** Returns the window that a span shows, narrowed, or `NONE`: like `narrowed` of summaries. */
  #narrowed(row: number, earliest: number, latest: number): number {
    const owner = this.#owners.doubles;
    const at = row * DOUBLES;
    const last = Math.max(owner[at + LATEST] as number, owner[at + OTHERS] as number);
    if (last < earliest - slackMs) return NONE;
    const { doubles } = this.#windows;
    let best = NONE;
    let mostOverlap = -slackMs;
    for (let window = this.#first(row); window !== NONE; window = this.#after(row, window)) {
      const from = Math.max(earliest, doubles[window * DOUBLES + EARLIEST] as number);
      const overlap = Math.min(latest, doubles[window * DOUBLES + LATEST] as number) - from;
      if (overlap < mostOverlap) continue;
      mostOverlap = overlap;
      best = window;
    }
    if (best !== NONE && mostOverlap >= 0) {
      const span = best * DOUBLES;
      doubles[span + EARLIEST] = Math.max(doubles[span + EARLIEST] as number, earliest);
      doubles[span + LATEST] = Math.min(doubles[span + LATEST] as number, latest);
    }
    return best;
  }

  #add(row: number, earliest: number, latest: number, receivedMs: number): number {
    this.#takeOver(row, receivedMs);
    const window = this.#windows.take();
    this.#refused[window] = null;
    const { doubles, ints } = this.#windows;
    doubles[window * DOUBLES + EARLIEST] = earliest;
    doubles[window * DOUBLES + LATEST] = latest;
    const owner = this.#owners;
    const last = owner.ints[row * INTS + LAST] as number;
    ints[window * INTS + NEXT] = last === NONE ? window : (ints[last * INTS + NEXT] as number);
    if (last !== NONE) ints[last * INTS + NEXT] = window;
    owner.ints[row * INTS + LAST] = window;
    const at = row * DOUBLES;
    const newestEnd = owner.doubles[at + LATEST] as number;
    owner.doubles[at + OTHERS] = Math.max(owner.doubles[at + OTHERS] as number, Math.min(newestEnd, latest));
    if (latest > newestEnd || owner.ints[row * INTS + NEWEST] === NONE)
      owner.ints[row * INTS + NEWEST] = window;
    return window;
  }

  /** Forgets the first windows that no later answer can show. */
  #takeOver(row: number, receivedMs: number): void {
    const { ints } = this.#owners;
    let first = this.#first(row);
    while (
      first !== NONE &&
      (this.#windows.doubles[first * DOUBLES + LATEST] as number) < receivedMs - disorderMs
    ) {
      const next = this.#after(row, first);
      if (next === NONE) ints[row * INTS + LAST] = NONE;
      else this.#windows.ints[(ints[row * INTS + LAST] as number) * INTS + NEXT] = next;
      if (ints[row * INTS + NEWEST] === first) ints[row * INTS + NEWEST] = NONE;
      this.#windows.give(first);
      first = next;
    }
  }

  /** Returns the window of an owner that was met first. */
  #first(row: number): number {
    const last = this.#owners.ints[row * INTS + LAST] as number;
    return last === NONE ? NONE : (this.#windows.ints[last * INTS + NEXT] as number);
  }

  #after(row: number, window: number): number {
    return window === this.#owners.ints[row * INTS + LAST]
      ? NONE
      : (this.#windows.ints[window * INTS + NEXT] as number);
  }
}
