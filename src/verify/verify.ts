// `spillway verify`, without the terminal: bytes of a trace in, verdict out.
import { type AnyTraceReading, openTrace, type ReadTraceOptions } from "../trace/read.ts";
import { judgeBatches } from "./judge.ts";
import type { JudgeOptions } from "./judging.ts";
import { judgeInPasses } from "./passes.ts";
import { judgeQuotaBatches } from "./policy-judge.ts";
import type { Verdict } from "./verdict.ts";

interface Watched extends JudgeOptions {
  /** Called with the number of calls read so far, every few thousand; from 0 on again if calls are read again. */
  readonly onProgress?: (calls: number) => void;
  /** Signal that ends reading. The promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface VerifyOptions extends ReadTraceOptions, Watched {
  /** Returns the same bytes once more. With it long windows hold few of their calls in memory (`rowsMost`). */
  readonly again?: () => AsyncIterable<Uint8Array>;
}

export interface VerifyReadingOptions extends Watched {
  /** Opens the same trace once more, as `again` of `VerifyOptions` does. */
  readonly again?: () => Promise<AnyTraceReading>;
}

const callsBetweenReports = 5000;

/**
 * Reads and judges a trace of either version, plain or gzip.
 * @param source the trace's bytes, in chunks of any size
 * @throws SpillwayError `TRACE_INVALID` where it cannot be read
 */
export const verify = async (
  source: AsyncIterable<Uint8Array>,
  { again, ...options }: VerifyOptions = {},
): Promise<Verdict> =>
  verifyReading(await openTrace(source, options), {
    ...options,
    ...(again === undefined ? {} : { again: () => openTrace(again(), options) }),
  });

/** Judges an open trace, as `verify` does. */
export const verifyReading = (
  first: AnyTraceReading,
  { onProgress, signal, again, ...options }: VerifyReadingOptions = {},
): Promise<Verdict> =>
  judgeInPasses<AnyTraceReading, Verdict>({ first, again: again ?? null }, options, (trace, holding) => {
    const watch = new Watch(onProgress, signal);
    return trace.version === 1
      ? judgeBatches(
          trace.header,
          watch.each(trace.batches, ({ size }) => size),
          options,
          holding,
        )
      : judgeQuotaBatches(
          trace.header,
          watch.each(trace.batches, ({ length }) => length),
          options,
          holding,
        );
  });

/** Reports progress every few thousand calls, and ends the judgement when the signal asks for it. */
class Watch {
  readonly #onProgress: VerifyOptions["onProgress"];
  readonly #signal: AbortSignal | undefined;
  #count = 0;
  #reported = 0;

  constructor(onProgress: VerifyOptions["onProgress"], signal: AbortSignal | undefined) {
    this.#onProgress = onProgress;
    this.#signal = signal;
  }

  async *each<T>(parts: AsyncIterable<T>, sizeOf: (part: T) => number): AsyncGenerator<T, void> {
    for await (const part of parts) {
      yield part;
      this.#count += sizeOf(part);
      if (this.#count - this.#reported < callsBetweenReports) continue;
      this.#reported = this.#count;
      this.#signal?.throwIfAborted();
      this.#onProgress?.(this.#count);
    }
  }
}
