// Bytes → blocks of whole lines, all in one buffer that is used again and again: what a trace costs in memory does
// not depend on how long it is, nor on how its bytes come.

import { plainBytes } from "./plain-bytes.ts";
import { traceError } from "./trace-error.ts";

/** The longest line that is read, in bytes: a status answer's is under 1 kB. */
export const lineLengthMost = 1 << 24;

export const newline = 0x0a;

/** Bytes behind a block's end that may be read, and mean nothing: a comparison of words needs no check then. */
const slack = 256;
const smallest = 1 << 18;

/** Whole lines. One object, filled again for each block: use it up before asking for the next. */
export class Block {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(smallest + slack);
  view: DataView<ArrayBuffer> = new DataView(this.bytes.buffer);
  /** End of the lines, behind the last line's newline. */
  end = 0;
  /** `false` where that newline was not in the trace. */
  ended = true;
  /** The number of the next line, from 1; whoever takes lines counts on. */
  line = 1;
  /** Number of bytes, with those behind the last whole line. */
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

  /** Forgets the lines, and keeps what came after them. */
  forget(): void {
    this.bytes.copyWithin(0, this.end, this.filled);
    this.filled -= this.end;
    this.end = 0;
  }
}

/**
 * The lines of a trace, gzip or plain.
 * @throws SpillwayError `TRACE_INVALID` where a line is longer than `lineLengthMost`
 */
export async function* readBlocks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Block, void> {
  const block = new Block();
  for await (const chunk of plainBytes(source)) {
    const last = chunk.lastIndexOf(newline);
    if (last !== -1) block.end = block.filled + last + 1;
    block.add(chunk);
    if (last !== -1) {
      yield block;
      block.forget();
    }
    if (block.filled > lineLengthMost) throw tooLong(block.line);
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
