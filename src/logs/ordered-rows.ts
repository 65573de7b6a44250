// Puts rows in the order of their time. Access logs are written when a request ends, so that a row may stand behind
// later ones; several processes also write side by side. So rows wait here for a while. A row that comes when later
// ones are out is too late: it cannot be placed, and the caller reports it.
import type { LogBatch } from "./rows.ts";

/** Time, ms, that a row waits: until a row comes that began so much later (as for traces, FORMAT.md). */
const waitMs = 120_000;
/** Number of rows that wait, at the beginning and at most: 31 bytes each, and as many again during sorting. */
const [fewest, most] = [1 << 14, 1 << 20];
/** Greatest number of rows if all are sorted, however far apart: 4 GiB of them. */
const sortedMost = 1 << 26;
/** Greatest number of rows of a batch. */
const batchRows = 1 << 13;

/** Rows in arrays of their own. */
export class Columns implements LogBatch {
  count = 0;
  readonly atMs: Float64Array;
  readonly durationMs: Float64Array;
  readonly caller: Int32Array;
  readonly kind: Uint8Array;
  readonly cost: Int32Array;
  readonly actual: Int32Array;
  readonly status: Int16Array;
  readonly attempt: Int32Array | undefined;
  readonly wantedMs: Float64Array | undefined;
  readonly line: Int32Array | undefined;

  /**
   * @param tellsAttempts true if rows tell which attempt they are
   * @param tellsLines true if rows have the hash of their line
   */
  constructor(capacity: number, tellsAttempts: boolean, tellsLines = false) {
    this.atMs = new Float64Array(capacity);
    this.durationMs = new Float64Array(capacity);
    this.caller = new Int32Array(capacity);
    this.kind = new Uint8Array(capacity);
    this.cost = new Int32Array(capacity);
    this.actual = new Int32Array(capacity);
    this.status = new Int16Array(capacity);
    this.attempt = tellsAttempts ? new Int32Array(capacity) : undefined;
    this.wantedMs = tellsAttempts ? new Float64Array(capacity) : undefined;
    this.line = tellsLines ? new Int32Array(capacity) : undefined;
  }

  get capacity(): number {
    return this.atMs.length;
  }

  copyFrom(other: Columns, from: number, to: number): void {
    this.atMs.set(other.atMs.subarray(from, to));
    this.durationMs.set(other.durationMs.subarray(from, to));
    this.caller.set(other.caller.subarray(from, to));
    this.kind.set(other.kind.subarray(from, to));
    this.cost.set(other.cost.subarray(from, to));
    this.actual.set(other.actual.subarray(from, to));
    this.status.set(other.status.subarray(from, to));
    this.attempt?.set(other.attempt?.subarray(from, to) ?? []);
    this.wantedMs?.set(other.wantedMs?.subarray(from, to) ?? []);
    this.line?.set(other.line?.subarray(from, to) ?? []);
    this.count = to - from;
  }

  /** Fills itself with another's rows in an order. */
  gather(other: Columns, order: Float64Array): void {
    const count = other.count;
    for (let row = 0; row < count; row++) this.copyRow(row, other, order[row] as number);
    this.count = count;
  }

  copyRow(row: number, other: LogBatch, source: number): void {
    this.atMs[row] = other.atMs[source] as number;
    this.durationMs[row] = other.durationMs[source] as number;
    this.caller[row] = other.caller[source] as number;
    this.kind[row] = other.kind[source] as number;
    this.cost[row] = other.cost[source] as number;
    this.actual[row] = other.actual[source] as number;
    this.status[row] = other.status[source] as number;
    if (this.attempt !== undefined) this.attempt[row] = other.attempt?.[source] ?? -1;
    if (this.wantedMs !== undefined) this.wantedMs[row] = other.wantedMs?.[source] ?? -1;
    if (this.line !== undefined) this.line[row] = other.line?.[source] ?? 0;
  }
}

/** Returns some rows of a batch, without copying them. */
export const rowsOf = (batch: LogBatch, from: number, to: number): LogBatch => ({
  count: to - from,
  atMs: batch.atMs.subarray(from, to),
  durationMs: batch.durationMs.subarray(from, to),
  caller: batch.caller.subarray(from, to),
  kind: batch.kind.subarray(from, to),
  cost: batch.cost.subarray(from, to),
  actual: batch.actual.subarray(from, to),
  status: batch.status.subarray(from, to),
  attempt: batch.attempt?.subarray(from, to),
  wantedMs: batch.wantedMs?.subarray(from, to),
  line: batch.line?.subarray(from, to),
});

export class OrderedRows {
  readonly sorts: boolean;
  readonly tellsLines: boolean;
  readonly #tellsAttempts: boolean;
  #rows: Columns;
  #spare: Columns | null = null;
  #order = new Float64Array(0);
  #inOrder = true;
  readonly #capacityMost: number;
  readonly #waitMs: number;
  #latest = Number.NEGATIVE_INFINITY;
  /** Time of the latest row that is out, ms: earlier rows are too late. */
  floor = Number.NEGATIVE_INFINITY;
  /** Hash of the line of the row that is added next. */
  line = 0;

  /**
   * @param sorts true to hold all rows until the end, so that none is too late
   * @param tellsAttempts true if rows tell which attempt they are
   * @param tellsLines true if rows have the hash of their line
   */
  constructor(
    sorts = false,
    capacityMost: number = sorts ? sortedMost : most,
    tellsAttempts = false,
    tellsLines = false,
  ) {
    this.sorts = sorts;
    this.#tellsAttempts = tellsAttempts;
    this.tellsLines = tellsLines;
    this.#waitMs = sorts ? Number.POSITIVE_INFINITY : waitMs;
    this.#capacityMost = capacityMost;
    this.#rows = new Columns(Math.min(fewest, capacityMost), tellsAttempts, tellsLines);
  }

  get isFull(): boolean {
    return this.#rows.count === this.#rows.capacity;
  }

  /** Adds a row; there must be room for it, and it must not be before `floor`. */
  add(
    atMs: number,
    durationMs: number,
    caller: number,
    kind: number,
    cost: number,
    actual: number,
    status: number,
    attempt?: number,
    wantedMs?: number,
  ): void {
    const rows = this.#rows;
    const row = rows.count;
    rows.atMs[row] = atMs;
    rows.durationMs[row] = durationMs;
    rows.caller[row] = caller;
    rows.kind[row] = kind;
    rows.cost[row] = cost;
    rows.actual[row] = actual;
    rows.status[row] = status;
    if (rows.attempt !== undefined) rows.attempt[row] = attempt ?? -1;
    if (rows.wantedMs !== undefined) rows.wantedMs[row] = wantedMs ?? -1;
    if (rows.line !== undefined) rows.line[row] = this.line;
    rows.count = row + 1;
    if (atMs >= this.#latest) this.#latest = atMs;
    else this.#inOrder = false;
  }

  /** Makes room: yields rows that have waited long enough, or, if too many wait, the earlier half of them. */
  *drain(): Generator<LogBatch, void> {
    this.#sort();
    const { count, capacity, atMs } = this.#rows;
    let ready = lowerBound(atMs, count, this.#latest - this.#waitMs);
    if (ready < count / 2) {
      if (capacity < this.#capacityMost) return this.#grow();
      ready = count >> 1;
    }
    yield* this.#give(ready);
  }

  /** Yields the rows that are left. */
  *rest(): Generator<LogBatch, void> {
    this.#sort();
    yield* this.#give(this.#rows.count);
  }

  *#give(ready: number): Generator<LogBatch, void> {
    const rows = this.#rows;
    if (ready === 0) return;
    this.floor = rows.atMs[ready - 1] ?? this.floor;
    for (let from = 0; from < ready; from += batchRows)
      yield rowsOf(rows, from, Math.min(ready, from + batchRows));
    const spare = this.#spareColumns();
    spare.copyFrom(rows, ready, rows.count);
    this.#spare = rows;
    this.#rows = spare;
  }

  #sort(): void {
    if (this.#inOrder) return;
    this.#inOrder = true;
    const rows = this.#rows;
    const spare = this.#spareColumns();
    if (this.#order.length < rows.count) this.#order = new Float64Array(rows.capacity);
    const order = this.#order.subarray(0, rows.count);
    putInOrder(order, rows.atMs);
    spare.gather(rows, order);
    this.#spare = rows;
    this.#rows = spare;
  }

  #spareColumns(): Columns {
    if (this.#spare === null || this.#spare.capacity !== this.#rows.capacity)
      this.#spare = new Columns(this.#rows.capacity, this.#tellsAttempts, this.tellsLines);
    return this.#spare;
  }

  #grow(): void {
    const capacity = Math.min(this.#capacityMost, 4 * this.#rows.capacity);
    const larger = new Columns(capacity, this.#tellsAttempts, this.tellsLines);
    larger.copyFrom(this.#rows, 0, this.#rows.count);
    this.#rows = larger;
    this.#spare = null;
  }
}

/** Returns the first row that is not before `atMs`. */
function lowerBound(times: Float64Array, count: number, atMs: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Fills `order` with the rows' numbers by time, equal ones in their own order. Time and number are packed into one
 * double, time x rows + number, so that sorting needs no callback. If that takes more than 53 bits, rows are compared
 * one by one.
 */
function putInOrder(order: Float64Array, times: Float64Array): void {
  const { length } = order;
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < length; row++) {
    const time = times[row] as number;
    if (time < least) least = time;
    if (time > greatest) greatest = time;
  }
  if ((greatest - least + 1) * length > 2 ** 53) {
    for (const row of order.keys()) order[row] = row;
    order.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
    return;
  }
  for (let row = 0; row < length; row++) order[row] = ((times[row] as number) - least) * length + row;
  order.sort();
  for (let row = 0; row < length; row++) order[row] = (order[row] as number) % length;
}
