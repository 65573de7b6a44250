// Reads a trace (FORMAT.md) from bytes, gzip or plain. Memory grows only a little with each name, not with the trace.
// Lines as `encodeCall` writes them are scanned into columns. Other lines go through JSON.parse and a check of each
// member. Mistakes are coded errors with the line's number.
import type { CallBatch } from "./batch.ts";
import { BatchReader } from "./batch-reader.ts";
import { type Block, newline, readBlocks } from "./blocks.ts";
import { callsOf, LineStream, type TraceLine } from "./call-stream.ts";
import { readHeader } from "./header-members.ts";
import type { Names } from "./names.ts";
import { parseLine } from "./parse-line.ts";
import type { QuotaTraceHeader } from "./quota-record.ts";
import { type QuotaLine, QuotaLines } from "./quota-stream.ts";
import type { TraceHeader } from "./record.ts";
import { readSorted } from "./sort.ts";
import { traceError } from "./trace-error.ts";

export type { TraceLine } from "./call-stream.ts";
export { outOfOrderMsMost } from "./sequence.ts";

/** An open trace: the header first, then the calls, once: one by one, or in batches. */
export interface TraceReading {
  readonly header: TraceHeader;
  readonly calls: AsyncIterable<TraceLine>;
  /** The same calls as columns, which is much faster. A batch is valid until the next one is asked for. */
  readonly batches: AsyncIterable<CallBatch>;
}

/** An open trace of version 2, by the quotas of its policy. */
export interface QuotaTraceReading {
  readonly header: QuotaTraceHeader;
  /** Calls in the order of their lines, once: one by one, or some together, which is faster. */
  readonly calls: AsyncIterable<QuotaLine>;
  readonly batches: AsyncIterable<readonly QuotaLine[]>;
}

const linesOf = (batches: AsyncIterable<readonly QuotaLine[]>): AsyncIterable<QuotaLine> =>
  new LineStream(batches, (lines: readonly QuotaLine[], place) => lines[place] ?? null);

/** An open trace of either version. */
export type AnyTraceReading =
  | ({ readonly version: 1 } & TraceReading)
  | ({ readonly version: 2 } & QuotaTraceReading);

export interface ReadTraceOptions {
  /** Returns the batch that is filled next. Default: one batch, filled again and again. */
  readonly newBatch?: (names: Names) => CallBatch;
  /** True to put the calls in the order of `received` first, in memory, however far apart they stand. */
  readonly sort?: boolean;
}

/**
 * Reads a trace; gzip is known by its first bytes.
 * @param source bytes of the file in chunks of any size; closed if this throws
 * @returns the header, and the calls in the order of their lines (unless sorted); they can be iterated once
 * @throws SpillwayError `TRACE_INVALID` here for the header, and during iteration for the lines: with the
 *   line's number, the member, what was got and what is allowed
 */
export const openTrace = (
  source: AsyncIterable<Uint8Array>,
  options: ReadTraceOptions = {},
): Promise<AnyTraceReading> => opened(source, options, (trace) => trace);

/**
 * Reads a trace of version 1, as `openTrace` does.
 * @throws SpillwayError `TRACE_INVALID` as `openTrace` does, and for a trace of version 2
 */
export const readTrace = (
  source: AsyncIterable<Uint8Array>,
  options: ReadTraceOptions = {},
): Promise<TraceReading> =>
  opened(source, options, (trace) => {
    if (trace.version === 1) return trace;
    throw traceError(
      "this trace speaks of the quotas of a policy, which cannot be read here yet",
      1,
      { member: "version", got: "2", allowed: "1" },
      "spillway verify judges it",
    );
  });

/** Opens a trace and hands it to `of`. If it throws, the caller cannot read the trace: its source is closed here. */
async function opened<T>(
  source: AsyncIterable<Uint8Array>,
  { sort = false, newBatch }: ReadTraceOptions,
  of: (trace: AnyTraceReading) => T,
): Promise<T> {
  const blocks = readBlocks(source);
  try {
    return of(await begun(blocks, sort, newBatch));
  } catch (error) {
    await blocks.return();
    throw error;
  }
}

async function begun(
  blocks: AsyncGenerator<Block, void>,
  sort: boolean,
  newBatch: ReadTraceOptions["newBatch"],
): Promise<AnyTraceReading> {
  const first = await blocks.next();
  if (first.done === true)
    throw traceError("this trace is empty", 1, { got: "nothing", allowed: "a trace's header" });
  const block = first.value;
  const end = block.bytes.indexOf(newline);
  const header = readHeader(parseLine(block, 0, end));
  block.line = 2;
  if (header.version === 2) {
    const calls = new QuotaLines(header, sort);
    const batches = calls.read(block, end + 1, blocks);
    return { version: 2, header, calls: linesOf(batches), batches };
  }
  const batches = sort ? readSorted(block, end + 1, blocks) : readInOrder(block, end + 1, blocks, newBatch);
  return { version: 1, header, calls: callsOf(batches), batches };
}

async function* readInOrder(
  first: Block,
  from: number,
  others: AsyncGenerator<Block, void>,
  newBatch: ReadTraceOptions["newBatch"],
): AsyncGenerator<CallBatch, void> {
  const reader = new BatchReader(false, newBatch);
  try {
    yield* reader.read(first, from);
    for await (const block of others) yield* reader.read(block, 0);
  } finally {
    // A caller who stops within the first block has begun no other block, but the source is open all the same.
    await others.return();
  }
}
