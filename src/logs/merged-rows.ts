// Merges ordered streams of rows into one. If one stream alone is open, its batches are passed on as they are. Files may
// overlap, as after a rotation of logs: rows that stand in two of them are then given once.
import { counted } from "../rules/words.ts";
import { Columns, rowsOf } from "./ordered-rows.ts";
import { areOverlapping, LinesAt } from "./overlaps.ts";
import type { LogBatch } from "./rows.ts";

export interface OrderedStream {
  /** Name of the file. */
  readonly name: string;
  /** Time, ms, before which no row is expected. */
  readonly firstMs: number;
  /** Opens the stream. @param floorMs latest time of rows of other files that are out: earlier rows are too late */
  open(floorMs: number): AsyncGenerator<LogBatch, void>;
}

interface OpenStream {
  readonly name: string;
  readonly batches: AsyncGenerator<LogBatch, void>;
  batch: LogBatch;
  row: number;
  /** True once no batch follows. */
  isLast: boolean;
  /** True once its first row was compared with those of the streams before it. */
  isStarted: boolean;
  /** Streams before it that it overlaps with, and number of its rows that stand in one of them, or in none. */
  overlaps: OpenStream[];
  doubles: number;
  others: number;
  readonly lines: LinesAt;
}

const merged = 4096;
/** Number of rows of each stream that tell whether two overlap, if they have so many. */
const comparedLeast = 256;
/** Number of rows that only one of two overlapping files has, besides one in fifty of those of both, until they count apart. */
const othersMost = 16;

export class MergedRows {
  readonly #closed: OrderedStream[];
  #open: OpenStream[] = [];
  #floorMs = Number.NEGATIVE_INFINITY;
  readonly #out = new Columns(merged, true);
  /** Number of rows by the names of two files that they stand in. */
  readonly #doubles = new Map<string, number>();
  #hasOverlaps = false;
  /** Number of open streams that are not started. */
  #new = 0;

  constructor(streams: readonly OrderedStream[]) {
    this.#closed = [...streams].sort((a, b) => a.firstMs - b.firstMs);
  }

  /** Number of rows that were left out, since they stand in another file. */
  get doubles(): number {
    return [...this.#doubles.values()].reduce((sum, rows) => sum + rows, 0);
  }

  /** Returns words on files that overlap. */
  notes(): string[] {
    return [...this.#doubles].map(
      ([names, rows]) => `${counted(rows, "row stands", "rows stand")} in both ${names}: each counts once.`,
    );
  }

  async *read(): AsyncGenerator<LogBatch, void> {
    try {
      while (this.#open.length > 0 || this.#closed.length > 0) {
        await this.#openDue();
        await this.#startDue();
        const [only] = this.#open;
        if (only === undefined) continue;
        const { batch, row } = only;
        const last = batch.atMs[batch.count - 1] as number;
        const isAlone =
          this.#open.length === 1 && !((this.#closed[0]?.firstMs ?? Number.POSITIVE_INFINITY) <= last);
        if (isAlone && !mayBeDouble(only)) {
          this.#floorMs = last;
          yield row === 0 ? batch : rowsOf(batch, row, batch.count);
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
      if (earliest !== null && timeOf(earliest) < next.firstMs) return;
      this.#closed.shift();
      const batches = next.open(this.#floorMs);
      const first = await batches.next();
      if (first.done === true) continue;
      const row = { batch: first.value, row: 0, isLast: false, isStarted: false };
      const overlaps = { overlaps: [], doubles: 0, others: 0, lines: new LinesAt() };
      this.#new += 1;
      this.#open.push({ name: next.name, batches, ...row, ...overlaps });
    }
  }

  /** Compares each stream whose first row is the next with the streams before it, and puts it behind them. */
  async #startDue(): Promise<void> {
    for (let next = this.#earliestNew(); next !== undefined; next = this.#earliestNew()) {
      const started = this.#open.filter(({ isStarted }) => isStarted);
      for (const other of started) {
        await lookAhead(other);
        await lookAhead(next);
        if (areOverlapping(other, next)) next.overlaps.push(other);
      }
      next.isStarted = true;
      this.#new -= 1;
      this.#hasOverlaps ||= next.overlaps.length > 0;
      this.#open = [...this.#open.filter((each) => each !== next), next];
    }
  }

  #earliestNew(): OpenStream | undefined {
    const earliest = this.#new === 0 ? null : this.#earliest();
    if (earliest === null) return undefined;
    return this.#open.find((each) => !each.isStarted && timeOf(each) === timeOf(earliest));
  }

  /** Returns the stream whose next row comes first. */
  #earliest(): OpenStream | null {
    let best: OpenStream | null = null;
    let bestMs = Number.POSITIVE_INFINITY;
    for (const stream of this.#open) {
      const at = timeOf(stream);
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
      if (stream === null || timeOf(stream) >= untilMs || this.#earliestNew() !== undefined) break;
      if (!this.#hasOverlaps || !this.#isDouble(stream)) {
        out.copyRow(count, stream.batch, stream.row);
        count += 1;
      }
      stream.row += 1;
      if (stream.row === stream.batch.count) ended = stream;
    }
    if (count > 0) {
      this.#floorMs = out.atMs[count - 1] ?? this.#floorMs;
      yield rowsOf(out, 0, count);
    }
    if (ended !== null) await this.#advance(ended);
  }

  /** Tells whether the next row of a stream stands in one that it overlaps with. */
  #isDouble(stream: OpenStream): boolean {
    const ms = timeOf(stream);
    const line = stream.batch.line?.[stream.row] ?? 0;
    const before = stream.lines.add(ms, line);
    const other = stream.overlaps.find(({ lines }) => lines.of(ms, line) > before);
    if (other !== undefined) {
      const names = `${other.name} and ${stream.name}`;
      this.#doubles.set(names, (this.#doubles.get(names) ?? 0) + 1);
      stream.doubles += 1;
    } else if (stream.overlaps.some((each) => this.#open.includes(each))) {
      stream.others += 1;
      if (stream.others > othersMost + stream.doubles / 50) stream.overlaps = [];
    }
    return other !== undefined;
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

const timeOf = ({ batch, row }: OpenStream): number => batch.atMs[row] as number;

/** Tells whether a stream that is left alone may still have rows of one that ended at the same time. */
const mayBeDouble = (stream: OpenStream): boolean =>
  stream.overlaps.some(({ lines }) => lines.ms === timeOf(stream));

/** Reads on until enough rows of a stream are there to be compared, or all of them. */
async function lookAhead(stream: OpenStream): Promise<void> {
  while (!stream.isLast && stream.batch.count - stream.row < comparedLeast) {
    const held = joined(rowsOf(stream.batch, stream.row, stream.batch.count), null);
    const next = await stream.batches.next();
    stream.isLast = next.done === true;
    stream.batch = next.done === true ? held : joined(held, next.value);
    stream.row = 0;
  }
}

/** Returns a copy of a batch, and of another behind it. */
function joined(first: LogBatch, second: LogBatch | null): Columns {
  const all = new Columns(
    first.count + (second?.count ?? 0),
    first.attempt !== undefined,
    first.line !== undefined,
  );
  for (const batch of second === null ? [first] : [first, second])
    for (let row = 0; row < batch.count; row++) {
      all.copyRow(all.count, batch, row);
      all.count += 1;
    }
  return all;
}
