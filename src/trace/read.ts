// Reads a trace (FORMAT.md) from bytes, gzip or plain, in memory that does not grow with the trace but for a little a
// name. Lines as `encodeCall` writes them are scanned into columns; any other goes through JSON.parse and a check of
// each member. Mistakes are coded errors with the line's number.
import type { CallBatch } from "./batch.ts";
import { BatchReader } from "./batch-reader.ts";
import { type Block, newline, readBlocks } from "./blocks.ts";
import { CallStream, type TraceLine } from "./call-stream.ts";
import { readHeader } from "./header-members.ts";
import { parseLine } from "./parse-line.ts";
import type { TraceHeader } from "./record.ts";
import { readSorted } from "./sort.ts";
import { traceError } from "./trace-error.ts";

export type { TraceLine } from "./call-stream.ts";
export { outOfOrderMsMost } from "./sequence.ts";

/** A trace as it is read: the header first, then the calls, once: one by one, or in batches. */
export interface TraceReading {
  readonly header: TraceHeader;
  readonly calls: AsyncIterable<TraceLine>;
  /** The same calls as columns, which is much faster. A batch holds until the next one is asked for. */
  readonly batches: AsyncIterable<CallBatch>;
}

export interface ReadTraceOptions {
  /** Puts the calls in the order of `received` first, in memory, however far apart they stand. */
  readonly sort?: boolean;
}

/**
 * Reads a trace; gzip is known by its first bytes.
 * @param source the file's bytes in chunks of any size
 * @returns the header, and the calls in the order of their lines (unless sorted); they can be iterated once
 * @throws SpillwayError `TRACE_INVALID` here for the header, while calls are iterated for the lines: with the
 *   line's number, the member, what was got and what is allowed
 */
export async function readTrace(
  source: AsyncIterable<Uint8Array>,
  { sort = false }: ReadTraceOptions = {},
): Promise<TraceReading> {
  const blocks = readBlocks(source);
  const first = await blocks.next();
  if (first.done === true)
    throw traceError("this trace is empty", 1, { got: "nothing", allowed: "a trace's header" });
  const end = first.value.bytes.indexOf(newline);
  const header = readHeader(parseLine(first.value, 0, end));
  first.value.line = 2;
  const batches = (sort ? readSorted : readInOrder)(first.value, end + 1, blocks);
  return { header, calls: new CallStream(batches), batches };
}

async function* readInOrder(
  first: Block,
  from: number,
  others: AsyncGenerator<Block, void>,
): AsyncGenerator<CallBatch, void> {
  const reader = new BatchReader(false);
  try {
    yield* reader.read(first, from);
    for await (const block of others) yield* reader.read(block, 0);
  } finally {
    // Who leaves within the first block has begun no other, and the source is open all the same.
    await others.return();
  }
}
