// `spillway verify`, without the terminal: bytes of a trace in, verdict out.
import type { CallBatch } from "../trace/batch.ts";
import { type ReadTraceOptions, readTrace } from "../trace/read.ts";
import { type JudgeOptions, judgeBatches } from "./judge.ts";
import type { Verdict } from "./verdict.ts";

export interface VerifyOptions extends ReadTraceOptions, JudgeOptions {
  /** Called with the number of calls read so far, every few thousand. */
  readonly onProgress?: (calls: number) => void;
  /** Ends reading; the promise is rejected with the signal's reason then. */
  readonly signal?: AbortSignal;
}

const callsBetweenReports = 5000;

/**
 * Reads and judges a trace, plain or gzip.
 * @param source the trace's bytes, in chunks of any size
 * @throws SpillwayError `TRACE_INVALID` where it cannot be read
 */
export async function verify(
  source: AsyncIterable<Uint8Array>,
  { onProgress, signal, ...options }: VerifyOptions = {},
): Promise<Verdict> {
  const { header, batches } = await readTrace(source, options);
  return judgeBatches(header, watched(batches, onProgress, signal), options);
}

async function* watched(
  batches: AsyncIterable<CallBatch>,
  onProgress: VerifyOptions["onProgress"],
  signal: AbortSignal | undefined,
): AsyncGenerator<CallBatch, void> {
  let count = 0;
  let reported = 0;
  for await (const batch of batches) {
    yield batch;
    count += batch.size;
    if (count - reported < callsBetweenReports) continue;
    reported = count;
    signal?.throwIfAborted();
    onProgress?.(count);
  }
}
