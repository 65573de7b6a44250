// Faults of deployments that are several processes. Here they are in one, and each call is answered by one of
// them, drawn; what they are made of also serves real processes.
import type { Call, Decision, Readings, Reservation, Status } from "../engine/adapter.ts";
import { Limiter } from "../engine/limiter.ts";
import type { Store } from "../engine/store.ts";
import type { Rules, Scope } from "../rules/rules.ts";
import { Counter, type CounterWindow, type WindowKey } from "./counter.ts";
import { deployed } from "./deployed.ts";
import type { Fault } from "./fault.ts";
import { ahead, Nodes } from "./nodes.ts";

/** Decides on the original; reads from a copy that hears of everything so much later. */
export class LaggingCopy implements Store {
  readonly #original: Limiter;
  readonly #copy: Limiter;
  readonly #lagMs: number;
  #heard: { readonly atMs: number; readonly happen: () => void }[] = [];
  #latestMs = 0;

  constructor(rules: Rules, lagMs: number) {
    this.#original = new Limiter(rules);
    this.#copy = new Limiter(rules);
    this.#lagMs = lagMs;
  }

  /** Tells the copy of each event in the order in which it happened, whatever the clock said. */
  #hear(nowMs: number, happen: () => void): void {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    this.#heard.push({ atMs: this.#latestMs, happen });
  }

  /** The copy, as it is at this time. */
  #read(nowMs: number): Limiter {
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    const heardMs = this.#latestMs - this.#lagMs;
    const later = this.#heard.findIndex(({ atMs }) => atMs > heardMs);
    const due = later === -1 ? this.#heard.length : later;
    for (const { happen } of this.#heard.slice(0, due)) happen();
    this.#heard = this.#heard.slice(due);
    return this.#copy;
  }

  decide(call: Call, nowMs: number): Decision {
    this.#hear(nowMs, () => this.#copy.decide(call, nowMs));
    return this.#original.decide(call, nowMs);
  }

  settle(reservation: Reservation, actual: number, nowMs: number): Readings {
    this.#hear(nowMs, () => this.#copy.settle(reservation, actual, nowMs));
    return this.#original.settle(reservation, actual, nowMs);
  }

  status(organization: string, nowMs: number): Status {
    return this.#read(nowMs).status(organization, nowMs);
  }

  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return this.#read(nowMs).readings(organization, user, scope, nowMs);
  }

  setEnforced(organization: string, scope: Scope, enforced: boolean): void {
    this.#hear(this.#latestMs, () => this.#copy.setEnforced(organization, scope, enforced));
    this.#original.setEnforced(organization, scope, enforced);
  }

  sweep(nowMs: number): void {
    this.#hear(nowMs, () => this.#copy.sweep(nowMs));
    this.#original.sweep(nowMs);
    this.#read(nowMs);
  }
}

/**
 * Counters that several nodes share, each by its own clock: an epoch window is one key for all of them, but who
 * is ahead counts in the next one already. Nothing holds the nodes' clocks together.
 */
export class UnsteadyCounter extends Counter {
  override nameOf(key: WindowKey, nowMs: number): string {
    const name = super.nameOf(key, nowMs);
    return this.isEpoch(key.scope) ? `${name}@${this.endOf(key, nowMs)}` : name;
  }

  override clock(_window: CounterWindow, nowMs: number): number {
    return nowMs;
  }

  override sweep(nowMs: number): void {
    for (const [name, { resetAtMs }] of this.windows)
      if (resetAtMs < nowMs - 3_600_000) this.windows.delete(name);
  }
}

/** The rules with every organization's limit raised by a share of it, at least 1. */
function raisedLimits(rules: Rules, share: number): Rules {
  const raised = <W extends { readonly limit?: number | undefined }>(window: W): W =>
    window.limit === undefined
      ? window
      : { ...window, limit: window.limit + Math.max(1, Math.round(window.limit * share)) };
  const { rest, graphql } = rules.organization;
  return {
    ...rules,
    organization: { rest: raised(rest), graphql: raised(graphql) },
    organizations: Object.fromEntries(
      Object.entries(rules.organizations).map(([slug, own]) => [
        slug,
        {
          ...(own.rest === undefined ? {} : { rest: raised(own.rest) }),
          ...(own.graphql === undefined ? {} : { graphql: raised(own.graphql) }),
        },
      ]),
    ),
  };
}

/** Counters that nodes share while they do not agree on the limits: `by` decides as that node does. */
export class DisputedLimits extends Counter {
  readonly #raised: Counter;
  #isRaised = false;

  constructor(rules: Rules, share: number) {
    super(rules);
    this.#raised = new Counter(raisedLimits(rules, share));
  }

  override limitOf(key: WindowKey) {
    return this.#isRaised ? this.#raised.limitOf(key) : super.limitOf(key);
  }

  /** The counters as one node sees them. */
  seenBy(isRaised: boolean): Store {
    const as = <T>(ask: () => T): T => {
      this.#isRaised = isRaised;
      return ask();
    };
    return {
      decide: (call, nowMs) => as(() => this.decide(call, nowMs)),
      settle: (reservation, actual, nowMs) => as(() => this.settle(reservation, actual, nowMs)),
      status: (organization, nowMs) => as(() => this.status(organization, nowMs)),
      readings: (organization, user, scope, nowMs) =>
        as(() => this.readings(organization, user, scope, nowMs)),
      sweep: (nowMs) => this.sweep(nowMs),
    };
  }
}

export const processFaults: readonly Fault[] = [
  {
    name: "per-instance-counters",
    wrong: "every process counts alone",
    shows: "remaining jumps up and down; limit x processes admitted",
    seenIn: ["hapi-rate-limit#52", "express-rate-limit#354"],
    nets: ["V", "L"],
    rate: { default: 2, least: 2, most: 64, whole: true, meaning: "how many processes" },
    processes: "counters-apart",
    inject(rules, { random, rate }) {
      const limiters = Array.from({ length: rate }, () => new Limiter(rules));
      return {
        store: new Nodes(limiters, random),
        setEnforced(organization, scope, enforced) {
          for (const limiter of limiters) limiter.setEnforced(organization, scope, enforced);
        },
      };
    },
  },
  {
    name: "stale-replica-read",
    wrong: "the status and its headers are read from a lagging copy",
    shows: "a reading older than a call that had finished",
    seenIn: ["gubernator#208"],
    nets: ["V"],
    rate: { default: 1, least: 0.001, most: 300, meaning: "by how many seconds the copy lags" },
    processes: "replicas-lag",
    inject: (rules, { rate }) => deployed(new LaggingCopy(rules, rate * 1000)),
  },
  {
    name: "skewed-nodes",
    wrong: "the nodes' clocks are apart",
    shows: "windows overlap; 2 x limit is admitted at the edge",
    seenIn: ["spring-cloud-gateway PR#1688"],
    nets: ["V"],
    rate: { default: 10, least: 0.001, most: 86_400, meaning: "seconds between the two clocks: 10, 3.7" },
    processes: "clocks-apart",
    inject(rules, { random, rate }) {
      const counter = new UnsteadyCounter(rules);
      return deployed(counter, new Nodes([counter, ahead(counter, Math.round(rate * 1000))], random));
    },
  },
  {
    name: "limit-changes-mid-window",
    wrong: "a raised limit of the organization reaches half of the nodes",
    shows: "limit differs within a window",
    seenIn: ["boulder#8785"],
    nets: ["V"],
    rate: { default: 0.2, least: 0.001, most: 10, meaning: "by which share the limit is raised" },
    processes: "limits-apart",
    inject(rules, { random, rate }) {
      const counter = new DisputedLimits(rules, rate);
      return deployed(counter, new Nodes([counter.seenBy(false), counter.seenBy(true)], random));
    },
  },
];
