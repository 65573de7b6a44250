// Right deployments in the faults' clothes: what faults are made of must not be what is caught.
import { Counter } from "../../src/faults/counter.ts";
import type { FaultyQuotas } from "../../src/faults/fault.ts";
import { Nodes } from "../../src/faults/nodes.ts";
import { LaggingCopy } from "../../src/faults/processes.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { wireOf } from "../../src/policy/presets.ts";

export interface Control {
  readonly name: string;
  make(policy: Policy): FaultyQuotas;
}

export const controls: readonly Control[] = [
  { name: "the plain counter", make: (policy) => ({ store: new Counter(policy) }) },
  {
    name: "the plain counter, what it tells passed on",
    make: (policy) => ({
      store: new Counter(policy),
      shownBy: policy,
      wire: wireOf(policy),
      tell: (told) => told,
      change: (answer) => answer,
    }),
  },
  {
    name: "one process behind the address",
    make: (policy) => ({ store: new Nodes([new Counter(policy)], () => 0.5) }),
  },
  { name: "a copy that does not lag", make: (policy) => ({ store: new LaggingCopy(policy, 0) }) },
];

/** Right as long as it is asked for one call at a time; in a queue of events its calls stand further back. */
export const waitingControl: Control = {
  name: "a counter that waits",
  make(policy) {
    const counter = new Counter(policy);
    return {
      store: {
        decide: (call) => ({ waitMs: 0, resume: (laterMs: number) => counter.decide(call, laterMs) }),
        settle: (reservation, actual, nowMs) => counter.settle(reservation, actual, nowMs),
        read: (caller, quotas, nowMs) => counter.read(caller, quotas, nowMs),
        setEnforced: (quota, caller, enforced) => counter.setEnforced(quota, caller, enforced),
        sweep: (nowMs) => counter.sweep(nowMs),
      },
    };
  },
};
