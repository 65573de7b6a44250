// Which windows the answers of a simulated run tell of, by numbers alone: what `WindowTracker` does with a trace, less
// what only pictures ask for. A window is a row of numbers, and a number itself, until no answer can tell of it.
//
// Nearly all answers tell of the newest window of their owner. Its span lies with the owner, with all that such an answer
// asks for.
import { organizationLimit, type Rules, type Scope } from "../src/rules/rules.ts";
import type { Seat } from "../src/scenario/seats.ts";
import { disorderMs, endOf, isJustAfter, slackMs, spanBeforeMs } from "../src/summary/window-ends.ts";
import { RowTable } from "./row-table.ts";

// Doubles of an owner's windows of one scope, and of a window, and where each is: the span of an end, of an owner's the
// newest one's; and an instant that no other one of the owner's ends after.
const DOUBLES = 4;
const EARLIEST = 0;
const LATEST = 1;
const OTHERS = 2;
// Integers, and where each is: of an owner's the window that was met last, and the newest; of a window the one that was met
// after it, of the last one the first.
const INTS = 8;
const LAST = 6;
const NEWEST = 7;
const NEXT = 6;
const NONE = -1;

/** By number. */
const scopes: readonly Scope[] = ["rest", "graphql"];

/** An owner is a number, that of its windows of the first scope (REST); those of the second (GraphQL) have the next. */
export class MeasuredWindows {
  readonly #rules: Rules;
  readonly #startAtMs: number;
  readonly #beforeMs: Float64Array;
  readonly #organizations = new Map<string, number>();
  /** Of organizations' windows, by owner and scope. */
  readonly #lengthsMs = new Map<number, number>();
  readonly #owners = new RowTable(DOUBLES);
  readonly #windows = new RowTable(DOUBLES);
  /** By window: the populations that it refused calls of, by place. */
  readonly #refused: (boolean[] | null)[] = [];

  /** @param startAtMs all times are from there: integers, which compilers pass around without making objects */
  constructor(rules: Rules, startAtMs: number) {
    this.#rules = rules;
    this.#startAtMs = startAtMs;
    this.#beforeMs = Float64Array.from(scopes, (scope) => spanBeforeMs(rules, scope));
  }

  /** The organization of a caller. */
  organization({ organization }: Seat): number {
    const known = this.#organizations.get(organization);
    if (known !== undefined) return known;
    const owner = this.user();
    this.#organizations.set(organization, owner);
    for (const [place, scope] of scopes.entries())
      this.#lengthsMs.set(
        owner + place,
        1000 * organizationLimit(this.#rules, organization, scope).windowSeconds,
      );
    return owner;
  }

  /** A user that was not asked for before. */
  user(): number {
    const rows = scopes.map(() => this.#owners.take());
    const { doubles, ints } = this.#owners;
    for (const row of rows) {
      // No reading is of a window that is not there.
      doubles.fill(Number.NEGATIVE_INFINITY, row * DOUBLES, (row + 1) * DOUBLES);
      ints[row * INTS + LAST] = NONE;
      ints[row * INTS + NEWEST] = NONE;
    }
    return rows[0] as number;
  }

  /** A reset of so many seconds tells of a window of this owner, which is returned, a new one where none fits. */
  place(owner: number, scope: number, reset: number, sentMs: number, receivedMs: number): number {
    const beforeMs = this.#beforeMs[scope] as number;
    const earliest = sentMs + reset * 1000 - beforeMs;
    const latest = receivedMs + reset * 1000 + 1000 - beforeMs;
    const { doubles, ints } = this.#owners;
    const at = (owner + scope) * DOUBLES;
    const from = Math.max(earliest, doubles[at + EARLIEST] as number);
    const to = Math.min(latest, doubles[at + LATEST] as number);
    // It overlaps the newest window, and no other.
    if (from <= to && (doubles[at + OTHERS] as number) < earliest) {
      doubles[at + EARLIEST] = from;
      doubles[at + LATEST] = to;
      return ints[(owner + scope) * INTS + NEWEST] as number;
    }
    return this.#placeAmong(owner + scope, earliest, latest, receivedMs);
  }

  /** The populations that a window refused calls of, by place: to be added to. */
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

  /** Finds the window among all of an owner's, or makes it. */
  #placeAmong(row: number, earliest: number, latest: number, receivedMs: number): number {
    this.#bringBack(row);
    const found = this.#narrowed(row, earliest, latest);
    const window = found === NONE ? this.#add(row, earliest, latest, receivedMs) : found;
    const newest = this.#owners.ints[row * INTS + NEWEST] as number;
    this.#copySpan(this.#windows.doubles, newest, this.#owners.doubles, row);
    return window;
  }

  /** Writes the span of the newest window into it. */
  #bringBack(row: number): void {
    const newest = this.#owners.ints[row * INTS + NEWEST] as number;
    if (newest !== NONE) this.#copySpan(this.#owners.doubles, row, this.#windows.doubles, newest);
  }

  #copySpan(from: Float64Array, fromRow: number, to: Float64Array, toRow: number): void {
    to[toRow * DOUBLES + EARLIEST] = from[fromRow * DOUBLES + EARLIEST] as number;
    to[toRow * DOUBLES + LATEST] = from[fromRow * DOUBLES + LATEST] as number;
  }

  /** As `narrowed` of summaries. */
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

  /** Forgets the first windows, where no later answer can tell of them. */
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

  /** The window of an owner that was met first. */
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
