// One call of a simulation as numbers, at the moment when its answer reaches the client: a window onto the tables that
// is moved from flight to flight. Nothing is copied, and what is not asked for costs nothing.
import type { Scope } from "../src/rules/rules.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import type { Seat } from "../src/scenario/seats.ts";
import type { TraceCall } from "../src/trace/record.ts";
import * as Client from "./client-table.ts";
import * as Flight from "./flight-table.ts";
import type { Simulator } from "./simulator.ts";

/** Read it, do not keep it: the next answer is shown by the same object. */
export class AnsweredCall {
  readonly #simulator: Simulator;
  readonly flights: Flight.FlightTable;
  /** Where the numbers of the flight that is shown begin, for who reads many of them. */
  inInts = 0;
  inDoubles = 0;
  #flight = 0;
  /** Where its client's numbers begin. */
  #inClients = 0;
  #call: CallTemplate | null = null;
  #receivedMs = 0;

  constructor(simulator: Simulator, flights: Flight.FlightTable) {
    this.#simulator = simulator;
    this.flights = flights;
  }

  /** Moves to a flight that `Simulator.next` has returned. */
  show(flight: number): void {
    this.#flight = flight;
    this.inInts = flight * Flight.INTS;
    this.inDoubles = flight * Flight.DOUBLES;
    const client = this.#client;
    const { clients, nowMs } = this.#simulator;
    this.#inClients = client * Client.INTS;
    this.#call = clients.call(client, this.#integer(Flight.TEMPLATE));
    this.#receivedMs = nowMs + clients.clockMs(client);
  }

  /** The flight that is shown. */
  get flight(): number {
    return this.#flight;
  }

  /** The population's place in the scenario, and the client's in the population, from 0. */
  get population(): number {
    return this.#clientNumber(Client.POPULATION);
  }

  get index(): number {
    return this.#clientNumber(Client.INDEX);
  }

  /** Who called, a small integer from 0: the same organization and user, the same one. */
  get caller(): number {
    return this.#clientNumber(Client.CALLER);
  }

  /** Whose quotas it uses, by name. */
  get seat(): Seat {
    return this.#simulator.seatOf(this.#client);
  }

  /** As traces name it, `population/index`: a fresh string. */
  get client(): string {
    return this.#simulator.clients.id(this.#client);
  }

  /** The call as its behaviour has it. */
  get call(): CallTemplate {
    return this.#call as CallTemplate;
  }

  /** As traces have it: `other` is what no quota counts. */
  get kind(): TraceCall["kind"] {
    return (this.#shown & Flight.UNCOUNTED) !== 0 ? "other" : this.call.kind;
  }

  /** The client's running number, from 0. */
  get number(): number {
    return this.#integer(Flight.NUMBER);
  }

  get attempt(): number {
    return this.#integer(Flight.ATTEMPT);
  }

  get page(): number {
    return this.#integer(Flight.PAGE);
  }

  /** Ms since the epoch. */
  get wantedMs(): number {
    return this.#double(Flight.WANTED);
  }

  get sentMs(): number {
    return this.#double(Flight.SENT);
  }

  /** On the client's clock, as all its times. */
  get receivedMs(): number {
    return this.#receivedMs;
  }

  /** HTTP status; 0 where no answer came. */
  get status(): number {
    return this.#integer(Flight.STATUS);
  }

  /** `ADMITTED`, or whose window a 429 names; `ADMITTED` where it names none. */
  get refusedBy(): Flight.Refuser {
    return (this.#shown & Flight.REFUSER) as Flight.Refuser;
  }

  /** Of an answer by a policy: the place of the quota that refused, below 0 where none did. */
  get refusingQuota(): number {
    return this.#double(Flight.REFUSING);
  }

  /** True if the deployment decided this call; a 5xx without any of the eight headers came from before it. */
  get isAnswered(): boolean {
    return Flight.isAnswered(this.status, this.#shown);
  }

  /** True if a limiter has had a part in this answer; else there is none, or a 503 of what stands around it. */
  get isDecided(): boolean {
    return (this.#shown & Flight.UNDECIDED) === 0;
  }

  /** True if `reset` is one of the organization's window of this call's scope. */
  get showsOrganization(): boolean {
    return (this.#shown & Flight.SHOWS_ORGANIZATION) !== 0;
  }

  get showsUser(): boolean {
    return (this.#shown & Flight.SHOWS_USER) !== 0;
  }

  /** Of a status call's answer: the `reset` of a scope in its body, NaN where there is none. */
  statusReset(scope: Scope): number {
    return this.#double(scope === "rest" ? Flight.REST_RESET : Flight.GRAPHQL_RESET);
  }

  /** The headers; `ABSENT` where one did not come, or is no integer. */
  get limit(): number {
    return this.#double(Flight.LIMIT);
  }

  get remaining(): number {
    return this.#double(Flight.REMAINING);
  }

  get reset(): number {
    return this.#double(Flight.RESET);
  }

  get userLimit(): number {
    return this.#double(Flight.USER_LIMIT);
  }

  get userRemaining(): number {
    return this.#double(Flight.USER_REMAINING);
  }

  get userReset(): number {
    return this.#double(Flight.USER_RESET);
  }

  get retryAfter(): number {
    return this.#double(Flight.RETRY_AFTER);
  }

  get #client(): number {
    return this.#integer(Flight.CLIENT);
  }

  get #shown(): number {
    return this.#integer(Flight.SHOWN);
  }

  #clientNumber(member: number): number {
    return this.#simulator.clients.ints[this.#inClients + member] as number;
  }

  #integer(member: number): number {
    return this.flights.ints[this.inInts + member] as number;
  }

  #double(member: number): number {
    return this.flights.doubles[this.inDoubles + member] as number;
  }
}
