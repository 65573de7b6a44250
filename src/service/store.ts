// What the service needs of whatever counts: the pure limiter in this process, or something in its place.
import type { Call, Decision, Readings, Reservation, Status } from "../engine/adapter.ts";
import type { Scope } from "../rules/rules.ts";

/** The counters behind the service. `Limiter` is one; every time is in ms since the Unix epoch. */
export interface Store {
  decide(call: Call, nowMs: number): Decision;
  settle(reservation: Reservation, actual: number, nowMs: number): Readings;
  status(organization: string, nowMs: number): Status;
  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings;
  /** Drops idle keys (SPEC.md §2.8). */
  sweep(nowMs: number): unknown;
}
