// The account of a run, call by call, kept while its trace is written. Both drivers keep one.
import type { QuotaCall } from "../trace/quota-record.ts";
import type { TraceCall } from "../trace/record.ts";
import { isRefusal } from "../wire/outcome.ts";

/** A client whose behaviour threw. */
export interface ClientError {
  readonly client: string;
  readonly message: string;
}

export interface LoadAccount {
  /** Start of the first client, ms since the epoch; the header's time if no client started. */
  readonly startedAt: number;
  /** Number of lines of the trace, without its header. */
  readonly calls: number;
  /** Number of calls without an answer (status 0). */
  readonly unanswered: number;
  readonly refused: number;
  /** Number of calls answered by a status of 400 or more other than 429, by status. */
  readonly failures: ReadonlyMap<number, number>;
  readonly clients: number;
  /** Number of clients that began and did not end. */
  readonly cutOff: number;
  /** Upper bound of the calls that were sent and have no line. */
  readonly lost: number;
  /** Number of lines that are no JSON of ours: half lines that a full disk or a kill left. */
  readonly torn: number;
  /** Time of the last answer, and the number of calls sent since then, all without one; `null` if there are none. */
  readonly silence: { readonly sinceMs: number; readonly calls: number } | null;
  /** First few errors. A behaviour that throws does so in every client. */
  readonly errors: readonly ClientError[];
  /** First few lines that the scenario printed by itself. */
  readonly printed: readonly string[];
}

const keptMost = 20;

/** Account that is being drawn up. */
export class Account {
  calls = 0;
  refused = 0;
  torn = 0;
  readonly running = new Set<string>();
  #begunAt = Number.POSITIVE_INFINITY;
  readonly #startedAt: number;
  #unanswered = 0;
  #clients = 0;
  #silentCalls = 0;
  #lastAnswerMs: number;
  readonly #failures = new Map<number, number>();
  readonly #errors: ClientError[] = [];
  readonly #printed: string[] = [];

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
    this.#lastAnswerMs = startedAt;
  }

  get startedAt(): number {
    return Number.isFinite(this.#begunAt) ? this.#begunAt : this.#startedAt;
  }

  /** @param atMs start of the client's population, if it is known */
  begin(client: string, atMs = Number.POSITIVE_INFINITY): void {
    this.#clients += 1;
    this.#begunAt = Math.min(this.#begunAt, atMs);
    this.running.add(client);
  }

  end(client: string): void {
    this.running.delete(client);
  }

  fail(client: string, message: string): void {
    if (this.#errors.length < keptMost) this.#errors.push({ client, message });
  }

  print(line: string): void {
    if (this.#printed.length < keptMost) this.#printed.push(line.slice(0, 500));
  }

  call(call: Pick<TraceCall, "status" | "sent" | "received"> & Partial<Pick<QuotaCall, "outcome">>): void {
    const { status, sent, received, outcome } = call;
    this.calls += 1;
    if (status === 0) {
      this.#unanswered += 1;
      if (sent >= this.#lastAnswerMs) this.#silentCalls += 1;
      return;
    }
    this.#silentCalls = 0;
    this.#lastAnswerMs = received;
    if (outcome === undefined ? isRefusal(status) : outcome === "refused") this.refused += 1;
    else if (status >= 400) this.#failures.set(status, (this.#failures.get(status) ?? 0) + 1);
  }

  /** @param lost upper bound of the calls that were sent and have no line */
  finish(lost: number): LoadAccount {
    const silence =
      this.#silentCalls === 0 ? null : { sinceMs: this.#lastAnswerMs, calls: this.#silentCalls };
    return {
      startedAt: this.startedAt,
      calls: this.calls,
      unanswered: this.#unanswered,
      refused: this.refused,
      failures: this.#failures,
      clients: this.#clients,
      cutOff: this.running.size,
      lost,
      torn: this.torn,
      silence,
      errors: this.#errors,
      printed: this.#printed,
    };
  }
}
