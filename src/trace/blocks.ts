// Splits bytes into blocks of whole lines, in one buffer that is used again. So the memory for a trace depends neither
// on its length nor on the size of its chunks.

import { plainBytes } from "./plain-bytes.ts";
import { traceError } from "./trace-error.ts";

/** Greatest length of a line, bytes: a status answer's is under 1 kB. */
export const lineLengthMost = 1 << 24;

export const newline = 0x0a;

/** Number of bytes behind a block's end that may be read and mean nothing, so that comparing words needs no check. */
const slack = 256;
const smallest = 1 << 18;

/** Whole lines. One object, filled again for each block: use it up before asking for the next. */
export class Block {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(smallest + slack);
  view: DataView<ArrayBuffer> = new DataView(this.bytes.buffer);
  /** End of the lines, behind the last newline. */
  end = 0;
  /** False if the trace lacks that last newline. */
  ended = true;
  /** Number of the next line, from 1. The reader of lines counts on. */
  line = 1;
  /** Number of bytes held, with those behind the last whole line. */
  filled = 0;

  add(chunk: Uint8Array): void {
    const needed = this.filled + chunk.length + slack;
    if (needed > this.bytes.length) {
      const bytes = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
      bytes.set(this.bytes.subarray(0, this.filled));
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer);
    }
    this.bytes.set(chunk, this.filled);
    this.filled += chunk.length;
  }

  /** Drops the lines, and keeps the bytes behind them. */
  forget(): void {
    this.bytes.copyWithin(0, this.end, this.filled);
    this.filled -= this.end;
    this.end = 0;
  }
}

/**
 * Yields the lines of a trace, gzip or plain.
 * @throws SpillwayError `TRACE_INVALID` if a line is longer than `lineLengthMost`
 */
export const readBlocks = (source: AsyncIterable<Uint8Array>): AsyncGenerator<Block, void> =>
  blocksOf(plainBytes(source), tooLong);

/** Yields the lines of plain bytes. @param long makes the error of a line that is longer than `lineLengthMost` */
export async function* blocksOf(
  chunks: AsyncIterable<Uint8Array>,
  long: (line: number) => Error,
): AsyncGenerator<Block, void> {
  const block = new Block();
  for await (const chunk of chunks) {
    const last = chunk.lastIndexOf(newline);
    if (last !== -1) block.end = block.filled + last + 1;
    block.add(chunk);
    if (last !== -1) {
      yield block;
      block.forget();
    }
    if (block.filled > lineLengthMost) throw long(block.line);
  }
  if (block.filled === 0) return;
  block.add(Uint8Array.of(newline));
  block.end = block.filled;
  block.ended = false;
  yield block;
}

export function tooLong(line: number): Error {
  return traceError(
    "a line of this trace is too long",
    line,
    { got: `more than ${lineLengthMost} bytes`, allowed: `at most ${lineLengthMost} bytes` },
    "a trace is NDJSON: one call a line",
  );
}
