// Turns a deployment with objects as answers into one with numbers: it keeps each answer for the trace, and copies the
// answer's numbers into the flight.
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
  RUNS,
  type SimulatedDeployment,
  type TracedDeployment,
} from "./deployment.ts";
import * as Flight from "./flight-table.ts";
import { NamedCallers } from "./named-callers.ts";

export class ObjectDeployment<Running extends object, Answer extends object = AnswerParts>
  implements TracedDeployment<Answer>
{
  readonly #deployment: SimulatedDeployment<Running, Answer>;
  readonly #flights: Flight.FlightTable;
  readonly #callers = new NamedCallers();
  /** State by flight: a decision that takes time, a running query, or the answer. */
  readonly #outcomes: ArrivalOutcome<Running, Answer>[] = [];
  /** Outcome that the flight asked for last waits for. */
  #awaited: Promise<ArrivalOutcome<Running, Answer>> | null = null;
  #arrived: ArrivalOutcome<Running, Answer> | null = null;
  /** Flight asked for last: its call failed if the deployment throws. */
  asked = 0;

  constructor(deployment: SimulatedDeployment<Running, Answer>, flights: Flight.FlightTable) {
    this.#deployment = deployment;
    this.#flights = flights;
  }

  caller(organization: string, user: string): number {
    return this.#callers.handleOf(organization, user);
  }

  lookAt(caller: number): number {
    return caller;
  }

  arrive(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    this.asked = flight;
    const outcome = this.#deployment.arrive(this.#callers.of(caller), call, nowMs);
    return this.#take(flight, outcome, nowMs);
  }

  resume(flight: number, nowMs: number): Fate {
    this.asked = flight;
    const arrived = this.#arrived;
    this.#arrived = null;
    if (arrived !== null) return this.#take(flight, arrived, nowMs);
    const pending = this.#outcomes[flight] as Pending<Answer | Running>;
    return this.#take(flight, pending.resume(nowMs), nowMs);
  }

  complete(flight: number, caller: number, call: CallTemplate, nowMs: number): Fate {
    this.asked = flight;
    const running = this.#outcomes[flight] as Running;
    const answer = this.#deployment.complete(this.#callers.of(caller), call, running, nowMs);
    return this.#take(flight, answer, nowMs);
  }

  answer(flight: number): Answer {
    return { ...(this.#outcomes[flight] as Answer) };
  }

  /**
   * Waits for the outcome of an `AWAITED` flight, which may then be resumed.
   * @throws the reason with which the deployment rejects
   */
  async settled(): Promise<void> {
    this.#arrived = await this.#awaited;
    this.#awaited = null;
  }

  #take(
    flight: number,
    outcome: ArrivalOutcome<Running, Answer> | Promise<ArrivalOutcome<Running, Answer>>,
    nowMs: number,
  ): Fate {
    if (outcome instanceof Promise) {
      this.#awaited = outcome;
      return AWAITED;
    }
    this.#outcomes[flight] = outcome;
    if ("waitMs" in outcome) return outcome.waitMs;
    if (!("status" in outcome)) return RUNS;
    this.#deployment.show(outcome as Answer, flight, this.#flights, nowMs);
    return ANSWERED;
  }
}

/** Writes the numbers of an answer of the default API into its flight. */
export function showAnswer(answer: AnswerParts, flight: number, { ints, doubles }: Flight.FlightTable): void {
  const owner = isRefusal(answer.status) ? refusedBy(answer) : null;
  ints[flight * Flight.INTS + Flight.STATUS] = answer.status;
  ints[flight * Flight.INTS + Flight.SHOWN] =
    (owner === null
      ? Flight.ADMITTED
      : owner === "user"
        ? Flight.REFUSED_BY_USER
        : Flight.REFUSED_BY_ORGANIZATION) | shownBy(answer);
  const at = flight * Flight.DOUBLES;
  if (answer.kind === "status") {
    doubles[at + Flight.REST_RESET] = readStatus(answer.body, "rest").reset ?? Number.NaN;
    doubles[at + Flight.GRAPHQL_RESET] = readStatus(answer.body, "graphql").reset ?? Number.NaN;
  }
  doubles[at + Flight.RETRY_AFTER] = shown(answer.retryAfter ?? null);
  doubles[at + Flight.LIMIT] = shown(answer.limit);
  doubles[at + Flight.REMAINING] = shown(answer.remaining);
  doubles[at + Flight.RESET] = shown(answer.reset);
  doubles[at + Flight.USER_LIMIT] = shown(answer.userLimit);
  doubles[at + Flight.USER_REMAINING] = shown(answer.userRemaining);
  doubles[at + Flight.USER_RESET] = shown(answer.userReset);
}

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
