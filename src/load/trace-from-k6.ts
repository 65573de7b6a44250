// k6's raw file → a trace. The raw file holds, a line each: calls as the trace has them, `{"start": client, "at": ms}`,
// `{"end": client}`, `{"error": client, ...}`, and whatever a scenario printed by itself.
import type { TraceCall } from "../trace/record.ts";
import { Account, type LoadAccount } from "./account.ts";
import { readLines } from "./lines.ts";
import { TraceFile, type TraceHead, unwritable } from "./trace-file.ts";

export interface TraceFromK6Options {
  /** What k6's `console.log` wrote. */
  readonly raw: string;
  /** Where the trace goes. */
  readonly trace: string;
  /** Its `startedAt` is that of k6's process, which takes some tenths of a second to let its clients go. */
  readonly head: TraceHead;
  /** The most calls that one client of a population has on the way. */
  readonly inFlightMost: ReadonlyMap<string, number>;
  /** Lines that k6 says it could not write (the disk was full): each may have been a call's. */
  readonly linesFailed: number;
  /** Requests that k6 itself counted; `null` where it did not get so far. */
  readonly requests: number | null;
}

/**
 * Makes the trace; memory does not grow with its length. The order is the order of writing, which is that of
 * `received` give or take the moment between an answer and its line (FORMAT.md allows 120 s).
 * @throws SpillwayError `FILE_UNWRITABLE`; what k6 wrote stays where it is then
 */
export async function traceFromK6(options: TraceFromK6Options): Promise<LoadAccount> {
  const { raw, trace, head } = options;
  const account = new Account(head.startedAt);
  try {
    const file = await TraceFile.create(trace, head);
    try {
      await copyCalls(raw, account, file);
      const lost = lostOf(account, options);
      await file.finish({ startedAt: account.startedAt, lost, complete: head.complete });
      return account.finish(lost);
    } catch (error) {
      await file.discard();
      throw error;
    }
  } catch (cause) {
    throw unwritable(trace, cause, `what k6 wrote is in ${raw}`);
  }
}

async function copyCalls(raw: string, account: Account, file: TraceFile): Promise<void> {
  const rest = await readLines(raw, async (lines) => {
    for (const line of lines) if (take(account, line)) file.add(line);
    await file.flush();
    if (file.failure !== null) throw file.failure;
  });
  // A last line without its end was cut off by a kill or a full disk: the trace ends at the line before.
  if (rest !== "") account.torn += 1;
}

/** @returns whether the line is a call's */
function take(account: Account, line: string): boolean {
  const value = parseOurs(line);
  if (value === null) {
    if (ourStart.test(line)) account.torn += 1;
    else account.print(line);
    return false;
  }
  const { status, start, at, end, error } = value;
  if (typeof status === "number") {
    account.call(value as unknown as TraceCall);
    return true;
  }
  if (typeof start === "string") account.begin(start, Number.isSafeInteger(at) ? (at as number) : undefined);
  else if (typeof end === "string") account.end(end);
  else if (typeof error === "string") account.fail(error, String(value["message"]));
  return false;
}

/**
 * A client that did not end had at most so many calls on the way; and each line that could not be written was a
 * call's, or the start of a client that may have been cut off too. Where k6 counted more requests than that accounts
 * for, its count is believed.
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
