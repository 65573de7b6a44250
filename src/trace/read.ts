// Reads a trace (FORMAT.md) from bytes, a line at a time: gzip or plain, in memory that does not grow with the
// trace but for one small entry a client. Every line is checked by hand-written checks: a schema library costs
// more per line than JSON.parse does. Mistakes are coded errors with the line's number.
import { quote, type SpillwayError } from "../rules/errors.ts";
import { checkCall } from "./call-members.ts";
import { CallNumbers } from "./call-numbers.ts";
import { readHeader } from "./header-members.ts";
import { type LineBatch, readLines } from "./lines.ts";
import type { TraceCall, TraceHeader } from "./record.ts";
import { traceError } from "./trace-error.ts";

/** How far apart lines may stand from the order of `received` (FORMAT.md). */
export const outOfOrderMsMost = 120_000;

/** One call and the number of its line; the header's is 1. */
export interface TraceLine {
  readonly line: number;
  readonly call: TraceCall;
}

/** A trace as it is read: the header first, then the calls, once. */
export interface TraceReading {
  readonly header: TraceHeader;
  readonly calls: AsyncIterable<TraceLine>;
}

export interface ReadTraceOptions {
  /** Puts the calls in the order of `received` first, in memory, however far apart they stand. */
  readonly sort?: boolean;
}

/**
 * Reads a trace; gzip is known by its first bytes.
 * @param source the file's bytes in chunks of any size
 * @returns the header, and the calls in the order of their lines (unless sorted); `calls` can be iterated once
 * @throws SpillwayError `TRACE_INVALID` here for the header, while `calls` is iterated for the lines: with the
 *   line's number, the member, what was got and what is allowed
 */
export async function readTrace(
  source: AsyncIterable<Uint8Array>,
  options: ReadTraceOptions = {},
): Promise<TraceReading> {
  const batches = readLines(source);
  const first = await batches.next();
  if (first.done === true)
    throw traceError("this trace is empty", 1, { got: "nothing", allowed: "a trace's header" });
  const [text = "", ...texts] = first.value.texts;
  const header = readHeader(parseLine(text, 1, first.value.ended));
  const calls = readCalls({ ...first.value, line: 2, texts }, batches, options.sort === true);
  return { header, calls: options.sort === true ? sorted(calls) : calls };
}

async function* readCalls(
  first: LineBatch,
  others: AsyncIterable<LineBatch>,
  anyOrder: boolean,
): AsyncGenerator<TraceLine, void> {
  const checks = new SequenceChecks(anyOrder);
  for (let index = 0; index < first.texts.length; index++) yield readCall(first, index, checks);
  for await (const batch of others)
    for (let index = 0; index < batch.texts.length; index++) yield readCall(batch, index, checks);
}

function readCall(
  { line: firstLine, texts, ended }: LineBatch,
  index: number,
  checks: SequenceChecks,
): TraceLine {
  const line = firstLine + index;
  const call = parseLine(texts[index] ?? "", line, ended);
  checkCall(call, line);
  checks.add(call, line);
  return { line, call };
}

/** What no line shows alone: the order of the lines, and that no call stands there twice. */
class SequenceChecks {
  readonly #anyOrder: boolean;
  readonly #numbers = new CallNumbers();
  #latest = Number.NEGATIVE_INFINITY;

  constructor(anyOrder: boolean) {
    this.#anyOrder = anyOrder;
  }

  add(call: TraceCall, line: number): void {
    if (call.received > this.#latest) this.#latest = call.received;
    else if (!this.#anyOrder && call.received < this.#latest - outOfOrderMsMost)
      throw outOfOrder(call, line, this.#latest);
    if (this.#numbers.add(call.client, call.call)) return;
    throw traceError("a call stands in this trace twice", line, {
      member: "call",
      got: `${quote(call.client)} ${call.call} again`,
      allowed: "each pair of client and call once",
    });
  }
}

function outOfOrder({ received }: TraceCall, line: number, latest: number): SpillwayError {
  return traceError(
    "this trace is not in the order of received",
    line,
    {
      member: "received",
      got: `${received}, ${(latest - received) / 1000} s before a line above`,
      allowed: `lines in the order of received, give or take ${outOfOrderMsMost / 1000} s`,
    },
    "spillway verify --sort puts it in order first, in memory",
  );
}

async function* sorted(calls: AsyncIterable<TraceLine>): AsyncGenerator<TraceLine> {
  const all: TraceLine[] = [];
  for await (const call of calls) all.push(call);
  yield* all.sort((a, b) => a.call.received - b.call.received || a.line - b.line);
}

function parseLine(text: string, line: number, ended: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (!ended)
      throw traceError(
        "the last line of this trace is cut in the middle",
        line,
        { got: quote(text), allowed: "a whole line" },
        "was it still being written, or did the disk fill up? The lines above it are whole",
      );
    throw traceError("a line of this trace is no JSON", line, {
      got: text.trim() === "" ? "an empty line" : `${quote(text)} (${(cause as Error).message.slice(0, 80)})`,
      allowed: "a JSON object",
    });
  }
}
