// Faults of deployments with several processes. Here one process holds them all, and a random one answers each call.
// Real processes use the same parts.
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import type { QuotaStore } from "../engine/store.ts";
import type { Override, Policy, Quota, QuotaOverride } from "../policy/policy.ts";
import { type CountedCaller, Counter, type CountKey } from "./counter.ts";
import { counted, type Fault, type FaultEntry, type Processes } from "./fault.ts";
import { firstQuotas, hasStatus, hasWindows } from "./fits.ts";
import { ahead, Nodes } from "./nodes.ts";

/** Decides on the original; reads from a copy that receives every event after a lag. */
export class LaggingCopy implements QuotaStore {
  readonly #original: Counter;
  readonly #copy: Counter;
  readonly #lagMs: number;
  #heard: { readonly atMs: number; readonly happen: () => void }[] = [];
  #latestMs = 0;

  constructor(policy: Policy, lagMs: number) {
    this.#original = new Counter(policy);
    this.#copy = new Counter(policy);
    this.#lagMs = lagMs;
  }

  /** Notes an event for the copy, in the order of events, whatever the clock said. */
  #hear(nowMs: number, happen: () => void): void {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    this.#heard.push({ atMs: this.#latestMs, happen });
  }

  /** Returns the copy as it is at this time. */
  #heardUntil(nowMs: number): Counter {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    const heardMs = this.#latestMs - this.#lagMs;
    const later = this.#heard.findIndex(({ atMs }) => atMs > heardMs);
    const due = later === -1 ? this.#heard.length : later;
    for (const { happen } of this.#heard.slice(0, due)) happen();
    this.#heard = this.#heard.slice(due);
    return this.#copy;
  }

  decide(call: PolicyCall, nowMs: number): PolicyDecision {
    this.#hear(nowMs, () => this.#copy.decide(call, nowMs));
    return this.#original.decide(call, nowMs);
  }

  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    this.#hear(nowMs, () => this.#copy.settle(reservation, actual, nowMs));
    return this.#original.settle(reservation, actual, nowMs);
  }

  read(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return this.#heardUntil(nowMs).read(caller, quotas, nowMs);
  }

  setEnforced(quota: string, caller: CountedCaller, enforced: boolean): void {
    this.#hear(this.#latestMs, () => this.#copy.setEnforced(quota, caller, enforced));
    this.#original.setEnforced(quota, caller, enforced);
  }

  sweep(nowMs: number): void {
    this.#hear(nowMs, () => this.#copy.sweep(nowMs));
    this.#original.sweep(nowMs);
    this.#heardUntil(nowMs);
  }
}

/**
 * Counters that several nodes share, each by its own clock. A window of a grid has one key for all nodes. A node that
 * is ahead already counts in the next window, because nothing synchronizes the nodes' clocks.
 */
class UnsteadyCounter extends Counter {
  override nameOf(key: CountKey, nowMs: number): string {
    const name = super.nameOf(key, nowMs);
    return this.isWindow(key) ? `${name}@${this.endOf(key, nowMs)}` : name;
  }

  override clock(_window: { readonly seenMs: number }, nowMs: number): number {
    return nowMs;
  }

  override sweep(nowMs: number): void {
    for (const [name, { resetAtMs }] of this.windows)
      if (resetAtMs < nowMs - 3_600_000) this.windows.delete(name);
  }
}

/** Returns the policy with a higher limit in the first quota of each operation: by a share, at least by 1. */
function raisedLimits(policy: Policy, share: number): Policy {
  const raised = (limit: number): number => limit + Math.max(1, Math.round(limit * share));
  const both = <L extends object>(limits: L): L => {
    const changed = { ...limits } as Record<string, unknown>;
    for (const name of ["limit", "capacity"])
      if (typeof changed[name] === "number") changed[name] = raised(changed[name]);
    return changed as L;
  };
  const broad = firstQuotas(policy);
  const change = <Q>(quotas: Readonly<Record<string, Q>>, one: (quota: Q) => Q): Record<string, Q> =>
    Object.fromEntries(
      Object.entries(quotas).map(([name, quota]) => [name, broad.has(name) ? one(quota) : quota]),
    );
  return {
    ...policy,
    quotas: change(policy.quotas, (quota: Quota) => ({ ...quota, algorithm: both(quota.algorithm) })),
    overrides: policy.overrides.map(
      ({ match, quotas }): Override => ({
        match,
        quotas: change(quotas, (quota: QuotaOverride) => both(quota)),
      }),
    ),
  };
}

/** Counters that nodes share, although they disagree on the limits. `seenBy` decides as one node does. */
class DisputedLimits extends Counter {
  readonly #raised: Counter;
  #isRaised = false;

  constructor(policy: Policy, share: number) {
    super(policy);
    this.#raised = new Counter(raisedLimits(policy, share));
  }

  override limitOf(key: CountKey) {
    return this.#isRaised ? this.#raised.limitOf(key) : super.limitOf(key);
  }

  /** Returns the counters as one node sees them. */
  seenBy(isRaised: boolean): QuotaStore {
    const as = <T>(ask: () => T): T => {
      this.#isRaised = isRaised;
      return ask();
    };
    return {
      decide: (call, nowMs) => as(() => this.decide(call, nowMs)),
      settle: (reservation, actual, nowMs) => as(() => this.settle(reservation, actual, nowMs)),
      read: (caller, quotas, nowMs) => as(() => this.read(caller, quotas, nowMs)),
      setEnforced: (quota, caller, enforced) => this.setEnforced(quota, caller, enforced),
      sweep: (nowMs) => this.sweep(nowMs),
    };
  }
}

/** Returns a fault of processes that share counters, but see them differently. */
const differing = (
  processes: Processes,
  unfit?: FaultEntry["unfit"],
): Pick<Fault, "processes" | "unfit" | "inject"> => ({
  processes,
  ...counted((policy, { random, rate }) => new Nodes(processes(policy, rate), random), unfit),
});

export const processFaults: readonly FaultEntry[] = [
  {
    name: "per-instance-counters",
    wrong: "every process counts alone",
    shows: "remaining jumps up and down; limit x processes admitted",
    seenIn: ["hapi-rate-limit#52", "express-rate-limit#354"],
    nets: ["V", "L"],
    rate: { default: 2, least: 2, most: 64, whole: true, meaning: "how many processes" },
    ...differing((policy, rate, count = rate) => Array.from({ length: count }, () => new Counter(policy))),
  },
  {
    name: "stale-replica-read",
    wrong: "the status and its headers are read from a lagging copy",
    shows: "a reading older than a call that had finished",
    seenIn: ["gubernator#208"],
    nets: ["V"],
    rate: { default: 1, least: 0.001, most: 300, meaning: "by how many seconds the copy lags" },
    ...differing((policy, rate) => [new LaggingCopy(policy, rate * 1000)], hasStatus),
  },
  {
    name: "skewed-nodes",
    wrong: "the nodes' clocks are apart",
    shows: "windows overlap; 2 x limit is admitted at the edge",
    seenIn: ["spring-cloud-gateway PR#1688"],
    nets: ["V"],
    rate: { default: 10, least: 0.001, most: 86_400, meaning: "seconds between the two clocks: 10, 3.7" },
    ...differing((policy, rate) => {
      const counter = new UnsteadyCounter(policy);
      return [counter, ahead(counter, Math.round(rate * 1000))];
    }, hasWindows),
  },
  {
    name: "limit-changes-mid-window",
    wrong: "a raised limit of the organization reaches half of the nodes",
    shows: "limit differs within a window",
    seenIn: ["boulder#8785"],
    nets: ["V"],
    rate: { default: 0.2, least: 0.001, most: 10, meaning: "by which share the limit is raised" },
    ...differing((policy, rate) => {
      const counter = new DisputedLimits(policy, rate);
      return [counter.seenBy(false), counter.seenBy(true)];
    }),
  },
];
