// Messages between a verb and the thread that reads its trace.
import type { TraceHeader } from "../trace/record.ts";
import type { SentError } from "./sent-error.ts";

export type FromTraceThread =
  /** `null` for a trace of version 2. */
  | { readonly kind: "header"; readonly header: TraceHeader | null }
  | {
      readonly kind: "batch";
      /** Parts that `CallBatch` is made of. */
      readonly buffer: ArrayBuffer;
      readonly size: number;
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** Names that no earlier batch had, in the order of their numbers. */
      readonly names: readonly string[];
    }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly error: SentError };

/** Buffer of a batch that was used. It is free again. */
export type ToTraceThread = ArrayBuffer;
