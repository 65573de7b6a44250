// Multiplies the callers of a log: each is there several times, at the same instants, with its own windows.
import type { TraceCall } from "../trace/record.ts";
import type { LogBatch, LogCaller, LogRows } from "./rows.ts";

/** Returns the number of copies of a caller, by the order of first rows: with 1.5 every second one has two. */
const copiesOf = (place: number, factor: number): number =>
  Math.floor((place + 1) * factor) - Math.floor(place * factor);

const copyName = (name: string, copy: number): string => (copy === 1 ? name : `${name}#${copy}`);

/** Returns a copy of a caller with another name, in each attribute that names it. */
function copyOf({ organization, user, attributes }: LogCaller, copy: number): LogCaller {
  const named = { organization, user: copyName(user, copy) };
  if (attributes === undefined) return named;
  const values = Object.entries(attributes).map(([name, value]) => [
    name,
    value === user ? copyName(value, copy) : value,
  ]);
  return { ...named, attributes: Object.fromEntries(values) };
}

/**
 * Multiplies the callers of a log, and with them its calls, by the order of callers' first rows. A factor of 2 doubles
 * each, 1.5 every second one, and 0.5 leaves out every second one. Copies are users of the same organization, named
 * `ann#2`, `ann#3`. So organizations' windows have more calls, users' windows the same number.
 * @param factor above 0
 */
export function multiplyCallers(rows: LogRows, factor: number): Pick<LogRows, "batches" | "callers"> {
  const callers: LogCaller[] = [];
  /** First copy of each caller in `callers`, and the number of its copies. */
  const known: { readonly first: number; readonly count: number }[] = [];
  const copiesAt = (caller: number): { readonly first: number; readonly count: number } => {
    while (known.length <= caller) {
      const place = known.length;
      const count = copiesOf(place, factor);
      known.push({ first: callers.length, count });
      const caller = rows.callers[place] ?? { organization: "", user: "" };
      for (let copy = 1; copy <= count; copy++) callers.push(copyOf(caller, copy));
    }
    return known[caller] as { readonly first: number; readonly count: number };
  };
  const batches = async function* (): AsyncGenerator<LogBatch, void> {
    for await (const batch of rows.batches) {
      const from: number[] = [];
      const caller: number[] = [];
      for (let row = 0; row < batch.count; row++) {
        const { first, count } = copiesAt(batch.caller[row] as number);
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

/** Returns a function that copies the calls of a trace by their users. The clients of a copy are copies, too. */
export function copiesOfCalls(factor: number): (call: TraceCall) => TraceCall[] {
  const counts = new Map<string, number>();
  return (call) => {
    const key = JSON.stringify([call.org, call.user]);
    const count = counts.get(key) ?? copiesOf(counts.size, factor);
    counts.set(key, count);
    return Array.from({ length: count }, (_, index) => ({
      ...call,
      user: call.user === null ? null : copyName(call.user, index + 1),
      client: copyName(call.client, index + 1),
    }));
  };
}

/** Returns some rows of a batch as a new one. @param from places in `batch` */
function picked(batch: LogBatch, from: readonly number[], caller: readonly number[]): LogBatch {
  const column = (values: { readonly [place: number]: number }): number[] =>
    from.map((row) => values[row] as number);
  return {
    count: from.length,
    atMs: Float64Array.from(column(batch.atMs)),
    durationMs: Float64Array.from(column(batch.durationMs)),
    caller: Int32Array.from(caller),
    kind: Uint8Array.from(column(batch.kind)),
    cost: Int32Array.from(column(batch.cost)),
    actual: Int32Array.from(column(batch.actual)),
    status: Int16Array.from(column(batch.status)),
    attempt: batch.attempt === undefined ? undefined : Int32Array.from(column(batch.attempt)),
    wantedMs: batch.wantedMs === undefined ? undefined : Float64Array.from(column(batch.wantedMs)),
  };
}
