// Several processes behind one address, simulated in one: a random one answers each call.
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import { type QuotaStore, shownByStatus } from "../engine/store.ts";
import type { CountedCaller } from "./counter.ts";

/** A reservation with the number of the process that holds it, as plain JSON. */
interface NodeReservation extends PolicyReservation {
  readonly node: number;
}

export class Nodes implements QuotaStore {
  readonly #nodes: readonly QuotaStore[];
  readonly #random: () => number;
  #last = 0;
  #lastMs = -1;

  constructor(nodes: readonly QuotaStore[], random: () => number) {
    this.#nodes = nodes;
    this.#random = random;
  }

  #draw(nowMs: number): number {
    this.#last = Math.floor(this.#random() * this.#nodes.length);
    this.#lastMs = nowMs;
    return this.#last;
  }

  #node(index: number): QuotaStore {
    const node = this.#nodes[index];
    if (node === undefined) throw new RangeError(`there is no process ${index}`);
    return node;
  }

  /** Returns the store for one answer, so that one process makes all its readings of one instant. */
  #reader(nowMs: number): QuotaStore {
    return this.#node(nowMs === this.#lastMs ? this.#last : this.#draw(nowMs));
  }

  decide(call: PolicyCall, nowMs: number): PolicyDecision {
    const node = this.#draw(nowMs);
    const decision = this.#node(node).decide(call, nowMs);
    const { reservation } = decision;
    const held: NodeReservation | null = reservation === null ? null : { ...reservation, node };
    return { ...decision, reservation: held };
  }

  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    return this.#node((reservation as NodeReservation).node).settle(reservation, actual, nowMs);
  }

  status(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return shownByStatus(this.#reader(nowMs), caller, quotas, nowMs);
  }

  read(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return this.#reader(nowMs).read(caller, quotas, nowMs);
  }

  setEnforced(quota: string, caller: CountedCaller, enforced: boolean): void {
    for (const node of this.#nodes) node.setEnforced(quota, caller, enforced);
  }

  sweep(nowMs: number): void {
    for (const node of this.#nodes) node.sweep(nowMs);
  }
}

/** Returns a process whose clock is ahead, both in decisions and in answers. */
export function ahead(store: QuotaStore, byMs: number): QuotaStore {
  return {
    decide: (call, nowMs) => store.decide(call, nowMs + byMs),
    settle: (reservation, actual, nowMs) => store.settle(reservation, actual, nowMs + byMs),
    read: (caller, quotas, nowMs) => store.read(caller, quotas, nowMs + byMs),
    setEnforced: (quota, caller, enforced) => store.setEnforced(quota, caller, enforced),
    sweep: (nowMs) => store.sweep(nowMs + byMs),
  };
}

/** Returns counters whose windows end earlier by `byMs`, although their clock is correct. */
export function movedWindows(store: QuotaStore, byMs: number): QuotaStore {
  const inner = ahead(store, byMs);
  const moved = (readings: readonly Reading[]): Reading[] =>
    readings.map(({ clockMs, resetAtMs, ...reading }: Reading) => ({
      ...reading,
      resetAtMs: resetAtMs - byMs,
      ...(clockMs === undefined ? {} : { clockMs: clockMs - byMs }),
    }));
  return {
    ...inner,
    decide(call, nowMs) {
      const { retryAtMs, readings, ...decision } = inner.decide(call, nowMs);
      const retry = retryAtMs === null ? null : retryAtMs - byMs;
      return { ...decision, retryAtMs: retry, readings: moved(readings) };
    },
    settle: (reservation, actual, nowMs) => moved(inner.settle(reservation, actual, nowMs)),
    read: (caller, quotas, nowMs) => moved(inner.read(caller, quotas, nowMs)),
  };
}
