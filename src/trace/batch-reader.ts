// Reads blocks of lines into batches of calls: each line is scanned the fast way, or parsed if that does not take it.
import { CallBatch, has } from "./batch.ts";
import { type Block, lineLengthMost, newline, tooLong } from "./blocks.ts";
import { checkCall } from "./call-members.ts";
import { LineScanner } from "./line-scanner.ts";
import { Names } from "./names.ts";
import { parseLine } from "./parse-line.ts";
import { SequenceChecks } from "./sequence.ts";

export class BatchReader {
  readonly #names = new Names();
  readonly #batches: (names: Names) => CallBatch;
  readonly #scanner = new LineScanner(this.#names);
  readonly #checks: SequenceChecks;
  /** Place of the next byte in the block. */
  #at = 0;

  /** @param batches returns the batch to fill next. Default: one batch, filled again and again */
  constructor(anyOrder: boolean, batches?: (names: Names) => CallBatch) {
    this.#checks = new SequenceChecks(this.#names, anyOrder);
    const one = new CallBatch(this.#names);
    this.#batches = batches ?? (() => one);
  }

  /**
   * Yields all calls of a block from `from` on. Calls before an invalid line are given before the error is thrown.
   * @throws SpillwayError `TRACE_INVALID`
   */
  *read(block: Block, from: number): Generator<CallBatch, void> {
    this.#at = from;
    while (this.#at < block.end) {
      const batch = this.#batches(this.#names);
      batch.bytes = block.bytes;
      const failure = this.#fill(block, batch);
      if (batch.size > 0) yield batch;
      if (failure !== null) throw failure.error;
    }
  }

  #fill(block: Block, batch: CallBatch): { readonly error: unknown } | null {
    batch.size = 0;
    try {
      while (this.#at < block.end && batch.size < CallBatch.capacity) {
        this.#at = this.#readLine(block, batch, batch.size);
        batch.size += 1;
        block.line += 1;
      }
      return null;
    } catch (error) {
      return { error };
    }
  }

  /** Reads one line into a row. @returns place where the next line begins */
  #readLine(block: Block, batch: CallBatch, row: number): number {
    const next = this.#scanner.scan(block, this.#at, batch, row);
    if (next === -1) return this.#parseLine(block, batch, row);
    if (next - this.#at > lineLengthMost) throw tooLong(block.line);
    batch.line[row] = block.line;
    this.#checks.add(block.line, batch.received[row] ?? 0, batch.client[row] ?? 0, batch.call[row] ?? 0);
    return next;
  }

  #parseLine(block: Block, batch: CallBatch, row: number): number {
    const end = block.bytes.indexOf(newline, this.#at);
    const call = parseLine(block, this.#at, end);
    checkCall(call, block.line);
    const client = this.#names.of(call.client);
    batch.line[row] = block.line;
    batch.has[row] = has.odd;
    batch.from.odd[row] = this.#at;
    batch.to.odd[row] = end;
    batch.sent[row] = call.sent;
    batch.received[row] = call.received;
    batch.client[row] = client;
    this.#checks.add(block.line, call.received, client, call.call);
    return end + 1;
  }
}
