// k6's raw file → a trace. The raw file holds, a line each: calls as the trace has them, `{"start": client, "at": ms}`,
// `{"end": client}`, `{"error": client, ...}`, and whatever a scenario printed by itself. The trace is written
// beside its place and renamed, so that there is a whole one or none.
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { SpillwayError } from "../rules/errors.ts";
import type { TraceCall, TraceHeader } from "../trace/record.ts";
import { encodeHeader } from "../trace/write.ts";
import { readLines } from "./lines.ts";

export interface TraceFromK6Options {
  /** What k6's `console.log` wrote. */
  readonly raw: string;
  /** Where the trace goes. */
  readonly trace: string;
  /** The header, but for what only the run shows: its `startedAt` is that of k6's process. */
  readonly header: Omit<TraceHeader, "lost">;
  /** The most calls that one client of a population has on the way. */
  readonly inFlightMost: ReadonlyMap<string, number>;
  /** Lines that k6 says it could not write (the disk was full): each may have been a call's. */
  readonly linesFailed: number;
  /** Requests that k6 itself counted; `null` where it did not get so far. */
  readonly requests: number | null;
}

/** A client whose behaviour threw. */
export interface ClientError {
  readonly client: string;
  readonly message: string;
}

/** What the raw file accounts for. */
export interface RawAccount {
  /** When k6 began with the first population, ms since the epoch: the header's where no client began. */
  readonly startedAt: number;
  /** Lines of the trace, its header left out. */
  readonly calls: number;
  /** Calls without an answer (status 0). */
  readonly unanswered: number;
  readonly refused: number;
  /** Calls answered by a status of 400 or more other than 429, by status. */
  readonly failures: ReadonlyMap<number, number>;
  readonly clients: number;
  /** Clients that began and did not end. */
  readonly cutOff: number;
  /** Upper bound of calls that were sent and have no line. */
  readonly lost: number;
  /** Lines that are no JSON of ours: half ones that a full disk or a kill left. */
  readonly torn: number;
  /** When the last answer came, and the calls sent since then, all without one; `null` where there are none. */
  readonly silence: { readonly sinceMs: number; readonly calls: number } | null;
  /** The first few; a behaviour that throws does so in every client. */
  readonly errors: readonly ClientError[];
  /** The first few lines that the scenario printed by itself. */
  readonly printed: readonly string[];
}

const keptMost = 20;
const writeChars = 1 << 16;

/** The account while it is being drawn up. */
class Account {
  /** k6 takes some tenths of a second from its start to that of its clients, who count from theirs. */
  begunAt = Number.POSITIVE_INFINITY;
  readonly #startedAt: number;
  calls = 0;
  unanswered = 0;
  refused = 0;
  clients = 0;
  torn = 0;
  silentCalls = 0;
  lastAnswerMs: number;
  readonly failures = new Map<number, number>();
  readonly running = new Set<string>();
  readonly errors: ClientError[] = [];
  readonly printed: string[] = [];

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
    this.lastAnswerMs = startedAt;
  }

  get startedAt(): number {
    return Number.isFinite(this.begunAt) ? this.begunAt : this.#startedAt;
  }

  /** @returns whether the line is a call's */
  add(line: string): boolean {
    const value = parseOurs(line);
    if (value === null) return this.#addForeign(line);
    if (typeof value["status"] === "number") return this.#addCall(value as unknown as TraceCall);
    if (typeof value["start"] === "string") {
      this.clients += 1;
      if (Number.isSafeInteger(value["at"])) this.begunAt = Math.min(this.begunAt, value["at"] as number);
      this.running.add(value["start"]);
    } else if (typeof value["end"] === "string") this.running.delete(value["end"]);
    else if (typeof value["error"] === "string" && this.errors.length < keptMost)
      this.errors.push({ client: value["error"], message: String(value["message"]) });
    return false;
  }

  /**
   * `lost`: a client that did not end had at most so many calls on the way; and each line that could not be
   * written was a call's, or the start of a client that may have been cut off too. Where k6 counted more
   * requests than that accounts for, its count is believed.
   */
  finish({ inFlightMost, linesFailed, requests }: TraceFromK6Options): RawAccount {
    const most = Math.max(1, ...inFlightMost.values());
    let lost = linesFailed * most;
    for (const client of this.running)
      lost += inFlightMost.get(client.slice(0, client.lastIndexOf("/"))) ?? most;
    lost = Math.max(lost, (requests ?? 0) - this.calls);
    const { startedAt, calls, unanswered, refused, failures, clients, torn, errors, printed } = this;
    const cutOff = this.running.size;
    const silence = this.silentCalls === 0 ? null : { sinceMs: this.lastAnswerMs, calls: this.silentCalls };
    return {
      startedAt,
      calls,
      unanswered,
      refused,
      failures,
      clients,
      cutOff,
      lost,
      torn,
      silence,
      errors,
      printed,
    };
  }

  #addCall({ status, sent, received }: TraceCall): true {
    this.calls += 1;
    if (status === 0) {
      this.unanswered += 1;
      if (sent >= this.lastAnswerMs) this.silentCalls += 1;
      return true;
    }
    this.silentCalls = 0;
    this.lastAnswerMs = received;
    if (status === 429) this.refused += 1;
    else if (status >= 400) this.failures.set(status, (this.failures.get(status) ?? 0) + 1);
    return true;
  }

  #addForeign(line: string): false {
    if (ourStart.test(line)) this.torn += 1;
    else if (this.printed.length < keptMost) this.printed.push(line.slice(0, 500));
    return false;
  }
}

const ourStart = /^\{"(?:sent|start|end|error)":/;

function parseOurs(line: string): Record<string, unknown> | null {
  if (!ourStart.test(line)) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

/**
 * The header's line while `lost` and the clients' start are not known yet, and once they are: both of one length,
 * since the end of a line of JSON may be blank. So the calls are read, judged and written once, whatever their number.
 */
function headerLine(header: Omit<TraceHeader, "lost">, startedAt: number, lost: number): string {
  const most = Number.MAX_SAFE_INTEGER;
  const longest = encodeHeader({ ...header, startedAt: most, lost: most }).length;
  return `${encodeHeader({ ...header, startedAt, lost }).padEnd(longest)}\n`;
}

/**
 * Makes the trace; memory does not grow with its length. The order is the order of writing, which is that of
 * `received` give or take the moment between an answer and its line (FORMAT.md allows 120 s).
 * @throws SpillwayError `FILE_UNWRITABLE`; what k6 wrote stays where it is then
 */
export async function traceFromK6(options: TraceFromK6Options): Promise<RawAccount> {
  const account = new Account(options.header.startedAt);
  const partial = `${options.trace}.part`;
  try {
    const file = await open(partial, "w");
    try {
      await writeTrace(file, account, options);
    } finally {
      await file.close();
    }
    await rename(partial, options.trace);
  } catch (cause) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw new SpillwayError("FILE_UNWRITABLE", "the trace cannot be written", {
      problems: [
        { path: options.trace, got: (cause as Error).message, allowed: "a place that can be written" },
      ],
      hint: `what k6 wrote is in ${options.raw}`,
      cause,
    });
  }
  return account.finish(options);
}

async function writeTrace(file: FileHandle, account: Account, options: TraceFromK6Options): Promise<void> {
  await file.writeFile(headerLine(options.header, options.header.startedAt, 0));
  let pending = "";
  const rest = await readLines(options.raw, async (lines) => {
    for (const line of lines) if (account.add(line)) pending += `${line}\n`;
    if (pending.length < writeChars) return;
    await file.writeFile(pending);
    pending = "";
  });
  // A last line without its end was cut off by a kill or a full disk: the trace ends at the line before.
  if (rest !== "") account.torn += 1;
  await file.writeFile(pending);
  await file.write(headerLine(options.header, account.startedAt, account.finish(options).lost), 0);
}
