// A deployment as the simulator sees it, in two forms. `NumericDeployment` has flights as calls and numbers as answers,
// for the right deployment, asked millions of times a second. `SimulatedDeployment` answers with objects, for faults
// and strangers' limiters (`object-deployment.ts` turns it into the first form).
import type { Eventually } from "../src/engine/asking.ts";
import type { Pending } from "../src/engine/store.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import type { TraceCall } from "../src/trace/record.ts";
import type { FlightTable } from "./flight-table.ts";

/** Caller as the deployment knows it. */
export interface SimulatedCaller {
  readonly organization: string;
  readonly user: string;
}

/** Parts of an answer; the client adds its name and the times. */
export type AnswerParts = Omit<TraceCall, "sent" | "received" | "client" | "call">;

/** Outcome of an arriving call: its answer, a running query, or a decision that takes time. */
export type ArrivalOutcome<Running extends object, Answer = AnswerParts> =
  | Answer
  | Running
  | Pending<Answer | Running>;

/**
 * Deployment whose answers are objects. All times are arguments.
 * @typeParam Running state of a running query; it has neither `status` nor `waitMs`
 * @typeParam Answer an answer as in traces, with its `status`
 */
export interface SimulatedDeployment<Running extends object, Answer = AnswerParts> {
  /** Decides a call at `nowMs`; an admitted query runs, and `complete` answers it. */
  arrive(
    caller: SimulatedCaller,
    call: CallTemplate,
    nowMs: number,
  ): Eventually<ArrivalOutcome<Running, Answer>>;
  /** Settles a query that has run until `nowMs`, and answers it. */
  complete(caller: SimulatedCaller, call: CallTemplate, running: Running, nowMs: number): Eventually<Answer>;
  /** Writes the numbers that the client is told into the flight. */
  show(answer: Answer, flight: number, flights: FlightTable, nowMs: number): void;
}

/** Fate of an arriving call: `ANSWERED`, `RUNS`, `AWAITED`, or (from 0 on) the ms until its decision goes on. */
export type Fate = number;
export const ANSWERED: Fate = -1;
export const RUNS: Fate = -2;
/** Fate not known yet; the flight is resumed at the same instant, once a promise outside virtual time is settled. */
export const AWAITED: Fate = -3;

/**
 * Deployment that writes answers as numbers into the table of flights, from `STATUS` and `RETRY_AFTER` on.
 * Callers are handles, calls are flights, and all times are arguments.
 */
export interface NumericDeployment {
  /** Returns the handle of a caller by name, from 0; the same name gets the same handle. */
  caller(organization: string, user: string): number;
  /** Reads a caller's state, so that it is in the cache when a call arrives; returns any number. */
  lookAt(caller: number): number;
  /** Decides a call at `nowMs`. */
  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate;
  /** Goes on with a decision that takes time, or that was awaited. */
  resume(flight: number, nowMs: number): Fate;
  /** Settles a query that has run until `nowMs`, and answers it: `ANSWERED`, or `AWAITED`. */
  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate;
}

export interface TracedDeployment<Answer = AnswerParts> extends NumericDeployment {
  /** Returns the whole answer to this caller's flight, as in traces; the reader may keep it. */
  answer(flight: number, caller: number, call: CallTemplate): Answer;
}
