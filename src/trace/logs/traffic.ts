// A log with more or fewer callers than it has: each caller several times, at the same instants, with windows of its own.
import type { LogBatch, LogCaller, LogRows } from "./rows.ts";

/**
 * Multiplies the callers of a log, and with them its calls. Callers are counted in the order of their first rows: with a
 * factor of 2 each is there twice, with 1.5 every second one, with 0.5 every second one is left out. Copies are users of
 * the same organization, called `ann#2`, `ann#3`; so organizations' windows have more calls, users' windows as many.
 * @param factor above 0
 */
export function multiplyCallers(rows: LogRows, factor: number): Pick<LogRows, "batches" | "callers"> {
  const callers: LogCaller[] = [];
  /** Of each caller of the log: its first copy in `callers`, and the number of copies. */
  const copies: { readonly first: number; readonly count: number }[] = [];
  const copiesOf = (caller: number): { readonly first: number; readonly count: number } => {
    while (copies.length <= caller) {
      const place = copies.length;
      const count = Math.floor((place + 1) * factor) - Math.floor(place * factor);
      copies.push({ first: callers.length, count });
      const { organization, user } = rows.callers[place] ?? { organization: "", user: "" };
      for (let copy = 1; copy <= count; copy++)
        callers.push({ organization, user: copy === 1 ? user : `${user}#${copy}` });
    }
    return copies[caller] as { readonly first: number; readonly count: number };
  };
  const batches = async function* (): AsyncGenerator<LogBatch, void> {
    for await (const batch of rows.batches) {
      const from: number[] = [];
      const caller: number[] = [];
      for (let row = 0; row < batch.count; row++) {
        const { first, count } = copiesOf(batch.caller[row] ?? 0);
        for (let copy = 0; copy < count; copy++) {
          from.push(row);
          caller.push(first + copy);
        }
      }
      yield picked(batch, from, caller);
    }
  };
  return { batches: batches(), callers };
}

/** Rows of a batch in a new one. @param from places in `batch` */
function picked(batch: LogBatch, from: readonly number[], caller: readonly number[]): LogBatch {
  const column = (values: { readonly [place: number]: number }): number[] =>
    from.map((row) => values[row] ?? 0);
  return {
    count: from.length,
    atMs: Float64Array.from(column(batch.atMs)),
    durationMs: Float64Array.from(column(batch.durationMs)),
    caller: Int32Array.from(caller),
    kind: Uint8Array.from(column(batch.kind)),
    cost: Int32Array.from(column(batch.cost)),
    actual: Int32Array.from(column(batch.actual)),
    status: Int16Array.from(column(batch.status)),
  };
}
