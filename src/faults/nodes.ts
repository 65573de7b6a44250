// Several processes behind one address, within one: each call is answered by one of them, drawn.
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "../engine/adapter.ts";
import type { Store } from "../engine/store.ts";
import type { Scope } from "../rules/rules.ts";

/** A reservation that knows which process holds it; plain JSON, as it must be. */
interface NodeReservation extends Reservation {
  readonly node?: number;
}

export class Nodes implements Store {
  readonly #nodes: readonly Store[];
  readonly #random: () => number;
  #last = 0;
  #lastMs = -1;

  constructor(nodes: readonly Store[], random: () => number) {
    this.#nodes = nodes;
    this.#random = random;
  }

  #draw(nowMs: number): number {
    this.#last = Math.floor(this.#random() * this.#nodes.length);
    this.#lastMs = nowMs;
    return this.#last;
  }

  #node(index: number): Store {
    const node = this.#nodes[index];
    if (node === undefined) throw new RangeError(`there is no process ${index}`);
    return node;
  }

  /** Returns the store of one answer: all its readings are of one instant, by one process. */
  #reader(nowMs: number): Store {
    return this.#node(nowMs === this.#lastMs ? this.#last : this.#draw(nowMs));
  }

  decide(call: Call, nowMs: number): Decision {
    const node = this.#draw(nowMs);
    const decision = this.#node(node).decide(call, nowMs);
    const { reservation } = decision;
    const held: NodeReservation | null = reservation === null ? null : { ...reservation, node };
    return { ...decision, reservation: held };
  }

  settle(reservation: NodeReservation, actual: number, nowMs: number): Readings {
    return this.#node(reservation.node ?? 0).settle(reservation, actual, nowMs);
  }

  status(organization: string, nowMs: number): Status {
    return this.#reader(nowMs).status(organization, nowMs);
  }

  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return this.#reader(nowMs).readings(organization, user, scope, nowMs);
  }

  sweep(nowMs: number): void {
    for (const node of this.#nodes) node.sweep(nowMs);
  }
}

/** A process whose clock is ahead: it decides and shows by that clock. */
export function ahead(store: Store, byMs: number): Store {
  return {
    decide: (call, nowMs) => store.decide(call, nowMs + byMs),
    settle: (reservation, actual, nowMs) => store.settle(reservation, actual, nowMs + byMs),
    status: (organization, nowMs) => store.status(organization, nowMs + byMs),
    readings: (organization, user, scope, nowMs) => store.readings(organization, user, scope, nowMs + byMs),
    sweep: (nowMs) => store.sweep(nowMs + byMs),
  };
}

/** Counters whose windows all end earlier by so much; their clock is right. */
export function movedWindows(store: Store, byMs: number): Store {
  const inner = ahead(store, byMs);
  const moved = (reading: WindowReading): WindowReading => ({
    ...reading,
    resetAtMs: reading.resetAtMs - byMs,
  });
  const both = ({ organization, user }: Readings): Readings => ({
    organization: moved(organization),
    user: moved(user),
  });
  return {
    ...inner,
    decide(call, nowMs) {
      const decision = inner.decide(call, nowMs);
      return { ...decision, ...both(decision) };
    },
    settle: (reservation, actual, nowMs) => both(inner.settle(reservation, actual, nowMs)),
    status(organization, nowMs) {
      const { rest, graphql } = inner.status(organization, nowMs);
      return { rest: moved(rest), graphql: moved(graphql) };
    },
    readings: (organization, user, scope, nowMs) => both(inner.readings(organization, user, scope, nowMs)),
  };
}
