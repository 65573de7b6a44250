// Reads blocks of lines into batches of calls: each line is scanned the fast way, or parsed if that does not take it.

import { type ShownHeaders, shownFields } from "../wire/fields.ts";
import { CallBatch, has, kindNames } from "./batch.ts";
import { type Block, lineLengthMost, newline, tooLong } from "./blocks.ts";
import { LineScanner } from "./line-scanner.ts";
import {
  actual,
  type Check,
  checkerOf,
  cost,
  count,
  isText,
  oneOf,
  optional,
  status,
  text,
  time,
} from "./member-checks.ts";
import { Names } from "./names.ts";
import { parseLine } from "./parse-line.ts";
import type { TraceCall } from "./record.ts";
import { SequenceChecks } from "./sequence.ts";

const header: Check = [
  "a whole number, text, or null",
  (value) => value === null || isText(value) || Number.isSafeInteger(value),
];

/** Checks of the members, by name. */
const checks: Readonly<Record<keyof TraceCall, Check>> = {
  sent: time,
  received: time,
  client: text,
  call: count,
  org: text,
  user: ["text or null", (value) => value === null || isText(value)],
  scope: ['"rest" or "graphql"', (value) => value === "rest" || value === "graphql"],
  kind: oneOf(kindNames),
  cost,
  status,
  ...(Object.fromEntries(shownFields.map((name) => [name, header])) as Record<keyof ShownHeaders, Check>),
  actual: optional(actual),
  retryAfter: optional(header),
  warning: optional(header),
  userWarning: optional(header),
  body: ["any JSON", () => true],
  refusal: ["any JSON", () => true],
  error: optional(text),
  wanted: optional(time),
  attempt: optional(count),
};

/** @throws SpillwayError `TRACE_INVALID` if the value is no call */
export const checkCall: (value: unknown, line: number) => asserts value is TraceCall = checkerOf(checks);

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
    this.#checks.add(
      block.line,
      batch.received[row] as number,
      batch.client[row] as number,
      batch.call[row] as number,
    );
    return next;
  }

  #parseLine(block: Block, batch: CallBatch, row: number): number {
    const end = block.bytes.indexOf(newline, this.#at);
    const call = parseLine(block, this.#at, end);
    checkCall(call, block.line);
    batch.line[row] = block.line;
    batch.has[row] = has.odd;
    batch.from.odd[row] = this.#at;
    batch.to.odd[row] = end;
    batch.sent[row] = call.sent;
    batch.received[row] = call.received;
    this.#checks.add(block.line, call.received, this.#names.of(call.client), call.call);
    return end + 1;
  }
}
