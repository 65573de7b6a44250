// The arrangement of a deployment's counters over several processes: correct, or as one of the faults arranges them.
import { Limiter } from "../engine/limiter.ts";
import type { SlowStore, Store } from "../engine/store.ts";
import type { ChosenFault } from "../faults/choice.ts";
import { rulesStore } from "../faults/rules-store.ts";
import { policyOf } from "../policy/shorthand.ts";
import type { Rules } from "../rules/rules.ts";
import { type CounterChange, published } from "./copy.ts";

/** The way in which several processes count. */
export interface Arrangement {
  /** Counters of each worker's own: all of them, a copy to read from, or none, so that it asks for each answer. */
  readonly own: "counters" | "copy" | "nothing";
  /** Delay until a worker's copy receives a change, ms. */
  readonly lagMs: number;
  /**
   * Returns the counters that the worker of a number, from 0, asks.
   * @param tell sends a change to every worker's copy
   */
  storesOf(tell: (change: CounterChange) => void): (worker: number) => Store | SlowStore;
}

/** Returns the correct arrangement: one process counts, and the others ask it. */
export function shared(rules: Rules): Arrangement {
  return {
    own: "nothing",
    lagMs: 0,
    storesOf() {
      const limiter = new Limiter(rules);
      return () => limiter;
    },
  };
}

/**
 * Returns the arrangement of a fault of several processes.
 * @throws RangeError if the fault needs only one process
 */
export function faultyArrangement({ fault, rate }: ChosenFault, rules: Rules): Arrangement {
  const one = shared(rules);
  const { processes } = fault;
  if (processes === "one") throw new RangeError(`${fault.name} is no fault of several processes`);
  if (processes === "counters-apart") return { ...one, own: "counters" };
  if (processes === "replicas-lag")
    return {
      own: "copy",
      lagMs: Math.round(rate * 1000),
      storesOf(tell) {
        const store = published(new Limiter(rules), tell);
        return () => store;
      },
    };
  return {
    ...one,
    storesOf() {
      const policy = policyOf(rules);
      const stores = processes(policy, rate).map((counters) => rulesStore(policy, counters));
      return (worker) => stores[worker % stores.length] as Store;
    },
  };
}
