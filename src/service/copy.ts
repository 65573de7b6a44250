// A read replica that lags: the primary decides calls, and readings come from a copy that receives each decision later.
import type { Call, Decision, Readings, Reservation, Status } from "../engine/adapter.ts";
import { Limiter } from "../engine/limiter.ts";
import type { RemoteStore, Store } from "../engine/store.ts";
import type { Rules, Scope } from "../rules/rules.ts";

/** A change of the primary's counters, with its time on the primary's clock. */
export type CounterChange =
  | { readonly change: "decide"; readonly call: Call; readonly nowMs: number }
  | {
      readonly change: "settle";
      readonly reservation: Reservation;
      readonly actual: number;
      readonly nowMs: number;
    };

/** Returns the primary's counters, which then report every change, in order. */
export function published(store: Store, tell: (change: CounterChange) => void): Store {
  return {
    decide(call, nowMs) {
      tell({ change: "decide", call, nowMs });
      return store.decide(call, nowMs);
    },
    settle(reservation, actual, nowMs) {
      tell({ change: "settle", reservation, actual, nowMs });
      return store.settle(reservation, actual, nowMs);
    },
    status: (organization, nowMs) => store.status(organization, nowMs),
    readings: (organization, user, scope, nowMs) => store.readings(organization, user, scope, nowMs),
    sweep: (nowMs) => store.sweep(nowMs),
  };
}

/** Decides by the primary, and reads from the copy. */
export class ReadCopy implements RemoteStore {
  readonly #primary: RemoteStore;
  readonly #copy: Limiter;
  readonly #later: (act: () => void) => void;

  /** @param later does an act after the lag, first come, first served */
  constructor(primary: RemoteStore, rules: Rules, later: (act: () => void) => void) {
    this.#primary = primary;
    this.#copy = new Limiter(rules);
    this.#later = later;
  }

  decide(call: Call, nowMs: number): Decision | Promise<Decision> {
    return this.#primary.decide(call, nowMs);
  }

  settle(reservation: Reservation, actual: number, nowMs: number): Readings | Promise<Readings> {
    return this.#primary.settle(reservation, actual, nowMs);
  }

  status(organization: string, nowMs: number): Status {
    return this.#copy.status(organization, nowMs);
  }

  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return this.#copy.readings(organization, user, scope, nowMs);
  }

  sweep(): void {}

  /** Receives a change of the primary's, and makes the same change once the lag is over. */
  hear(heard: CounterChange): void {
    this.#later(() => {
      if (heard.change === "decide") this.#copy.decide(heard.call, heard.nowMs);
      else this.#copy.settle(heard.reservation, heard.actual, heard.nowMs);
    });
  }
}
