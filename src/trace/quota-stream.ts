// Reads the calls of a trace of version 2, one by one, from blocks of lines.
import { type Block, lineLengthMost, newline, tooLong } from "./blocks.ts";
import { Names } from "./names.ts";
import { parseLine } from "./parse-line.ts";
import { QuotaLineReader } from "./quota-lines.ts";
import type { QuotaCall, QuotaTraceHeader } from "./quota-record.ts";
import { QuotaScanner } from "./quota-scanner.ts";
import { SequenceChecks } from "./sequence.ts";

/** A call with the number of its line; the header is line 1. */
export interface QuotaLine {
  readonly line: number;
  readonly call: QuotaCall;
}

/** Greatest number of lines that are given together. */
const linesTogether = 1024;

export class QuotaLines {
  readonly #reader: QuotaLineReader;
  readonly #names = new Names();
  readonly #scanner: QuotaScanner;
  readonly #checks: SequenceChecks;
  readonly #sort: boolean;
  /** Place of the next byte in the block. */
  #at = 0;

  /** @param sort true to put the calls in the order of `received` first, all in memory */
  constructor(header: QuotaTraceHeader, sort: boolean) {
    this.#reader = new QuotaLineReader(header);
    this.#scanner = new QuotaScanner(this.#names, this.#reader.quotas, this.#reader.operations);
    this.#checks = new SequenceChecks(this.#names, sort);
    this.#sort = sort;
  }

  /**
   * Yields all calls, some together, from `from` on in the first block.
   * @throws SpillwayError `TRACE_INVALID`, once the calls before the invalid line were given
   */
  async *read(
    first: Block,
    from: number,
    others: AsyncGenerator<Block, void>,
  ): AsyncGenerator<readonly QuotaLine[], void> {
    const kept: QuotaLine[] = [];
    const take = (lines: Iterable<readonly QuotaLine[]>): Iterable<readonly QuotaLine[]> => {
      if (!this.#sort) return lines;
      for (const each of lines) for (const line of each) kept.push(line);
      return [];
    };
    try {
      yield* take(this.#linesOf(first, from));
      for await (const block of others) yield* take(this.#linesOf(block, 0));
    } finally {
      await others.return();
    }
    yield kept.sort((one, other) => one.call.received - other.call.received || one.line - other.line);
  }

  *#linesOf(block: Block, from: number): Generator<readonly QuotaLine[], void> {
    this.#at = from;
    while (this.#at < block.end) {
      const lines: QuotaLine[] = [];
      const failure = this.#fill(block, lines);
      yield lines;
      if (failure !== null) throw failure.error;
    }
  }

  #fill(block: Block, lines: QuotaLine[]): { readonly error: unknown } | null {
    try {
      for (; this.#at < block.end && lines.length < linesTogether; block.line += 1)
        lines.push({ line: block.line, call: this.#next(block) });
      return null;
    } catch (error) {
      return { error };
    }
  }

  #next(block: Block): QuotaCall {
    const { line } = block;
    const from = this.#at;
    const scanned = this.#scanner.scan(block, from);
    const next = scanned === null ? block.bytes.indexOf(newline, from) + 1 : this.#scanner.next;
    if (next - from > lineLengthMost) throw tooLong(line);
    const call = scanned ?? this.#reader.read(parseLine(block, from, next - 1), line);
    const client = scanned === null ? this.#names.of(call.client) : this.#scanner.client;
    this.#checks.add(line, call.received, client, call.call);
    this.#at = next;
    return call;
  }
}
