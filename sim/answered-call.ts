// One call of a simulation as numbers, when its answer reaches the client: a view of the tables that moves from flight
// to flight. Nothing is copied, and numbers that nobody reads cost nothing.
import type { Scope } from "../src/rules/rules.ts";
import type { CallTemplate } from "../src/scenario/client.ts";
import type { Seat } from "../src/scenario/seats.ts";
import type { TraceCall } from "../src/trace/record.ts";
import * as Client from "./client-table.ts";
import * as Flight from "./flight-table.ts";
import type { Simulator } from "./simulator.ts";

/** View of one answer. Do not keep it: the same object shows the next answer. */
export class AnsweredCall {
  readonly #simulator: Simulator;
  readonly flights: Flight.FlightTable;
  /** Places in the tables where the shown flight's numbers begin, for readers of many numbers. */
  inInts = 0;
  inDoubles = 0;
  #flight = 0;
  /** Place in the client table where the client's integers begin. */
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

  /** Flight that is shown. */
  get flight(): number {
    return this.#flight;
  }

  /** Place of the population in the scenario, and of the client in the population, from 0. */
  get population(): number {
    return this.#clientNumber(Client.POPULATION);
  }

  get index(): number {
    return this.#clientNumber(Client.INDEX);
  }

  /** Caller, a small integer from 0; the same organization and user get the same integer. */
  get caller(): number {
    return this.#clientNumber(Client.CALLER);
  }

  /** Names of the organization and user whose quotas the call uses. */
  get seat(): Seat {
    return this.#simulator.seatOf(this.#client);
  }

  /** Client as traces name it, `population/index`; each read makes a new string. */
  get client(): string {
    return this.#simulator.clients.id(this.#client);
  }

  /** Call in the form of its behaviour. */
  get call(): CallTemplate {
    return this.#call as CallTemplate;
  }

  /** Kind as in traces; `other` if no quota counts the call. */
  get kind(): TraceCall["kind"] {
    return (this.#shown & Flight.UNCOUNTED) !== 0 ? "other" : this.call.kind;
  }

  /** Number of the call among its client's calls, from 0. */
  get number(): number {
    return this.#integer(Flight.NUMBER);
  }

  get attempt(): number {
    return this.#integer(Flight.ATTEMPT);
  }

  get page(): number {
    return this.#integer(Flight.PAGE);
  }

  /** Time at which the call's job was wanted, on the client's clock, ms since the epoch. */
  get wantedMs(): number {
    return this.#double(Flight.WANTED);
  }

  get sentMs(): number {
    return this.#double(Flight.SENT);
  }

  /** Time of receipt, on the client's clock, ms since the epoch. */
  get receivedMs(): number {
    return this.#receivedMs;
  }

  /** HTTP status; 0 without an answer. */
  get status(): number {
    return this.#integer(Flight.STATUS);
  }

  /** Owner of the window that a 429 names; `ADMITTED` if no window refused, or if the 429 names none. */
  get refusedBy(): Flight.Refuser {
    return (this.#shown & Flight.REFUSER) as Flight.Refuser;
  }

  /** Under a policy, place of the quota that refused; negative if none did. */
  get refusingQuota(): number {
    return Flight.refusingQuota(this.#shown);
  }

  /** True if the deployment decided this call; a 5xx without any of the eight headers comes from in front of it. */
  get isAnswered(): boolean {
    return Flight.isAnswered(this.status, this.#shown);
  }

  /** True if a limiter made this answer; else there is no answer, or a 503 of the limiter's surroundings. */
  get isDecided(): boolean {
    return (this.#shown & Flight.UNDECIDED) === 0;
  }

  /** Returns a scope's `reset` in the body of a status call's answer; NaN if there is none. */
  statusReset(scope: Scope): number {
    return this.#double(scope === "rest" ? Flight.REST_RESET : Flight.GRAPHQL_RESET);
  }

  /** Value of a header, like the getters below; `ABSENT` if the header is missing or no integer. */
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
