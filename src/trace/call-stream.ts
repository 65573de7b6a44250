// Calls one by one, as objects of their own, out of batches. The iterator is written by hand: an async generator costs
// several turns of the event queue for each call, more than reading it.
import type { CallBatch } from "./batch.ts";
import type { TraceCall } from "./record.ts";

/** A call with the number of its line; the header is line 1. */
export interface TraceLine {
  readonly line: number;
  readonly call: TraceCall;
}

/** @param lineAt returns a batch's line by its place; `null` behind the last one */
export class LineStream<B, L> implements AsyncIterable<L> {
  readonly #batches: AsyncIterator<B>;
  readonly #lineAt: (batch: B, place: number) => L | null;
  #batch: B | null = null;
  #place = 0;

  constructor(batches: AsyncIterable<B>, lineAt: (batch: B, place: number) => L | null) {
    this.#batches = batches[Symbol.asyncIterator]();
    this.#lineAt = lineAt;
  }

  [Symbol.asyncIterator](): AsyncIterator<L, void> {
    return {
      next: () => {
        const line = this.#take();
        return line === null ? this.#takeNext() : Promise.resolve({ done: false, value: line });
      },
      return: async () => {
        this.#batch = null;
        await this.#batches.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  async #takeNext(): Promise<IteratorResult<L, void>> {
    for (;;) {
      const next = await this.#batches.next();
      if (next.done === true) return { done: true, value: undefined };
      this.#batch = next.value;
      this.#place = 0;
      const line = this.#take();
      if (line !== null) return { done: false, value: line };
    }
  }

  #take(): L | null {
    if (this.#batch === null) return null;
    this.#place += 1;
    return this.#lineAt(this.#batch, this.#place - 1);
  }
}

/** Returns the calls of batches, one by one. */
export const callsOf = (batches: AsyncIterable<CallBatch>): AsyncIterable<TraceLine> =>
  new LineStream(batches, (batch: CallBatch, row) =>
    row < batch.size ? { line: batch.line[row] as number, call: batch.callAt(row) } : null,
  );
