// A deployment as the simulator sees it. There are two doors: `NumericDeployment`, where calls are flights and answers are
// numbers, for the right one, which is asked millions of times a second; and `SimulatedDeployment`, where answers are
// objects, for one with a fault or a stranger's (`object-deployment.ts` makes the first of the second).
import type { Pending } from "../src/engine/store.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import type { TraceCall } from "../src/trace/record.ts";
import type { FlightTable } from "./flight-table.ts";

/** A user that calls, as the deployment knows it. */
export interface SimulatedCaller {
  readonly organization: string;
  readonly user: string;
}

/** The parts of an answer; who asked, and when, is the client's to add. */
export type AnswerParts = Omit<TraceCall, "sent" | "received" | "client" | "call">;

/** Outcome of a call that arrives: its answer, a query that runs, or a decision that takes its time. */
export type ArrivalOutcome<Running extends object, Answer = AnswerParts> =
  | Answer
  | Running
  | Pending<Answer | Running>;

/** A value that may not be known at once; virtual time stands still until it is. */
type Eventually<T> = T | Promise<T>;

/**
 * A deployment whose answers are objects. Every time is an argument.
 * @typeParam Running what it knows of a query that runs; it has neither `status` nor `waitMs`
 * @typeParam Answer an answer as traces have it, with its `status`
 */
export interface SimulatedDeployment<Running extends object, Answer = AnswerParts> {
  /** Decides a call, now; a query that is admitted runs on and is answered by `complete`. */
  arrive(
    caller: SimulatedCaller,
    call: CallTemplate,
    nowMs: number,
  ): Eventually<ArrivalOutcome<Running, Answer>>;
  /** Settles a query that has run until now, and answers it. */
  complete(caller: SimulatedCaller, call: CallTemplate, running: Running, nowMs: number): Eventually<Answer>;
  /** Writes what the client is told into the flight. */
  show(answer: Answer, flight: number, flights: FlightTable, nowMs: number): void;
}

/** Fate of a call that arrives: it is answered, it runs, or (from 0 on) it is decided so many ms later. */
export type Fate = number;
export const ANSWERED: Fate = -1;
export const RUNS: Fate = -2;
/** It is not known yet: to be resumed at the same instant, once what it waits for outside of virtual time is there. */
export const AWAITED: Fate = -3;

/**
 * A deployment whose answers are numbers, written into the table of flights from `STATUS` and `RETRY_AFTER` on.
 * Callers are handles, calls are flights; every time is an argument.
 */
export interface NumericDeployment {
  /** The handle of the caller of this name, from 0; the same one for the same name. */
  caller(organization: string, user: string): number;
  /** Reads something of what it knows of a caller, so that it is near when a call arrives: any number. */
  lookAt(caller: number): number;
  /** Decides a call, now. */
  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate;
  /** Goes on with a decision that takes its time, or that was waited for. */
  resume(flight: number, nowMs: number): Fate;
  /** Settles a query that has run until now, and answers it: `ANSWERED`, or `AWAITED`. */
  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate;
}

/** A deployment that keeps its answers for a trace. */
export interface TracedDeployment<Answer = AnswerParts> extends NumericDeployment {
  /** All that the answer to this caller's flight shows, as traces have it: the reader's to keep. */
  answer(flight: number, caller: number, call: CallTemplate): Answer;
}
