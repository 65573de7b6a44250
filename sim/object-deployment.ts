// A deployment whose answers are objects, behind the door of numbers: what it answers is kept for the trace, and its
// numbers are copied into the flight.
import type { Pending } from "../src/engine/store.ts";
import { quotaNames } from "../src/policy/names.ts";
import { ABSENT, type CallTemplate } from "../src/scenario/client.ts";
import { readStatus } from "../src/wire/bodies.ts";
import { type HeaderValue, hasHeaders } from "../src/wire/fields.ts";
import { isRefusal, refusedBy } from "../src/wire/outcome.ts";
import {
  ANSWERED,
  type AnswerParts,
  type ArrivalOutcome,
  AWAITED,
  type Fate,
  type NumericDeployment,
  RUNS,
  type SimulatedCaller,
  type SimulatedDeployment,
} from "./deployment.ts";
import * as Flight from "./flight-table.ts";

export class ObjectDeployment<Running extends object> implements NumericDeployment {
  readonly #deployment: SimulatedDeployment<Running>;
  readonly #flights: Flight.FlightTable;
  readonly #handles = new Map<SimulatedCaller, number>();
  readonly #callers: SimulatedCaller[] = [];
  /** State of each flight: a decision that takes its time, a query that runs, or the answer. */
  readonly #outcomes: ArrivalOutcome<Running>[] = [];
  /** Outcome that the last flight that was asked for waits for. */
  #awaited: Promise<ArrivalOutcome<Running>> | null = null;
  #arrived: ArrivalOutcome<Running> | null = null;
  /** The flight that was asked for last: whose call it was, where the deployment throws. */
  asked = 0;

  constructor(deployment: SimulatedDeployment<Running>, flights: Flight.FlightTable) {
    this.#deployment = deployment;
    this.#flights = flights;
  }

  caller(organization: string, user: string): number {
    const caller = this.#deployment.caller(organization, user);
    const known = this.#handles.get(caller);
    if (known !== undefined) return known;
    const handle = this.#callers.push(caller) - 1;
    this.#handles.set(caller, handle);
    return handle;
  }

  lookAt(caller: number): number {
    return caller;
  }

  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    this.asked = flight;
    return this.#take(flight, this.#deployment.arrive(this.#callers[caller] as SimulatedCaller, call, nowMs));
  }

  resume(flight: number, nowMs: number): Fate {
    this.asked = flight;
    const arrived = this.#arrived;
    this.#arrived = null;
    if (arrived !== null) return this.#take(flight, arrived);
    const pending = this.#outcomes[flight] as Pending<AnswerParts | Running>;
    return this.#take(flight, pending.resume(nowMs));
  }

  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    this.asked = flight;
    const running = this.#outcomes[flight] as Running;
    const answer = this.#deployment.complete(this.#callers[caller] as SimulatedCaller, call, running, nowMs);
    return this.#take(flight, answer);
  }

  answer(flight: number): AnswerParts {
    return { ...(this.#outcomes[flight] as AnswerParts) };
  }

  /**
   * Waits for what an `AWAITED` flight waits for; it may be resumed then.
   * @throws what the deployment rejects with
   */
  async settled(): Promise<void> {
    this.#arrived = await this.#awaited;
    this.#awaited = null;
  }

  #take(flight: number, outcome: ArrivalOutcome<Running> | Promise<ArrivalOutcome<Running>>): Fate {
    if (outcome instanceof Promise) {
      this.#awaited = outcome;
      return AWAITED;
    }
    this.#outcomes[flight] = outcome;
    if (isPending(outcome)) return outcome.waitMs;
    if (!isAnswer(outcome)) return RUNS;
    const { ints, doubles } = this.#flights;
    const owner = isRefusal(outcome.status) ? refusedBy(outcome) : null;
    ints[flight * Flight.INTS + Flight.STATUS] = outcome.status;
    ints[flight * Flight.INTS + Flight.SHOWN] =
      (owner === null
        ? Flight.ADMITTED
        : owner === "user"
          ? Flight.REFUSED_BY_USER
          : Flight.REFUSED_BY_ORGANIZATION) | shownBy(outcome);
    const at = flight * Flight.DOUBLES;
    if (outcome.kind === "status") {
      doubles[at + Flight.REST_RESET] = readStatus(outcome.body, "rest").reset ?? Number.NaN;
      doubles[at + Flight.GRAPHQL_RESET] = readStatus(outcome.body, "graphql").reset ?? Number.NaN;
    }
    doubles[at + Flight.RETRY_AFTER] = shown(outcome.retryAfter ?? null);
    doubles[at + Flight.LIMIT] = shown(outcome.limit);
    doubles[at + Flight.REMAINING] = shown(outcome.remaining);
    doubles[at + Flight.RESET] = shown(outcome.reset);
    doubles[at + Flight.USER_LIMIT] = shown(outcome.userLimit);
    doubles[at + Flight.USER_REMAINING] = shown(outcome.userRemaining);
    doubles[at + Flight.USER_RESET] = shown(outcome.userReset);
    return ANSWERED;
  }
}

const isPending = <Running extends object>(
  outcome: ArrivalOutcome<Running>,
): outcome is Pending<AnswerParts | Running> => "waitMs" in outcome;

const isAnswer = (outcome: object): outcome is AnswerParts => "status" in outcome;

function shownBy(answer: AnswerParts): number {
  const { scope, kind, scopeName, reset, userScopeName, userReset } = answer;
  const byOrganization = scopeName === scope && typeof reset === "number";
  const byUser = userScopeName === quotaNames[scope].user && typeof userReset === "number";
  return (
    (byOrganization ? Flight.SHOWS_ORGANIZATION : 0) |
    (byUser ? Flight.SHOWS_USER : 0) |
    (hasHeaders(answer) ? Flight.SHOWS_HEADERS : 0) |
    (kind === "other" ? Flight.UNCOUNTED : 0)
  );
}

const shown = (value: HeaderValue): number => (typeof value === "number" ? value : ABSENT);
