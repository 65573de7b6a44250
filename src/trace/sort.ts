// Puts a trace in the order of `received`. It keeps the lines' bytes and some twenty bytes more for each. Calls as
// objects would take several times as much. The lines are read a second time in their new order.
import { SpillwayError } from "../rules/errors.ts";
import type { CallBatch } from "./batch.ts";
import { BatchReader } from "./batch-reader.ts";
import { Block, newline } from "./blocks.ts";

/** Greatest number of bytes that are sorted; all of them are in memory. */
const sortedBytesMost = 2 ** 32;

/** Number of bytes of lines that are read again at a time. */
const blockBytes = 1 << 18;
const segmentBytes = 1 << 24;

/**
 * Yields all calls in the order of `received`, equal ones in the order of their lines.
 * @param from where calls begin in the first block
 * @throws SpillwayError `TRACE_INVALID` as `BatchReader` does, and if there are more than `bytesMost`
 */
export async function* readSorted(
  first: Block,
  from: number,
  others: AsyncGenerator<Block, void>,
  bytesMost: number = sortedBytesMost,
): AsyncGenerator<CallBatch, void> {
  const reader = new BatchReader(true);
  const kept = new KeptLines(bytesMost);
  try {
    kept.add(reader.read(first, from), first, from);
    for await (const block of others) kept.add(reader.read(block, 0), block, 0);
  } finally {
    await others.return();
  }
  yield* readAgain(kept);
}

function* readAgain(kept: KeptLines): Generator<CallBatch, void> {
  const reader = new BatchReader(true);
  const block = new Block();
  const order = kept.inOrder();
  let read = 0;
  for (let next = 0; next < order.length; ) {
    block.filled = 0;
    for (; next < order.length && block.filled < blockBytes; next++)
      block.add(kept.line(order[next] as number));
    block.end = block.filled;
    for (const batch of reader.read(block, 0)) {
      for (let row = 0; row < batch.size; row++, read++) batch.line[row] = kept.number(order[read] as number);
      yield batch;
    }
  }
}

/** Lines as they came, with the times of their receipt. */
class KeptLines {
  readonly #bytesMost: number;
  #bytes = 0;
  readonly #segments: Uint8Array[] = [];
  /** Number of used bytes in the last segment. */
  #used = 0;
  #count = 0;
  #received = new Float64Array(1 << 12);
  /** Segment of each line, and its begin and end there. */
  #places = new Int32Array(3 << 12);
  #firstLine = 0;

  constructor(bytesMost: number) {
    this.#bytesMost = bytesMost;
  }

  /** Keeps the lines of a block from `from` on, with the receipts of their calls in `batches`. */
  add(batches: Iterable<CallBatch>, block: Block, from: number): void {
    let at = from;
    for (const batch of batches) {
      if (this.#count === 0) this.#firstLine = batch.line[0] as number;
      for (let row = 0; row < batch.size; row++) {
        const end = block.bytes.indexOf(newline, at) + 1;
        this.#keep(block.bytes.subarray(at, end), batch.received[row] as number);
        at = end;
      }
    }
  }

  #keep(line: Uint8Array, received: number): void {
    this.#bytes += line.length;
    if (this.#bytes > this.#bytesMost) throw tooLarge(this.#bytesMost);
    let segment = this.#segments.at(-1);
    if (segment === undefined || this.#used + line.length > segment.length) {
      segment = new Uint8Array(Math.max(segmentBytes, line.length));
      this.#segments.push(segment);
      this.#used = 0;
    }
    segment.set(line, this.#used);
    if (this.#count === this.#received.length) this.#grow();
    this.#received[this.#count] = received;
    this.#places.set([this.#segments.length - 1, this.#used, this.#used + line.length], 3 * this.#count);
    this.#used += line.length;
    this.#count += 1;
  }

  #grow(): void {
    const received = new Float64Array(2 * this.#count);
    received.set(this.#received);
    this.#received = received;
    const places = new Int32Array(6 * this.#count);
    places.set(this.#places);
    this.#places = places;
  }

  inOrder(): Uint32Array {
    const received = this.#received;
    const order = Uint32Array.from({ length: this.#count }, (_, index) => index);
    return order.sort((a, b) => (received[a] as number) - (received[b] as number) || a - b);
  }

  line(index: number): Uint8Array {
    const [segment = 0, from, to] = this.#places.subarray(3 * index, 3 * index + 3);
    return (this.#segments[segment] ?? new Uint8Array(0)).subarray(from, to);
  }

  /** Returns the number that a line had. */
  number(index: number): number {
    return this.#firstLine + index;
  }
}

function tooLarge(bytesMost: number): SpillwayError {
  return new SpillwayError("TRACE_INVALID", "this trace is too large to be sorted in memory", {
    problem: { path: "trace", got: `more than ${bytesMost} bytes`, allowed: `at most ${bytesMost} bytes` },
    hint: "(head -n 1 TRACE; tail -n +2 TRACE | sort -t: -k3,3n) sorts one of any size, if received is the second member",
  });
}
