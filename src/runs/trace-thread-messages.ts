// Messages between a verb and the thread that reads its trace.
import type { QuotaTraceHeader } from "../trace/quota-record.ts";
import type { QuotaLine } from "../trace/quota-stream.ts";
import type { TraceHeader } from "../trace/record.ts";
import type { SentError } from "./sent-error.ts";

export type FromTraceThread =
  | { readonly kind: "header"; readonly header: TraceHeader | QuotaTraceHeader }
  | {
      readonly kind: "batch";
      /** What `CallBatch` is made of. */
      readonly buffer: ArrayBuffer;
      readonly size: number;
      readonly bytes: Uint8Array<ArrayBuffer>;
      /** The names that no batch before had, in the order of their numbers. */
      readonly names: readonly string[];
    }
  | { readonly kind: "lines"; readonly lines: readonly QuotaLine[] }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly error: SentError };

/** A batch or some lines were used; what a batch was made of is free again. */
export interface ToTraceThread {
  readonly kind: "used";
  readonly buffer: ArrayBuffer | null;
}
