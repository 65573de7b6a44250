// A trace that can be read more than once: a file again from its start, other bytes from a copy.
import { ByteCopy } from "../files/byte-copy.ts";
import { type AnyTraceReading, openTrace } from "../trace/read.ts";
import { traceBytes } from "./trace-bytes.ts";
import { isFileOf, openTraceFile, type TraceFileOptions } from "./trace-thread.ts";

export interface RereadableTrace {
  readonly first: AnyTraceReading;
  /** Opens the trace once more. */
  again(): Promise<AnyTraceReading>;
  /** Drops what it keeps for another reading. */
  close(): Promise<void>;
}

/**
 * Opens a trace as `openTraceFile` does.
 * @throws as that does; `again` throws `SYSTEM_REFUSED` if a pipe was longer than its copy may be
 */
export async function openTraceSource(path: string, options: TraceFileOptions): Promise<RereadableTrace> {
  if (path !== "-" && (await isFileOf(0, path))) return sourceOf(() => openTraceFile(path, options));
  const copy = new ByteCopy(traceBytes(path, options.signal));
  const { sort } = options;
  try {
    const first = await openTrace(copy.first(), { sort });
    return { first, again: () => openTrace(copy.again(), { sort }), close: () => copy.close() };
  } catch (error) {
    await copy.close();
    throw error;
  }
}

/** @param open opens the trace from its start */
export async function sourceOf(open: () => Promise<AnyTraceReading>): Promise<RereadableTrace> {
  return { first: await open(), again: open, close: () => Promise.resolve() };
}
