// Calls that clients have planned and not sent yet. Each takes half a line of the processor's cache: nearly all calls
// of many clients are planned ones, and outside the cache.
import type { PlannedCall } from "../src/scenario/client.ts";
import * as Flight from "./flight-table.ts";
import { RowTable } from "./row-table.ts";

/** Number of doubles per planned call; the constants below are their places. */
const DOUBLES = 4;
const WANTED = 2;
const DELAY = 3;
/** Number of integers per planned call; the constants below are their places. */
const INTS = 8;
/** Place of the client in the client table. */
const CLIENT = 0;
const TEMPLATE = 1;
const ATTEMPT = 2;
const PAGE = 3;

export class PlannedTable extends RowTable {
  /** @param capacity number of calls that fit at first; the table grows */
  constructor(capacity: number) {
    super(DOUBLES, capacity);
  }

  /** Keeps a client's planned call, and returns its row. */
  put(client: number, { template, attempt, page, wantedMs, delayMs }: PlannedCall): number {
    const row = this.take();
    const { ints, doubles } = this;
    ints[row * INTS + CLIENT] = client;
    ints[row * INTS + TEMPLATE] = template;
    ints[row * INTS + ATTEMPT] = attempt;
    ints[row * INTS + PAGE] = page;
    doubles[row * DOUBLES + WANTED] = wantedMs;
    doubles[row * DOUBLES + DELAY] = delayMs;
    return row;
  }

  clientOf(row: number): number {
    return this.ints[row * INTS + CLIENT] as number;
  }

  /** Turns a planned call into a flight, and gives its row back. */
  depart(row: number, flights: Flight.FlightTable): number {
    const flight = flights.take();
    const [from, to] = [row * INTS, flight * Flight.INTS];
    flights.ints[to + Flight.CLIENT] = this.ints[from + CLIENT] as number;
    flights.ints[to + Flight.TEMPLATE] = this.ints[from + TEMPLATE] as number;
    flights.ints[to + Flight.ATTEMPT] = this.ints[from + ATTEMPT] as number;
    flights.ints[to + Flight.PAGE] = this.ints[from + PAGE] as number;
    flights.doubles[flight * Flight.DOUBLES + Flight.WANTED] = this.doubles[row * DOUBLES + WANTED] as number;
    flights.doubles[flight * Flight.DOUBLES + Flight.DELAY] = this.doubles[row * DOUBLES + DELAY] as number;
    this.give(row);
    return flight;
  }
}
