// `spillway verify`, without the terminal: bytes of a trace in, verdict out.
import { type ReadTraceOptions, readTrace, type TraceLine } from "../trace/read.ts";
import { type JudgeOptions, judge } from "./judge.ts";
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
  const { header, calls } = await readTrace(source, options);
  return judge(header, watched(calls, onProgress, signal), options);
}

async function* watched(
  calls: AsyncIterable<TraceLine>,
  onProgress: VerifyOptions["onProgress"],
  signal: AbortSignal | undefined,
): AsyncGenerator<TraceLine, void> {
  let count = 0;
  for await (const call of calls) {
    count += 1;
    if (count % callsBetweenReports === 0) {
      signal?.throwIfAborted();
      onProgress?.(count);
    }
    yield call;
  }
}
