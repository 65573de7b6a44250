// Calls one by one, as objects of their own, out of batches. An iterator by hand: an async generator costs several
// turns of the event queue a call, which is more than reading it.
import type { CallBatch } from "./batch.ts";
import type { TraceCall } from "./record.ts";

/** One call and the number of its line; the header's is 1. */
export interface TraceLine {
  readonly line: number;
  readonly call: TraceCall;
}

export class CallStream implements AsyncIterable<TraceLine> {
  readonly #batches: AsyncIterator<CallBatch>;
  #batch: CallBatch | null = null;
  #row = 0;

  constructor(batches: AsyncIterable<CallBatch>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): AsyncIterator<TraceLine, void> {
    return {
      next: () => {
        const batch = this.#batch;
        return batch !== null && this.#row < batch.size
          ? Promise.resolve(this.#take(batch))
          : this.#takeNext();
      },
      return: async () => {
        this.#batch = null;
        await this.#batches.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  async #takeNext(): Promise<IteratorResult<TraceLine, void>> {
    const next = await this.#batches.next();
    if (next.done === true) return { done: true, value: undefined };
    this.#batch = next.value;
    this.#row = 0;
    return this.#take(next.value);
  }

  #take(batch: CallBatch): IteratorYieldResult<TraceLine> {
    const row = this.#row;
    this.#row += 1;
    return { done: false, value: { line: batch.line[row] ?? 0, call: batch.callAt(row) } };
  }
}
