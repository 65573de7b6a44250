// Spillway's traces as rows of a log under a policy. Those of version 2 tell operation and caller; those of version 1
// tell scope, organization and user.

import { isShared } from "../policy/attributes.ts";
import { type CostKind, costKindOf } from "../policy/declared.ts";
import type { Policy } from "../policy/policy.ts";
import type { QuotaCall } from "../trace/quota-record.ts";
import { openTrace } from "../trace/read.ts";
import type { TraceCall } from "../trace/record.ts";
import { REFUSED } from "../wire/outcome.ts";
import type { CallerMapping } from "./caller-sources.ts";
import type { OrderedRows } from "./ordered-rows.ts";
import type { LogCallers } from "./policy-callers.ts";
import { attributesFor } from "./policy-reader.ts";
import type { PolicyRouting } from "./policy-routing.ts";
import type { LogFile } from "./read-file.ts";
import type { LogTally } from "./rejections.ts";
import { type LogBatch, OTHER_CALL, STATUS_CALL } from "./rows.ts";
import { latestMs, named } from "./trace-rows.ts";

/** A call of either version. */
interface Said {
  readonly operation: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly organization: string;
  readonly user: string;
  readonly cost: number | null;
  readonly actual: number | undefined;
  readonly status: number;
}

export class QuotaTraceRows {
  readonly rows: OrderedRows;
  readonly #file: LogFile;
  readonly #policy: Policy;
  readonly #mapping: CallerMapping;
  readonly #callers: LogCallers;
  readonly #routing: PolicyRouting;
  readonly #tally: LogTally;
  readonly #cost: number | null;
  readonly #operations: readonly { readonly attributes: readonly string[]; readonly cost: CostKind }[];

  /** @param cost cost of a call that should declare it and does not; `null`: such a call cannot be read */
  constructor(
    file: LogFile,
    policy: Policy,
    mapping: CallerMapping,
    callers: LogCallers,
    routing: PolicyRouting,
    tally: LogTally,
    cost: number | null,
    rows: OrderedRows,
  ) {
    this.rows = rows;
    this.#file = file;
    this.#policy = policy;
    this.#mapping = mapping;
    this.#callers = callers;
    this.#routing = routing;
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
      const calls: AsyncIterable<{ readonly line: number; readonly call: TraceCall | QuotaCall }> =
        trace.calls;
      for await (const { line, call } of calls) {
        const said = "operation" in call ? saidByQuotas(call, this.#policy) : saidByScope(call);
        const why = this.#add(call, said);
        if (why === null) this.#tally.read += 1;
        else this.#tally.reject(this.#file.name, line, why, () => "a call of a trace");
        if (rows.isFull) yield* rows.drain();
      }
    } catch (error) {
      throw named(error, this.#file.name);
    }
    yield* rows.rest();
  }

  #add({ sent, received, wanted, attempt }: TraceCall | QuotaCall, said: Said): string | null {
    const at = Math.floor(sent);
    if (at < 0 || at > latestMs) return "it was sent at no time of our days";
    if (at < this.rows.floor) return "time goes back too far: later rows were done with already";
    const { organization, user, status } = said;
    const kind = this.#kindOf(said.operation);
    const operation = this.#operations[kind];
    if (operation === undefined) {
      this.rows.add(at, received - sent, this.#callers.of(organization, user, []), kind, 0, -1, status);
      return null;
    }
    const names: [string, string][] = [];
    for (const attribute of operation.attributes) {
      const value = said.attributes[attribute] ?? this.#told(attribute, said);
      if (value === "") return `its caller has no ${attribute}, which a quota is kept by`;
      names.push([attribute, value]);
    }
    const caller = this.#callers.of(organization, user, names);
    const cost = operation.cost === "declared" ? (said.cost ?? this.#cost) : 1;
    if (cost === null) return "a call of declared cost whose cost is not known";
    const actual = operation.cost === "fixed" ? -1 : (said.actual ?? -1);
    this.rows.add(at, received - sent, caller, kind, cost, actual, status, attempt, wanted);
    return null;
  }

  /** Returns the value of an attribute by options, or by the trace's own owners. */
  #told(attribute: string, { organization, user }: Said): string {
    const source = this.#mapping.sources.get(attribute);
    if (source?.kind === "value") return source.text;
    return isShared(attribute) ? organization : this.#policy.auth.attributes.includes(attribute) ? user : "";
  }

  #kindOf(name: string): number {
    const kind = this.#routing.named(name);
    if (kind === STATUS_CALL || kind === OTHER_CALL) return kind;
    // A trace has no paths: the only operation of a policy is that of all calls.
    if (kind === null && this.#operations.length !== 1)
      return this.#routing.unrouted(`the operation ${name}`).kind;
    this.#routing.countNamed();
    return kind ?? 0;
  }
}

function saidByQuotas(
  { operation, caller, client, cost, actual, status, outcome }: QuotaCall,
  { auth }: Policy,
): Said {
  // The attributes that a token means name the caller; the others name what it calls.
  const own = auth.attributes.flatMap((name) => caller[name] ?? []);
  const values = own.length === 0 ? Object.values(caller) : own;
  return {
    operation: outcome === "exempt" ? "other" : operation,
    attributes: caller,
    organization: values.slice(0, -1).join("/"),
    user: values.at(-1) ?? client,
    cost,
    actual,
    status: outcome === "refused" ? REFUSED : outcome === "unknown" ? 0 : status === REFUSED ? 200 : status,
  };
}

function saidByScope({ org, user, client, kind, scope, cost, actual, status }: TraceCall): Said {
  return {
    operation: kind === "call" ? scope : kind,
    attributes: {},
    organization: org,
    user: user ?? client,
    cost,
    actual,
    status,
  };
}
