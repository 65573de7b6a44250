// Right deployments in the faults' clothes: what faults are made of must not be what is caught.
import { Limiter } from "../../src/engine/limiter.ts";
import { Counter } from "../../src/faults/counter.ts";
import { around, deployed, ofCounters, showing } from "../../src/faults/deployed.ts";
import type { Faulty } from "../../src/faults/fault.ts";
import { Nodes } from "../../src/faults/nodes.ts";
import { LaggingCopy } from "../../src/faults/processes.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import type { Rules } from "../../src/rules/rules.ts";

export interface Control {
  readonly name: string;
  make(rules: Rules): Faulty;
}

export const controls: readonly Control[] = [
  { name: "the engine", make: (rules) => deployed(new Limiter(rules)) },
  { name: "the plain counter", make: (rules) => ofCounters(rules, new Counter(policyOf(rules))) },
  { name: "the engine, nothing replaced", make: (rules) => around(rules, () => ({})) },
  { name: "the engine, its readings passed on", make: showing((reading) => reading) },
  {
    name: "one process behind the address",
    make(rules) {
      const counter = new Counter(policyOf(rules));
      return ofCounters(rules, new Nodes([counter], () => 0.5));
    },
  },
  {
    name: "a copy that does not lag",
    make: (rules) => ofCounters(rules, new LaggingCopy(policyOf(rules), 0)),
  },
];

/** Right as long as it is asked for one call at a time; in a queue of events its calls stand further back. */
export const waitingControl: Control = {
  name: "a counter that waits",
  make(rules) {
    const counter = new Counter(policyOf(rules));
    const wait = (call: Parameters<Counter["decide"]>[0]) => ({
      waitMs: 0,
      resume: (laterMs: number) => counter.decide(call, laterMs),
    });
    return ofCounters(rules, {
      decide: wait,
      settle: (reservation, actual, nowMs) => counter.settle(reservation, actual, nowMs),
      read: (caller, quotas, nowMs) => counter.read(caller, quotas, nowMs),
      setEnforced: (quota, caller, enforced) => counter.setEnforced(quota, caller, enforced),
      sweep: (nowMs) => counter.sweep(nowMs),
    });
  },
};
