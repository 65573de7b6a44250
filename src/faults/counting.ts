// Faults in admission, and in the amounts added to counts.
import type { PolicyCall, PolicyDecision, PolicyReservation, Reading } from "../engine/decision.ts";
import type { Pending, SlowQuotaStore } from "../engine/store.ts";
import { filledQuotas } from "../policy/effective.ts";
import type { Charge, Policy } from "../policy/policy.ts";
import { headers } from "../wire/answer.ts";
import { statusBody } from "../wire/bodies.ts";
import { type CountBefore, type CountedCaller, Counter, type FoundAll, type Use } from "./counter.ts";
import { counted, type FaultEntry, type FaultWorld } from "./fault.ts";
import { firstQuotas, hasStatus, hasTogether, hasUnenforced, isDearer, isDeclared } from "./fits.ts";
import { rulesStore } from "./rules-store.ts";

/** Reads all counts when a call arrives, and writes them some ms later, regardless of other calls in between. */
class RacyStore implements SlowQuotaStore {
  readonly #counter: Counter;
  readonly #world: FaultWorld;

  constructor(counter: Counter, world: FaultWorld) {
    this.#counter = counter;
    this.#world = world;
  }

  decide(call: PolicyCall, nowMs: number): Pending<PolicyDecision> {
    const read = this.#counter.look(call, nowMs);
    return {
      waitMs: Math.ceil(this.#world.random() * this.#world.rate),
      resume: (laterMs) => this.#decideOn(call, read, laterMs),
    };
  }

  #decideOn(call: PolicyCall, read: FoundAll, nowMs: number): PolicyDecision {
    const now = this.#counter.look(call, nowMs);
    // A window that has ended since lost its count.
    const isOver = ({ resetAtMs }: CountBefore): boolean => resetAtMs !== 0 && nowMs >= resetAtMs;
    const all = new Map([...read].map(([name, one]) => [name, isOver(one) ? (now.get(name) ?? one) : one]));
    const decision = this.#counter.decideOn(call, all, nowMs);
    const { refusedBy } = decision;
    // If nothing was written, the answer shows what was read.
    const told = (reading: Reading, use: Use | undefined): Reading => {
      const count = all.get(reading.quota)?.count ?? 0;
      if (use === undefined || refusedBy === null) return reading;
      if (this.#counter.amount(call, use, refusedBy, all) !== null) return reading;
      return { ...reading, used: count, remaining: this.#counter.remaining(use.key, count) };
    };
    const uses = this.#counter.usesOf(call);
    return { ...decision, readings: decision.readings.map((reading, place) => told(reading, uses[place])) };
  }

  settle(reservation: PolicyReservation, actual: number, nowMs: number): readonly Reading[] {
    return this.#counter.settle(reservation, actual, nowMs);
  }

  read(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    return this.#counter.read(caller, quotas, nowMs);
  }

  setEnforced(quota: string, caller: CountedCaller, enforced: boolean): void {
    this.#counter.setEnforced(quota, caller, enforced);
  }

  sweep(nowMs: number): void {
    this.#counter.sweep(nowMs);
  }
}

/** Compares counts with another limit than it shows. */
class OffByOne extends Counter {
  readonly #more: number;

  constructor(policy: Policy, more: number) {
    super(policy);
    this.#more = more;
  }

  override hasRoom(use: Use, found: CountBefore): boolean {
    return super.hasRoom(use, { ...found, count: found.count - this.#more });
  }
}

class CostIgnored extends Counter {
  override usesOf(call: PolicyCall): readonly Use[] {
    return super.usesOf(call).map((use) => ({ ...use, asked: 1, cost: 1 }));
  }
}

class CostOverLimitAdmitted extends Counter {
  override hasRoom(use: Use, found: CountBefore): boolean {
    return use.asked > this.limitOf(use.key) || super.hasRoom(use, found);
  }
}

class DoubleCount extends Counter {
  readonly #world: FaultWorld;

  constructor(policy: Policy, world: FaultWorld) {
    super(policy);
    this.#world = world;
  }

  override decideOn(call: PolicyCall, found: FoundAll, nowMs: number): PolicyDecision {
    const decision = super.decideOn(call, found, nowMs);
    if (decision.refusedBy !== null || this.#world.random() >= this.#world.rate) return decision;
    const now = this.look(call, nowMs);
    for (const use of this.usesOf(call)) {
      const amount = this.amount(call, use, null, found);
      if (amount !== null) this.charge(use.key, amount, nowMs, now.get(use.key.quota) as CountBefore);
    }
    return { ...decision, readings: this.usesOf(call).map(({ key }) => this.readOne(key, nowMs)) };
  }
}

/** Counts in 32 bits. */
class Overflow extends Counter {
  override charge(...[key, amount, nowMs, found]: Parameters<Counter["charge"]>): void {
    super.charge(key, amount, nowMs, found);
    if (this.isWindow(key)) this.window(key, nowMs).count >>>= 0;
  }
}

/** Checks the quotas in reverse order, and names the narrower one if both lack room. */
class RefusalNamesUser extends Counter {
  override refuserOf(call: PolicyCall, found: FoundAll): string | null {
    const lacks = (use: Use): boolean => this.isRefusing(use, found.get(use.key.quota) as CountBefore);
    return this.usesOf(call).toReversed().find(lacks)?.key.quota ?? null;
  }
}

class UnenforcedRefuses extends Counter {
  override mayRefuse(): boolean {
    return true;
  }
}

/**
 * Charges the policy's first operation for a look at the status. By rules a status names no user, and its answer is
 * charged.
 */
class StatusCharged extends Counter {
  override status(caller: CountedCaller, quotas: readonly string[], nowMs: number): readonly Reading[] {
    const [operation] = Object.keys(this.policy.operations);
    if (operation !== undefined) this.#charge({ caller, operation, cost: 1 }, nowMs);
    return this.read(caller, quotas, nowMs);
  }

  #charge(call: PolicyCall, nowMs: number): void {
    const filled = filledQuotas(this.policy, call.caller);
    if (this.usesOf(call).every(({ key }) => filled.includes(key.quota))) this.decide(call, nowMs);
  }
}

/** Returns a policy whose quotas charge otherwise. */
const charging = (policy: Policy, changed: (quota: string) => Partial<Charge>): Policy => ({
  ...policy,
  quotas: Object.fromEntries(
    Object.entries(policy.quotas).map(([name, quota]) => [
      name,
      { ...quota, charge: { ...quota.charge, ...changed(name) } },
    ]),
  ),
});

export const countingFaults: readonly FaultEntry[] = [
  {
    name: "race-read-then-write",
    wrong: "the count is read, then written: calls that overlap do not see each other",
    shows: "more is admitted than the limit; two calls are told the same remaining",
    seenIn: ["actix-ratelimit#16", "quart-rate-limiter#18"],
    nets: ["V"],
    rate: { default: 25, least: 1, most: 60_000, meaning: "ms between read and write, at most" },
    ...counted((policy, world) => new RacyStore(new Counter(policy), world)),
  },
  {
    name: "one-short",
    wrong: "a window admits one less than its limit",
    shows: "a call is refused with remaining 1",
    seenIn: ["tyk#48", "express-limiter#3"],
    nets: ["P", "V", "L"],
    ...counted((policy) => new OffByOne(policy, -1)),
  },
  {
    name: "one-extra",
    wrong: "a window admits one more than its limit",
    shows: "remaining -1, or 0 twice",
    seenIn: ["rack-ratelimit PR#3"],
    nets: ["P", "V", "L"],
    ...counted((policy) => new OffByOne(policy, 1)),
  },
  {
    name: "cost-ignored",
    wrong: "every call costs 1, whatever its points",
    shows: "GraphQL's remaining falls by 1 a call",
    seenIn: ["limits PR#152"],
    nets: ["P", "V", "L"],
    ...counted((policy) => new CostIgnored(policy), isDearer),
  },
  {
    name: "cost-over-limit-admitted",
    wrong: "a call that costs more than the whole limit is admitted",
    shows: "current above the limit, remaining below 0",
    seenIn: ["limits PR#152"],
    nets: ["P", "V"],
    // Under postpaid, any call that finds room is admitted at any cost.
    semantics: { graphqlCharge: ["reserved", "prepaid"] },
    ...counted((policy) => new CostOverLimitAdmitted(policy), isDeclared),
  },
  {
    name: "double-count",
    wrong: "an admitted call is charged twice",
    shows: "remaining falls by 2",
    seenIn: ["laravel#51967", "flask-limiter#108"],
    nets: ["P", "V", "L"],
    rate: { default: 1, least: 0.001, most: 1, meaning: "share of the calls" },
    ...counted((policy, world) => new DoubleCount(policy, world)),
  },
  {
    name: "refused-counted",
    wrong: "a refused call is charged to the window that refused it",
    shows: "current passes the limit",
    seenIn: ["WebApiThrottle#57"],
    nets: ["P", "V"],
    semantics: { refused: ["uncounted"] },
    ...counted((policy) => new Counter(charging(policy, () => ({ refused: "counted" })))),
  },
  {
    name: "narrow-drains-broad",
    wrong: "a call that the user's window refuses is charged to the organization's",
    shows: "the organization's gap equals the users' refusals",
    seenIn: ["envoyproxy/ratelimit#1060"],
    nets: ["P", "V"],
    semantics: { refusedByUser: ["charges-nothing"] },
    ...counted((policy) => {
      const broad = firstQuotas(policy);
      return new Counter(charging(policy, (name) => (broad.has(name) ? { refusedByOther: "charged" } : {})));
    }, hasTogether),
  },
  {
    name: "status-charged",
    wrong: "a status call is charged like any other",
    shows: "gaps equal the status calls",
    seenIn: ["github-api#802"],
    nets: ["P", "V", "L"],
    unfit: hasStatus,
    inject(policy) {
      const counters = new StatusCharged(policy);
      const store = rulesStore(policy, counters);
      return {
        store: counters,
        changeOwn(answer, { kind, organization, user, nowMs }) {
          if (kind !== "status") return answer;
          const charged = store.decide({ organization, user, scope: "rest", cost: 1 }, nowMs);
          const fields = { ...answer.headers, ...headers("rest", charged) };
          return { ...answer, headers: fields, body: statusBody(store.status(organization, nowMs)) };
        },
      };
    },
  },
  {
    name: "overflow",
    wrong: "counts wrap at 32 bits",
    shows: "remaining jumps to the limit",
    seenIn: ["systemd PR#27342"],
    nets: ["P"],
    ...counted((policy) => new Overflow(policy)),
  },
  {
    name: "refusal-names-user",
    wrong: "the user's window is asked first, and named where the organization's lacks room, too",
    shows: "a refusal by the user's window beside an organization's remaining of 0",
    nets: ["V"],
    ...counted((policy) => new RefusalNamesUser(policy), hasTogether),
  },
  {
    name: "unenforced-refuses",
    wrong: "an organization that is not enforced is refused all the same",
    shows: "429 while `enforced` is false",
    nets: ["P", "V"],
    ...counted((policy) => new UnenforcedRefuses(policy), hasUnenforced),
  },
];
