// k6's raw file → a trace. Each line of the raw file is a call as in the trace, `{"start": client, "at": ms}`, `{"end":
// client}`, `{"error": client, ...}`, or something that a scenario printed.

import { createReadStream } from "node:fs";
import { unwritable } from "../files/unwritable.ts";
import { lineLengthMost, tooLong } from "../trace/blocks.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import type { TraceCall } from "../trace/record.ts";
import { Account, type LoadAccount } from "./account.ts";
import type { TraceFile, TraceHead } from "./trace-file.ts";

export interface TraceFromK6Options {
  /** Path of the file that k6's `console.log` wrote. */
  readonly raw: string;
  /** Trace, which has its first header already. */
  readonly trace: TraceFile;
  /** Header. Its `startedAt` is the start of k6's process, some tenths of a second before that of k6's clients. */
  readonly head: TraceHead;
  /** Greatest number of calls that one client of a population has on the way. */
  readonly inFlightMost: ReadonlyMap<string, number>;
  /** Number of lines that k6 could not write (the disk was full). Each may have been a call's. */
  readonly linesFailed: number;
  /** Number of requests that k6 itself counted; `null` if k6 ended before it told it. */
  readonly requests: number | null;
}

/**
 * Makes the trace, in memory that does not grow with its length. Lines keep the order of writing. That is the order of
 * `received`, except for the moment between an answer and its line (FORMAT.md allows 120 s).
 * @throws SpillwayError `FILE_UNWRITABLE`; then k6's raw file stays, and beside it the trace's header
 *   (`unfinishedK6Trace`)
 */
export async function traceFromK6(options: TraceFromK6Options): Promise<LoadAccount> {
  const { raw, trace, head } = options;
  const account = new Account(head.startedAt);
  try {
    await copyCalls(raw, account, trace);
    const lost = lostOf(account, options);
    await trace.finish({ startedAt: account.startedAt, lost, complete: head.complete });
    return account.finish(lost);
  } catch (cause) {
    await trace.leaveHeader();
    throw unwritable("the trace", trace.path, cause, "what k6 wrote is kept");
  }
}

async function copyCalls(raw: string, account: Account, file: TraceFile): Promise<void> {
  let tail = "";
  for await (const { whole, rest } of lineBatches(raw)) {
    for (const line of whole) if (take(account, line)) file.add(line);
    await file.flush();
    if (file.failure !== null) throw file.failure;
    tail = rest;
  }
  // A kill or a full disk cut off a last line without its end. The trace ends at the line before.
  if (tail !== "") account.torn += 1;
}

/**
 * Yields the trace of a run that was killed: the header that was written when it began, and the calls that k6 wrote.
 * @param trace the trace's file, of which only the header is read
 * @param raw k6's raw file
 * @throws SpillwayError `TRACE_INVALID` if a line is longer than a trace's may be; Error of the file system
 */
export async function* unfinishedK6Trace(trace: string, raw: string): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  for await (const { whole, rest } of lineBatches(trace)) {
    if (whole.length > 0) yield encoder.encode(`${whole[0]}\n`);
    if (whole.length > 0 || rest.length > lineLengthMost) break;
  }
  for await (const { whole, rest } of lineBatches(raw)) {
    const calls = whole.filter((line) => typeof parseOurs(line)?.["status"] === "number");
    if (calls.length > 0) yield encoder.encode(`${calls.join("\n")}\n`);
    if (rest.length > lineLengthMost) throw tooLong(1);
  }
}

/** @returns true if the line is a call's */
function take(account: Account, line: string): boolean {
  const value = parseOurs(line);
  if (value === null) {
    if (ourStart.test(line)) account.torn += 1;
    else account.print(line);
    return false;
  }
  const { status, start, at, end, error } = value;
  if (typeof status === "number") {
    account.call(value as unknown as TraceCall | QuotaCall);
    return true;
  }
  if (typeof start === "string") account.begin(start, Number.isSafeInteger(at) ? (at as number) : undefined);
  else if (typeof end === "string") account.end(end);
  else if (typeof error === "string") account.fail(error, String(value["message"]));
  return false;
}

/**
 * Returns the greatest number of lost calls. A client that did not end has a known most of calls on the way. Each
 * unwritten line was a call's, or began a client that may have been cut off, too. If k6 counted more requests than
 * these, its count is used.
 */
function lostOf(
  { running, calls }: Account,
  { inFlightMost, linesFailed, requests }: TraceFromK6Options,
): number {
  const most = Math.max(1, ...inFlightMost.values());
  let lost = linesFailed * most;
  for (const client of running) lost += inFlightMost.get(client.slice(0, client.lastIndexOf("/"))) ?? most;
  return Math.max(lost, (requests ?? 0) - calls);
}

const ourStart = /^\{"(?:sent|start|end|error)":/;

function parseOurs(line: string): Readonly<Record<string, unknown>> | null {
  if (!ourStart.test(line)) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

// A file's lines, one chunk at a time. (readline would also end lines at U+2028, which JSON leaves in strings.)
interface LineBatch {
  /** Lines that the chunk ended, without their ends. */
  readonly whole: readonly string[];
  /** Text after the last line's end. In the last batch it is empty, or a line that was cut off. */
  readonly rest: string;
}

/** Yields all lines of a file, many at once. @throws Error of the file system */
async function* lineBatches(path: string): AsyncGenerator<LineBatch, void> {
  let rest = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8", highWaterMark: 1 << 18 })) {
    const whole = (rest + String(chunk)).split("\n");
    rest = whole.pop() ?? "";
    yield { whole, rest };
  }
}
