// Calls by window: counts of the calls sent in each whole window of a span of time, and of their outcomes.
import { isRefusal } from "../../src/wire/outcome.ts";
import type { PredictedFigure } from "./backtest-result.ts";
import type { Limits } from "./limits.ts";
import { SortedSample } from "./statistics.ts";

/** A row of windows of one organization and scope, on the epoch's grid (SPEC.md §3). */
interface Row {
  readonly organization: string;
  readonly scope: string;
  readonly windowMs: number;
  readonly limit: number;
  /** Opening of the row's first window, ms since the epoch. */
  readonly fromMs: number;
  readonly count: number;
  /** Place of the row's first window among all windows of the grid. */
  readonly first: number;
}

/** Every whole window within a span of time, of every organization and scope. */
export class WindowGrid {
  readonly rows: readonly Row[];
  readonly count: number;
  readonly #rowOf = new Map<string, Row>();

  /** @param toMs windows end at this instant or before */
  constructor(organizations: Iterable<string>, limits: Limits, fromMs: number, toMs: number) {
    let first = 0;
    const rows: Row[] = [];
    for (const organization of organizations)
      for (const scope of limits.operations) {
        const { windowSeconds, limit } = limits.windowOf(organization, scope);
        const windowMs = windowSeconds * 1000;
        const opensMs = Math.ceil(fromMs / windowMs) * windowMs;
        const count = Math.max(0, Math.floor((toMs - opensMs) / windowMs));
        const row = { organization, scope, windowMs, limit, fromMs: opensMs, count, first };
        rows.push(row);
        this.#rowOf.set(`${scope} ${organization}`, row);
        first += count;
      }
    this.rows = rows;
    this.count = first;
  }

  rowOf(organization: string, scope: string): Row | undefined {
    return this.#rowOf.get(`${scope} ${organization}`);
  }
}

/** Returns the place of an instant's window among all windows of the grid; -1 if the row has none. */
export function placeIn(row: Row, atMs: number): number {
  const index = Math.floor((atMs - row.fromMs) / row.windowMs);
  return index < 0 || index >= row.count ? -1 : row.first + index;
}

/** Counts of the windows of a grid. */
export class WindowCounts {
  readonly offered: Float64Array;
  readonly refused: Float64Array;
  /** Requests of admitted calls, or the points that they asked for. */
  readonly used: Float64Array;
  readonly #waitsMs: (number[] | undefined)[] = [];

  constructor({ count }: WindowGrid) {
    this.offered = new Float64Array(count);
    this.refused = new Float64Array(count);
    this.used = new Float64Array(count);
  }

  /**
   * Adds a call that a quota counts.
   * @param place its window's place; below 0, the call is not counted
   * @param waitMs time from the wish to the answer; `null` if unknown
   */
  add(place: number, status: number, cost: number, waitMs: number | null): void {
    if (place < 0) return;
    this.offered[place] = (this.offered[place] as number) + 1;
    if (isRefusal(status)) {
      this.refused[place] = (this.refused[place] as number) + 1;
      return;
    }
    this.used[place] = (this.used[place] as number) + cost;
    if (waitMs === null) return;
    const waits = this.#waitsMs[place];
    if (waits === undefined) this.#waitsMs[place] = [waitMs];
    else waits.push(waitMs);
  }

  /** Returns a figure of a window; `null` if there was nothing to measure. */
  figure(name: PredictedFigure, place: number): number | null {
    const [offered, refused] = [this.offered[place] as number, this.refused[place] as number];
    switch (name) {
      case "offered":
        return offered;
      case "refused":
        return refused;
      case "admitted":
        return offered - refused;
      case "waitP95Ms": {
        const waits = this.#waitsMs[place];
        return waits === undefined ? null : new SortedSample(waits).quantile(0.95);
      }
    }
  }
}
