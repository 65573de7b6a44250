// The account of a run, call by call, while its trace is written. Both drivers keep one.
import type { QuotaCall } from "../trace/quota-record.ts";
import type { TraceCall } from "../trace/record.ts";
import { isRefusal } from "../wire/outcome.ts";

/** A client whose behaviour threw. */
export interface ClientError {
  readonly client: string;
  readonly message: string;
}

/** Account of a run. */
export interface LoadAccount {
  /** When the first client was let go, ms since the epoch; the header's where none was. */
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

/** The account while it is being drawn up. */
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

  /** @param atMs when its population began, where that is known */
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

  /** @param lost upper bound of calls that were sent and have no line */
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
