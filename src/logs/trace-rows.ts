// Spillway's own traces as rows of a log: what was sent, by whom, at what cost. Traces of version 2 tell operation and
// caller; those of version 1 tell scope, organization and user. A mistake in a trace is an error, as everywhere.
import { isShared } from "../policy/attributes.ts";
import { type CostKind, costKindOf } from "../policy/declared.ts";
import type { Policy } from "../policy/policy.ts";
import { SpillwayError } from "../rules/errors.ts";
import { type CallBatch, has, kindNames, scopeNames } from "../trace/batch.ts";
import { type QuotaCall, statusOf } from "../trace/quota-record.ts";
import { openTrace } from "../trace/read.ts";
import type { TraceCall } from "../trace/record.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { LogCallers } from "./policy-callers.ts";
import { attributesFor } from "./policy-reader.ts";
import type { PolicyRouting } from "./policy-routing.ts";
import type { LogFile } from "./read-file.ts";
import type { LogTally } from "./rejections.ts";
import { costMost, type LogBatch, OTHER_CALL, STATUS_CALL } from "./rows.ts";

/** Limits that logs are read by, with all callers so far. Rules are the policy that they are. */
export interface ReadBy {
  readonly policy: Policy;
  readonly callers: Pick<LogCallers, "of">;
  readonly routing: PolicyRouting;
}

/** A call of either version. */
interface Said {
  readonly sent: number;
  readonly received: number;
  readonly operation: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly organization: string;
  readonly user: string;
  readonly cost: number | null;
  readonly actual: number | undefined;
  readonly status: number;
  readonly attempt: number | undefined;
  readonly wanted: number | undefined;
}

export class TraceRows {
  readonly rows: OrderedRows;
  readonly #by: ReadBy;
  readonly #file: LogFile;
  readonly #tally: LogTally;
  readonly #cost: number | null;
  readonly #operations: readonly { readonly attributes: readonly string[]; readonly cost: CostKind }[];

  /** @param cost cost of a call that should declare it and does not; `null`: such a call cannot be read */
  constructor(by: ReadBy, file: LogFile, cost: number | null, tally: LogTally, rows: OrderedRows) {
    const { policy } = by;
    this.rows = rows;
    this.#by = by;
    this.#file = file;
    this.#tally = tally;
    this.#cost = cost;
    this.#operations = Object.keys(policy.operations).map((name) => ({
      attributes: attributesFor(policy, name),
      cost: costKindOf(policy, name),
    }));
  }

  /** @throws SpillwayError `TRACE_INVALID` naming the file */
  async *read(): AsyncGenerator<LogBatch, void> {
    const { rows } = this;
    try {
      const trace = await openTrace(this.#file.open(), { sort: rows.sorts });
      if (trace.version === 1)
        for await (const batch of trace.batches)
          for (let row = 0; row < batch.size; row++) {
            this.#take(batch.line[row] as number, saidByScope(batch, row));
            if (rows.isFull) yield* rows.drain();
          }
      else
        for await (const { line, call } of trace.calls) {
          this.#take(line, saidByQuotas(call, this.#by.policy));
          if (rows.isFull) yield* rows.drain();
        }
    } catch (error) {
      throw named(error, this.#file.name);
    }
    yield* rows.rest();
  }

  #take(line: number, said: Said): void {
    const why = this.#add(said);
    if (why === null) this.#tally.read += 1;
    else this.#tally.reject(this.#file.name, line, why, () => "a call of a trace");
  }

  #add(said: Said): string | null {
    const { sent, received, organization, user, status, attempt, wanted } = said;
    const at = Math.floor(sent);
    if (at < 0) return "it was sent at no time of our days";
    if (at < this.rows.floor) return "time goes back too far: later rows were done with already";
    const { callers } = this.#by;
    const kind = this.#kindOf(said.operation);
    const operation = this.#operations[kind];
    if (operation === undefined) {
      this.rows.add(at, received - sent, callers.of(organization, user, []), kind, 0, -1, status);
      return null;
    }
    const names: [string, string][] = [];
    for (const attribute of operation.attributes) {
      const value = said.attributes[attribute] ?? this.#told(attribute, said);
      if (value === "") return `its caller has no ${attribute}, which a quota is kept by`;
      names.push([attribute, value]);
    }
    const caller = callers.of(organization, user, names);
    const cost = operation.cost === "declared" ? (said.cost ?? this.#cost) : 1;
    if (cost === null) return "a call of declared cost whose cost is not known";
    const actual = operation.cost === "fixed" ? -1 : (said.actual ?? -1);
    if (Math.max(cost, actual) > costMost) return `its cost is above ${costMost}`;
    this.rows.add(at, received - sent, caller, kind, cost, actual, status, attempt, wanted);
    return null;
  }

  /** Returns the value of an attribute by options, or by the trace's own owners. */
  #told(attribute: string, { organization, user }: Said): string {
    const source = this.#file.callers?.sources.get(attribute);
    if (source?.kind === "value") return source.text;
    if (isShared(attribute)) return organization;
    return this.#by.policy.auth.attributes.includes(attribute) ? user : "";
  }

  #kindOf(name: string): number {
    const { routing } = this.#by;
    const kind = routing.named(name);
    if (kind === STATUS_CALL || kind === OTHER_CALL) return kind;
    // A trace has no paths: the only operation of a policy is that of all calls.
    if (kind === null && this.#operations.length !== 1) return routing.unrouted(`the operation ${name}`).kind;
    routing.countNamed();
    return kind ?? 0;
  }
}

function saidByQuotas(call: QuotaCall, { auth }: Policy): Said {
  const { caller, client, operation, outcome } = call;
  // The attributes that a token means name the caller; the others name what it calls.
  const own = auth.attributes.flatMap((name) => caller[name] ?? []);
  const values = own.length === 0 ? Object.values(caller) : own;
  return {
    sent: call.sent,
    received: call.received,
    operation: outcome === "exempt" ? "other" : operation,
    attributes: caller,
    organization: values.slice(0, -1).join("/"),
    user: values.at(-1) ?? client,
    cost: call.cost,
    actual: call.actual,
    status: statusOf(call),
    attempt: call.attempt,
    wanted: call.wanted,
  };
}

function saidByScope(batch: CallBatch, row: number): Said {
  if (batch.is(row, has.odd)) return saidOf(batch.callAt(row));
  const { names } = batch;
  return saidOf({
    sent: batch.sent[row] as number,
    received: batch.received[row] as number,
    client: names.text(batch.client[row] as number),
    org: names.text(batch.org[row] as number),
    user: batch.is(row, has.user) ? names.text(batch.user[row] as number) : null,
    scope: scopeNames[batch.scope[row] as number] ?? "rest",
    kind: kindNames[batch.kind[row] as number] ?? "call",
    cost: batch.is(row, has.cost) ? (batch.cost[row] as number) : null,
    actual: batch.is(row, has.actual) ? batch.actual[row] : undefined,
    status: batch.status[row] as number,
    attempt: batch.is(row, has.attempt) ? batch.attempt[row] : undefined,
    wanted: batch.is(row, has.wanted) ? batch.wanted[row] : undefined,
  });
}

type SaidCall = Pick<
  TraceCall,
  "sent" | "received" | "client" | "org" | "user" | "scope" | "kind" | "cost" | "status"
> & { readonly [M in "actual" | "attempt" | "wanted"]?: number | undefined };

const saidOf = (call: SaidCall): Said => ({
  sent: call.sent,
  received: call.received,
  operation: call.kind === "call" ? call.scope : call.kind,
  attributes: none,
  organization: call.org,
  user: call.user ?? call.client,
  cost: call.cost,
  actual: call.actual,
  status: call.status,
  attempt: call.attempt,
  wanted: call.wanted,
});

const none = {};

/** Returns the same error, with the file's name in front of the line's number. */
function named(error: unknown, file: string): unknown {
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
