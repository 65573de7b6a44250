// Spillway's own traces as logs: what was sent, by whom, at what cost. A mistake in one is an error, as everywhere.
import { SpillwayError } from "../rules/errors.ts";
import { type CallBatch, has } from "../trace/batch.ts";
import { readTrace } from "../trace/read.ts";
import type { TraceCall } from "../trace/record.ts";
import type { Callers } from "./callers.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { LogFile } from "./read-file.ts";
import type { LogTally } from "./rejections.ts";
import { GRAPHQL_CALL, type LogBatch, OTHER_CALL, REST_CALL, STATUS_CALL } from "./rows.ts";

const kinds = { status: STATUS_CALL, other: OTHER_CALL } as const;

/** Latest time that a `Date` can have, ms since the epoch. */
export const latestMs = 8.64e15;

export class TraceRows {
  readonly rows: OrderedRows;
  readonly #file: LogFile;
  readonly #graphqlCost: number | null;
  readonly #callers: Callers;
  readonly #tally: LogTally;
  /** Users and organizations of the trace's names, as `Callers` numbers them. */
  readonly #users = new Map<number, number>();
  readonly #organizations = new Map<number, number>();

  constructor(
    file: LogFile,
    graphqlCost: number | null,
    callers: Callers,
    tally: LogTally,
    rows: OrderedRows,
  ) {
    this.rows = rows;
    this.#file = file;
    this.#graphqlCost = graphqlCost;
    this.#callers = callers;
    this.#tally = tally;
  }

  /** @throws SpillwayError `TRACE_INVALID` naming the file */
  async *read(): AsyncGenerator<LogBatch, void> {
    const { rows } = this;
    try {
      const { batches } = await readTrace(this.#file.open(), { sort: rows.sorts });
      for await (const batch of batches)
        for (let row = 0; row < batch.size; row++) {
          this.#add(batch, row);
          if (rows.isFull) yield* rows.drain();
        }
    } catch (error) {
      throw named(error, this.#file.name);
    }
    yield* rows.rest();
  }

  #add(batch: CallBatch, row: number): void {
    const why = batch.is(row, has.odd) ? this.#addCall(batch.callAt(row)) : this.#addPlain(batch, row);
    if (why === null) this.#tally.read += 1;
    else this.#tally.reject(this.#file.name, batch.line[row] ?? 0, why, () => "a call of a trace");
  }

  #addPlain(batch: CallBatch, row: number): string | null {
    const { names } = batch;
    const sent = batch.sent[row] ?? 0;
    const owner = batch.is(row, has.user) ? batch.user[row] : batch.client[row];
    const user = numberOf(this.#users, owner ?? 0, (name) => this.#callers.user(names.text(name)));
    const organization = numberOf(this.#organizations, batch.org[row] ?? 0, (name) =>
      this.#callers.organization(names.text(name)),
    );
    const kind =
      batch.kind[row] === 0 ? (batch.scope[row] ?? 0) : batch.kind[row] === 1 ? STATUS_CALL : OTHER_CALL;
    return this.#put(
      sent,
      (batch.received[row] ?? sent) - sent,
      this.#callers.of(user, organization),
      kind,
      batch.is(row, has.cost) ? (batch.cost[row] ?? 0) : null,
      batch.is(row, has.actual) ? (batch.actual[row] ?? -1) : -1,
      batch.status[row] ?? 0,
      batch.is(row, has.attempt) ? batch.attempt[row] : undefined,
      batch.is(row, has.wanted) ? batch.wanted[row] : undefined,
    );
  }

  #addCall(call: TraceCall): string | null {
    const user = this.#callers.user(call.user ?? call.client);
    const organization = this.#callers.organization(call.org);
    const plainKind = call.scope === "rest" ? REST_CALL : GRAPHQL_CALL;
    return this.#put(
      call.sent,
      call.received - call.sent,
      this.#callers.of(user, organization),
      call.kind === "call" ? plainKind : kinds[call.kind],
      call.cost,
      call.actual ?? -1,
      call.status,
      call.attempt,
      call.wanted,
    );
  }

  #put(
    sent: number,
    durationMs: number,
    caller: number,
    kind: number,
    cost: number | null,
    actual: number,
    status: number,
    attempt: number | undefined,
    wanted: number | undefined,
  ): string | null {
    const at = Math.floor(sent);
    if (at < 0 || at > latestMs) return "it was sent at no time of our days";
    if (at < this.rows.floor) return "time goes back too far: later rows were done with already";
    const points = cost ?? this.#graphqlCost;
    if (kind === GRAPHQL_CALL && points === null) return "a GraphQL call whose cost is not known";
    const charged = kind === REST_CALL ? 1 : kind === GRAPHQL_CALL ? (points ?? 0) : 0;
    this.rows.add(
      at,
      durationMs,
      caller,
      kind,
      charged,
      kind === GRAPHQL_CALL ? actual : -1,
      status,
      attempt,
      wanted,
    );
    return null;
  }
}

function numberOf(known: Map<number, number>, name: number, find: (name: number) => number): number {
  let number = known.get(name);
  if (number === undefined) {
    number = find(name);
    known.set(name, number);
  }
  return number;
}

/** Returns the same error, with the file's name in front of the line's number. */
export function named(error: unknown, file: string): unknown {
  if (!(error instanceof SpillwayError) || error.code !== "TRACE_INVALID") return error;
  const [summary = ""] = error.message.split("\n");
  const problems = error.problems.map(({ path, got, allowed }) => ({
    path: `${file}, ${path}`,
    got,
    allowed,
  }));
  const { hint } = error;
  return new SpillwayError("TRACE_INVALID", summary, hint === undefined ? { problems } : { problems, hint });
}
