// Tells whether two ordered logs overlap: from the first row of the later one on, each has the lines of the other. Servers
// side by side may also write equal lines in the same second, but not all of their lines are equal.
import type { LogBatch } from "./rows.ts";

/** Least number of different lines that two logs must share. */
const sharedLeast = 2;

/** Rows of a log from one of them on. */
export interface RowsFrom {
  readonly batch: LogBatch;
  readonly row: number;
}

/**
 * Tells whether logs overlap, by the rows from the first of `later` on to the end of what is there of both. Lines in whole
 * seconds of one caller alone tell nothing: two servers may both be asked for their health once in a while.
 */
export function areOverlapping(earlier: RowsFrom, later: RowsFrom): boolean {
  const firstMs = later.batch.atMs[later.row] as number;
  const lastMs = Math.min(lastOf(earlier), lastOf(later));
  const counts = new Map<string, number>();
  const each = ({ batch, row }: RowsFrom, take: (key: string, row: number) => void): void => {
    for (let at = row; at < batch.count && (batch.atMs[at] as number) <= lastMs; at++)
      if ((batch.atMs[at] as number) >= firstMs) take(`${batch.atMs[at]} ${batch.line?.[at]}`, at);
  };
  if (earlier.batch.line === undefined || later.batch.line === undefined) return false;
  each(earlier, (key) => counts.set(key, (counts.get(key) ?? 0) + 1));
  const shared = new Set<string>();
  const callers = new Set<number>();
  let [both, others, isFine] = [0, 0, false];
  // A file may begin or end within a second of the other's.
  const isInside = (ms: number): boolean => ms > firstMs && ms < lastMs;
  each(later, (key, row) => {
    const left = counts.get(key) ?? 0;
    const ms = later.batch.atMs[row] as number;
    if (left > 0) {
      counts.set(key, left - 1);
      both += 1;
      shared.add(key);
      callers.add(later.batch.caller[row] as number);
      if (ms % 1000 !== 0) isFine = true;
    } else if (isInside(ms)) others += 1;
  });
  let earlierOthers = 0;
  for (const [key, left] of counts) if (isInside(Number.parseFloat(key))) earlierOthers += left;
  const isMostly = 10 * Math.max(others, earlierOthers) <= both;
  return shared.size >= sharedLeast && isMostly && (isFine || callers.size > 1);
}

const lastOf = ({ batch }: RowsFrom): number => batch.atMs[batch.count - 1] as number;

/** Numbers of rows of a stream at its latest time, by their lines. */
export class LinesAt {
  ms = Number.NaN;
  readonly #counts = new Map<number, number>();

  /** Counts a row. @returns number of equal ones before it */
  add(ms: number, line: number): number {
    if (ms !== this.ms) this.#counts.clear();
    this.ms = ms;
    const before = this.#counts.get(line) ?? 0;
    this.#counts.set(line, before + 1);
    return before;
  }

  of(ms: number, line: number): number {
    return ms === this.ms ? (this.#counts.get(line) ?? 0) : 0;
  }
}
