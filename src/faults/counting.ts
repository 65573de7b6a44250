// Faults in what is admitted, and in what is added to the counts.
import type { Call, Decision, Readings, Reservation, Status, WindowReading } from "../engine/adapter.ts";
import { Limiter } from "../engine/limiter.ts";
import type { Pending, SlowStore } from "../engine/store.ts";
import { type Owner, owners, type Rules, type Scope } from "../rules/rules.ts";
import { headers } from "../wire/answer.ts";
import { statusBody } from "../wire/bodies.ts";
import { Counter, type Found, keyOf, type WindowKey } from "./counter.ts";
import { around, deployed, switched } from "./deployed.ts";
import type { Fault, FaultWorld } from "./fault.ts";

/** Reads both counts when the call arrives, and writes them some ms later, whatever others wrote meanwhile. */
class RacyStore implements SlowStore {
  readonly #counter: Counter;
  readonly #world: FaultWorld;

  constructor(counter: Counter, world: FaultWorld) {
    this.#counter = counter;
    this.#world = world;
  }

  decide(call: Call, nowMs: number): Pending<Decision> {
    const read = this.#counter.look(call, nowMs);
    return {
      waitMs: Math.ceil(this.#world.random() * this.#world.rate),
      resume: (laterMs) => this.#decideOn(call, read, laterMs),
    };
  }

  #decideOn(call: Call, read: Readonly<Record<Owner, Found>>, nowMs: number): Decision {
    const now = this.#counter.look(call, nowMs);
    // A window that has ended since is gone with its count.
    const ended = (owner: Owner): boolean => read[owner].resetAtMs !== 0 && nowMs >= read[owner].resetAtMs;
    const found = (owner: Owner): Found => (ended(owner) ? now[owner] : read[owner]);
    const all = { organization: found("organization"), user: found("user") };
    const decision = this.#counter.decideOn(call, all, nowMs);
    // Nothing was written: what was read is what is told.
    const told = (owner: Owner): WindowReading => {
      if (decision.admitted || this.#counter.amount(call, owner, decision.refusedBy) !== null)
        return decision[owner];
      const { count } = all[owner];
      const remaining = this.#counter.remaining(keyOf(call, owner), count);
      return { ...decision[owner], current: count, remaining };
    };
    return { ...decision, organization: told("organization"), user: told("user") };
  }

  settle(reservation: Reservation, actual: number, nowMs: number): Readings {
    return this.#counter.settle(reservation, actual, nowMs);
  }

  status(organization: string, nowMs: number): Status {
    return this.#counter.status(organization, nowMs);
  }

  readings(organization: string, user: string, scope: Scope, nowMs: number): Readings {
    return this.#counter.readings(organization, user, scope, nowMs);
  }

  sweep(nowMs: number): void {
    this.#counter.sweep(nowMs);
  }
}

/** Compares with another limit than it shows. */
class OffByOne extends Counter {
  readonly #more: number;

  constructor(rules: Rules, more: number) {
    super(rules);
    this.#more = more;
  }

  override hasRoom(key: WindowKey, cost: number, found: Found): boolean {
    return super.hasRoom(key, cost, { ...found, count: found.count - this.#more });
  }
}

class CostOverLimitAdmitted extends Counter {
  override hasRoom(key: WindowKey, cost: number, found: Found): boolean {
    return cost > this.limitOf(key).limit || super.hasRoom(key, cost, found);
  }
}

class DoubleCount extends Counter {
  readonly #world: FaultWorld;

  constructor(rules: Rules, world: FaultWorld) {
    super(rules);
    this.#world = world;
  }

  override decideOn(call: Call, found: Readonly<Record<Owner, Found>>, nowMs: number): Decision {
    const decision = super.decideOn(call, found, nowMs);
    if (!decision.admitted || this.#world.random() >= this.#world.rate) return decision;
    for (const owner of owners) {
      const key = keyOf(call, owner);
      const amount = this.amount(call, owner, null);
      if (amount !== null) this.charge(key, amount, nowMs, this.window(key, nowMs));
    }
    return { ...decision, ...this.readings(call.organization, call.user, call.scope, nowMs) };
  }
}

/** Counts in 32 bits. */
class Overflow extends Counter {
  override charge(key: WindowKey, amount: number, nowMs: number, found: Found): void {
    super.charge(key, amount, nowMs, found);
    this.window(key, nowMs).count >>>= 0;
  }
}

/** Asks the user's window first, and names it where the organization's lacks room, too. */
class RefusalNamesUser extends Counter {
  override refuserOf(call: Call, found: Readonly<Record<Owner, Found>>): Owner | null {
    const lacks = (owner: Owner): boolean =>
      this.mayRefuse(call, owner) && !this.hasRoom(keyOf(call, owner), call.cost, found[owner]);
    return lacks("user") ? "user" : lacks("organization") ? "organization" : null;
  }
}

class UnenforcedRefuses extends Counter {
  override mayRefuse(): boolean {
    return true;
  }
}

export const countingFaults: readonly Fault[] = [
  {
    name: "race-read-then-write",
    wrong: "the count is read, then written: calls that overlap do not see each other",
    shows: "more is admitted than the limit; two calls are told the same remaining",
    seenIn: ["actix-ratelimit#16", "quart-rate-limiter#18"],
    nets: ["V"],
    rate: { default: 25, least: 1, most: 60_000, meaning: "ms between read and write, at most" },
    processes: "one",
    inject(rules, world) {
      const counter = new Counter(rules);
      return deployed(counter, new RacyStore(counter, world));
    },
  },
  {
    name: "one-short",
    wrong: "a window admits one less than its limit",
    shows: "a call is refused with remaining 1",
    seenIn: ["tyk#48", "express-limiter#3"],
    nets: ["P", "V", "L"],
    rate: null,
    processes: "one",
    inject: (rules) => deployed(new OffByOne(rules, -1)),
  },
  {
    name: "one-extra",
    wrong: "a window admits one more than its limit",
    shows: "remaining -1, or 0 twice",
    seenIn: ["rack-ratelimit PR#3"],
    nets: ["P", "V", "L"],
    rate: null,
    processes: "one",
    inject: (rules) => deployed(new OffByOne(rules, 1)),
  },
  {
    name: "cost-ignored",
    wrong: "every call costs 1, whatever its points",
    shows: "GraphQL's remaining falls by 1 a call",
    seenIn: ["limits PR#152"],
    nets: ["P", "V", "L"],
    rate: null,
    processes: "one",
    inject: (rules) =>
      around(rules, (limiter) => ({
        decide: (call, nowMs) => limiter.decide({ ...call, cost: 1 }, nowMs),
        settle: (reservation, _actual, nowMs) => limiter.settle(reservation, 1, nowMs),
      })),
  },
  {
    name: "cost-over-limit-admitted",
    wrong: "a call that costs more than the whole limit is admitted",
    shows: "current above the limit, remaining below 0",
    seenIn: ["limits PR#152"],
    nets: ["P", "V"],
    rate: null,
    processes: "one",
    // Under postpaid whatever finds room is admitted, at any cost.
    semantics: { graphqlCharge: ["reserved", "prepaid"] },
    inject: (rules) => deployed(new CostOverLimitAdmitted(rules)),
  },
  {
    name: "double-count",
    wrong: "an admitted call is charged twice",
    shows: "remaining falls by 2",
    seenIn: ["laravel#51967", "flask-limiter#108"],
    nets: ["P", "V", "L"],
    rate: { default: 1, least: 0.001, most: 1, meaning: "share of the calls" },
    processes: "one",
    inject: (rules, world) => deployed(new DoubleCount(rules, world)),
  },
  {
    name: "refused-counted",
    wrong: "a refused call is charged to the window that refused it",
    shows: "current passes the limit",
    seenIn: ["WebApiThrottle#57"],
    nets: ["P", "V"],
    rate: null,
    processes: "one",
    semantics: { refused: ["uncounted"] },
    inject: (rules) => switched(rules, "refused", "counted"),
  },
  {
    name: "narrow-drains-broad",
    wrong: "a call that the user's window refuses is charged to the organization's",
    shows: "the organization's gap equals the users' refusals",
    seenIn: ["envoyproxy/ratelimit#1060"],
    nets: ["P", "V"],
    rate: null,
    processes: "one",
    semantics: { refusedByUser: ["charges-nothing"] },
    inject: (rules) => switched(rules, "refusedByUser", "charges-organization"),
  },
  {
    name: "status-charged",
    wrong: "a status call is charged like any other",
    shows: "gaps equal the status calls",
    seenIn: ["github-api#802"],
    nets: ["P", "V", "L"],
    rate: null,
    processes: "one",
    inject(rules) {
      const limiter = new Limiter(rules);
      return {
        ...deployed(limiter),
        change(answer, { kind, organization, user, nowMs }) {
          if (kind !== "status") return answer;
          const charged = limiter.decide({ organization, user, scope: "rest", cost: 1 }, nowMs);
          const fields = { ...answer.headers, ...headers("rest", charged) };
          return { ...answer, headers: fields, body: statusBody(limiter.status(organization, nowMs)) };
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
    rate: null,
    processes: "one",
    inject: (rules) => deployed(new Overflow(rules)),
  },
  {
    name: "refusal-names-user",
    wrong: "the user's window is asked first, and named where the organization's lacks room, too",
    shows: "a refusal by the user's window beside an organization's remaining of 0",
    seenIn: [],
    nets: ["V"],
    rate: null,
    processes: "one",
    inject: (rules) => deployed(new RefusalNamesUser(rules)),
  },
  {
    name: "unenforced-refuses",
    wrong: "an organization that is not enforced is refused all the same",
    shows: "429 while `enforced` is false",
    seenIn: [],
    nets: ["P", "V"],
    rate: null,
    processes: "one",
    inject: (rules) => deployed(new UnenforcedRefuses(rules)),
  },
];
