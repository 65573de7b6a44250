// Blocks of lines → the calls of a trace of version 2, one by one.
import { type Block, newline } from "./blocks.ts";
import { Names } from "./names.ts";
import { parseLine } from "./parse-line.ts";
import { QuotaLineReader } from "./quota-lines.ts";
import type { QuotaCall, QuotaTraceHeader } from "./quota-record.ts";
import { SequenceChecks } from "./sequence.ts";

/** One call and the number of its line; the header's is 1. */
export interface QuotaLine {
  readonly line: number;
  readonly call: QuotaCall;
}

export class QuotaLines {
  readonly #reader: QuotaLineReader;
  readonly #names = new Names();
  readonly #checks: SequenceChecks;
  readonly #sort: boolean;

  /** @param sort whether the calls are put in the order of `received` first, all in memory */
  constructor(header: QuotaTraceHeader, sort: boolean) {
    this.#reader = new QuotaLineReader(header);
    this.#checks = new SequenceChecks(this.#names, sort);
    this.#sort = sort;
  }

  /**
   * All calls, from `from` on in the first block.
   * @throws SpillwayError `TRACE_INVALID`
   */
  async *read(
    first: Block,
    from: number,
    others: AsyncGenerator<Block, void>,
  ): AsyncGenerator<QuotaLine, void> {
    const kept: QuotaLine[] = [];
    const take = (lines: Iterable<QuotaLine>): Iterable<QuotaLine> => {
      if (!this.#sort) return lines;
      for (const line of lines) kept.push(line);
      return [];
    };
    try {
      yield* take(this.#linesOf(first, from));
      for await (const block of others) yield* take(this.#linesOf(block, 0));
    } finally {
      await others.return();
    }
    yield* kept.sort((one, other) => one.call.received - other.call.received || one.line - other.line);
  }

  *#linesOf(block: Block, from: number): Generator<QuotaLine, void> {
    for (let at = from; at < block.end; ) {
      const end = block.bytes.indexOf(newline, at);
      const { line } = block;
      const call = this.#reader.read(parseLine(block, at, end), line);
      this.#checks.add(line, call.received, this.#names.of(call.client), call.call);
      block.line += 1;
      at = end + 1;
      yield { line, call };
    }
  }
}
