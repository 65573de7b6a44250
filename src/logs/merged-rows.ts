// Merges ordered streams of rows into one. If one stream alone is open, its batches are passed on as they are.
import { Columns, rowsOf } from "./ordered-rows.ts";
import type { LogBatch } from "./rows.ts";

/** Rows of one file. */
export interface OrderedStream {
  /** Time, ms, before which no row is expected. */
  readonly firstMs: number;
  /** Opens the stream. @param floorMs latest time of rows of other files that are out: earlier rows are too late */
  open(floorMs: number): AsyncGenerator<LogBatch, void>;
}

interface OpenStream {
  readonly batches: AsyncGenerator<LogBatch, void>;
  batch: LogBatch;
  row: number;
}

const merged = 4096;

export class MergedRows {
  readonly #closed: OrderedStream[];
  #open: OpenStream[] = [];
  #floorMs = Number.NEGATIVE_INFINITY;
  readonly #out = new Columns(merged, true);

  constructor(streams: readonly OrderedStream[]) {
    this.#closed = [...streams].sort((a, b) => a.firstMs - b.firstMs || 0);
  }

  async *read(): AsyncGenerator<LogBatch, void> {
    try {
      while (this.#open.length > 0 || this.#closed.length > 0) {
        await this.#openDue();
        const [only] = this.#open;
        if (only === undefined) continue;
        const { batch, row } = only;
        const last = batch.atMs[batch.count - 1] as number;
        if (this.#open.length === 1 && !((this.#closed[0]?.firstMs ?? Number.POSITIVE_INFINITY) <= last)) {
          this.#floorMs = last;
          yield row === 0 ? batch : rowsOf(batch, row, batch.count);
          only.row = batch.count;
          await this.#advance(only);
        } else yield* this.#merge();
      }
    } finally {
      for (const { batches } of this.#open) await batches.return(undefined);
    }
  }

  /** Opens the streams whose time has come. */
  async #openDue(): Promise<void> {
    for (let next = this.#closed[0]; next !== undefined; next = this.#closed[0]) {
      const earliest = this.#earliest();
      if (earliest !== null && (earliest.batch.atMs[earliest.row] as number) < next.firstMs) return;
      this.#closed.shift();
      const batches = next.open(this.#floorMs);
      const first = await batches.next();
      if (first.done !== true) this.#open.push({ batches, batch: first.value, row: 0 });
    }
  }

  /** Returns the stream whose next row comes first. */
  #earliest(): OpenStream | null {
    let best: OpenStream | null = null;
    let bestMs = Number.POSITIVE_INFINITY;
    for (const stream of this.#open) {
      const at = stream.batch.atMs[stream.row] as number;
      if (at >= bestMs) continue;
      best = stream;
      bestMs = at;
    }
    return best;
  }

  /** Yields rows of all open streams, until the next stream is due, or one of them has ended. */
  async *#merge(): AsyncGenerator<LogBatch, void> {
    const out = this.#out;
    const untilMs = this.#closed[0]?.firstMs ?? Number.POSITIVE_INFINITY;
    let count = 0;
    let ended: OpenStream | null = null;
    while (count < merged && ended === null) {
      const stream = this.#earliest();
      if (stream === null) break;
      const { batch, row } = stream;
      const at = batch.atMs[row] as number;
      if (at >= untilMs) break;
      out.copyRow(count, batch, row);
      count += 1;
      stream.row += 1;
      if (stream.row === batch.count) ended = stream;
    }
    if (count > 0) {
      this.#floorMs = out.atMs[count - 1] ?? this.#floorMs;
      yield rowsOf(out, 0, count);
    }
    if (ended !== null) await this.#advance(ended);
  }

  async #advance(stream: OpenStream): Promise<void> {
    const next = await stream.batches.next();
    if (next.done === true) this.#open = this.#open.filter((each) => each !== stream);
    else {
      stream.batch = next.value;
      stream.row = 0;
    }
  }
}
