// A deployment in virtual time that limits by any policy (POLICY.md).
import { emptyCountReading } from "../src/engine/count-reading.ts";
import { NO_ROW, NONE_REFUSED, type PolicyCore } from "../src/engine/policy-core.ts";
import { PolicyLimiter } from "../src/engine/policy-limiter.ts";
import { sentBy } from "../src/faults/sent.ts";
import type { Policy } from "../src/policy/policy.ts";
import type { AnswerKind } from "../src/policy/wire-data.ts";
import { ABSENT, type CallTemplate } from "../src/scenario/client.ts";
import { type OperationCall, policyCall } from "../src/scenario/policy-calls.ts";
import { REFUSED } from "../src/wire/outcome.ts";
import { ANSWERED, type Fate, RUNS, type TracedDeployment } from "./deployment.ts";
import * as Flight from "./flight-table.ts";
import { NamedCallers } from "./named-callers.ts";
import { type KeepAnswer, keepsAnswers, type QuotaAnswer } from "./quota-answer.ts";
import { NO_QUOTA, ToldQuotas } from "./told-quotas.ts";

/** Facts of a caller's call, looked up once. */
interface Known {
  /** Place of the operation; negative if no quota counts the call. */
  readonly operation: number;
  readonly isStatus: boolean;
  readonly handle: number;
  /** Places of the quotas that the call uses, or that a status shows. */
  readonly quotas: readonly number[];
  readonly isSettled: boolean;
  readonly asked: OperationCall;
}

const FREE = -1;
/** Handle of the caller of a free call. */
const NOBODY = -1;

/** Deployment by a policy, which keeps its answers only for a trace. */
export class PolicyDeployment implements TracedDeployment<QuotaAnswer> {
  readonly #policy: Policy;
  readonly #limiter: PolicyLimiter;
  readonly #core: PolicyCore;
  readonly #flights: Flight.FlightTable;
  readonly #names: readonly string[];
  readonly #callers = new NamedCallers();
  /** Facts by call and caller. */
  readonly #known = new Map<CallTemplate, (Known | null)[]>();
  /** Window ends of running flights, by flight. */
  readonly #windows: number[][] = [];
  readonly #reading = emptyCountReading();
  readonly #told: ToldQuotas;
  readonly #kept: KeepAnswer;
  /** Answers by flight; `null` without a trace. */
  readonly #answers: QuotaAnswer[] | null;

  /**
   * @param traced true to keep answers for a trace
   * @throws SpillwayError `POLICY_UNSUPPORTED` if a quota's algorithm can be described but not simulated
   */
  constructor(policy: Policy, flights: Flight.FlightTable, traced: boolean) {
    this.#policy = policy;
    this.#limiter = new PolicyLimiter(policy);
    this.#core = this.#limiter.core;
    this.#flights = flights;
    this.#names = Object.keys(policy.quotas);
    this.#kept = keepsAnswers(policy, sentBy(policy));
    this.#answers = traced ? [] : null;
    this.#told = new ToldQuotas(policy, this.#core);
  }

  caller(organization: string, user: string): number {
    return this.#callers.handleOf(organization, user);
  }

  lookAt(caller: number): number {
    return caller;
  }

  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    const known = this.#look(caller, call);
    if (known.operation === FREE) {
      this.#reply(flight, known, NONE_REFUSED, call, nowMs);
      return ANSWERED;
    }
    const refused = this.#core.decide(known.handle, known.operation, call.cost, nowMs);
    if (refused === NONE_REFUSED && known.isSettled) {
      this.#windows[flight] = known.quotas.map((quota) => this.#core.windowOf(known.handle, quota));
      return RUNS;
    }
    this.#reply(flight, known, refused, call, nowMs);
    return refused === NONE_REFUSED && call.scope === "graphql" ? RUNS : ANSWERED;
  }

  resume(): Fate {
    throw new RangeError("a policy decides at once");
  }

  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    const known = this.#look(caller, call);
    if (!known.isSettled) return ANSWERED;
    const windows = this.#windows[flight] as number[];
    this.#core.settle(known.handle, known.operation, call.cost, call.actual, windows, nowMs);
    this.#reply(flight, known, NONE_REFUSED, call, nowMs);
    return ANSWERED;
  }

  answer(flight: number): QuotaAnswer {
    return this.#answers?.[flight] as QuotaAnswer;
  }

  #look(caller: number, call: CallTemplate): Known {
    let calls = this.#known.get(call);
    if (calls === undefined) {
      calls = [];
      this.#known.set(call, calls);
    }
    // The array gets no holes, which would turn it into a dictionary.
    while (calls.length <= caller) calls.push(null);
    const known = calls[caller];
    if (known != null) return known;
    const found = this.#find(caller, call);
    calls[caller] = found;
    return found;
  }

  #find(caller: number, call: CallTemplate): Known {
    const asked = policyCall(this.#policy, call, this.#callers.of(caller));
    const { operation, caller: attributes } = asked;
    const isStatus = operation === "status";
    const place = this.#core.operations.findIndex(({ name }) => name === operation);
    const [first] = this.#core.operations;
    if (place < 0 && (!isStatus || first === undefined))
      return { operation: FREE, isStatus, handle: NOBODY, quotas: [], isSettled: false, asked };
    const handle = this.#limiter.handleOf(attributes, isStatus ? (first?.name ?? "") : operation);
    if (isStatus) {
      const quotas = [...this.#names.keys()].filter((quota) => this.#core.rowOf(handle, quota) !== NO_ROW);
      return { operation: FREE, isStatus, handle, quotas, isSettled: false, asked };
    }
    const { quotas, isSettled } = this.#core.operations[place] as PolicyCore["operations"][number];
    return { operation: place, isStatus, handle, quotas, isSettled, asked };
  }

  /** Writes the answer into the flight. A refusal has status 429 there, even if the API sends a 403. */
  #reply(flight: number, known: Known, refused: number, call: CallTemplate, nowMs: number): void {
    const { cost } = call;
    const isRefused = refused !== NONE_REFUSED;
    const { ints, doubles } = this.#flights;
    ints[flight * Flight.INTS + Flight.STATUS] = isRefused ? REFUSED : 200;
    ints[flight * Flight.INTS + Flight.SHOWN] =
      (known.operation === FREE && !known.isStatus ? Flight.UNCOUNTED : 0) | Flight.refusedByQuota(refused);
    const at = flight * Flight.DOUBLES;
    const { handle, operation, quotas } = known;
    const told = this.#told;
    doubles[at + Flight.RETRY_AFTER] = isRefused
      ? told.retryAfter(handle, operation, refused, cost, nowMs)
      : ABSENT;
    const kind: AnswerKind = known.isStatus ? "status" : isRefused ? "refused" : "admitted";
    const first = told.tightest(handle, quotas, refused, NO_QUOTA, kind, nowMs);
    const other = told.tightest(handle, quotas, refused, first, kind, nowMs);
    const next = other === NO_QUOTA ? first : other;
    told.write(doubles, at + Flight.LIMIT, handle, first, kind, nowMs);
    told.write(doubles, at + Flight.USER_LIMIT, handle, next, kind, nowMs);
    doubles[at + Flight.COST] = operation === FREE ? 0 : told.costOf(operation, first, cost);
    doubles[at + Flight.USER_COST] = operation === FREE ? 0 : told.costOf(operation, next, cost);
    if (this.#answers !== null) this.#answers[flight] = this.#traced(known, kind, refused, call, nowMs);
  }

  /** Returns the trace's form of an answer, which is written in the API's format and read back. */
  #traced(known: Known, kind: AnswerKind, refused: number, call: CallTemplate, nowMs: number): QuotaAnswer {
    const { handle, quotas, asked, isSettled } = known;
    const reading = this.#reading;
    const readings = quotas.map((quota) => {
      this.#core.read(quota, this.#core.rowOf(handle, quota), nowMs, reading);
      return { quota: this.#names[quota] as string, ...reading };
    });
    const refusedBy = this.#names[refused] ?? null;
    const retryAtMs =
      refusedBy === null ? null : this.#core.retryAt(handle, known.operation, refused, call.cost);
    const told = { kind, readings, refusedBy, retryAtMs, cost: call.cost };
    return {
      ...this.#kept(asked, told, nowMs),
      actual: isSettled && kind === "admitted" ? Math.min(call.actual, call.cost) : undefined,
    };
  }
}
