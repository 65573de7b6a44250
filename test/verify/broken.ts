// Deployments that are wrong on purpose, one fault each, to see what the oracle makes of their traces. Most are the
// engine with one thing changed around it; where the window's own arithmetic is wrong there is a plain counter.
import type {
  Call,
  Decision,
  Readings,
  Reservation,
  Status,
  WindowReading,
} from "../../src/engine/adapter.ts";
import { Limiter } from "../../src/engine/limiter.ts";
import { type Owner, organizationLimit, type Rules, type Scope, userLimit } from "../../src/rules/rules.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import type { Suspect } from "../../src/verify/suspects.ts";
import type { Context, Target } from "./history.ts";
import { bare } from "./traces.ts";

/** A fault: what answers, and what it does to answers on their way. */
export interface Broken {
  readonly fault: Suspect;
  /** It is made of the plain counter, whose windows are the epoch's: other rules would be a second fault. */
  readonly epochOnly?: boolean;
  make(rules: Rules): Target;
  change?(call: TraceCall): TraceCall;
}

/** The engine, with some of its answers replaced. */
function engine(rules: Rules, changes: (limiter: Limiter) => Partial<Target>): Target {
  const limiter = new Limiter(rules);
  return {
    decide: (call, now) => limiter.decide(call, now),
    settle: (reservation, actual, now) => limiter.settle(reservation, actual, now),
    status: (organization, now) => limiter.status(organization, now),
    readings: (organization, user, scope, now) => limiter.readings(organization, user, scope, now),
    setEnforced: (organization, scope, enforced) => limiter.setEnforced(organization, scope, enforced),
    ...changes(limiter),
  };
}

const withSemantics = (rules: Rules, semantics: Partial<Rules["semantics"]>): Rules => ({
  ...rules,
  semantics: { ...rules.semantics, ...semantics },
});
const both = <T>(value: T): { rest: T; graphql: T } => ({ rest: value, graphql: value });

/** Every reading that leaves the engine, changed. */
function showing(
  rules: Rules,
  change: (reading: WindowReading, owner: Owner, now: number) => WindowReading,
): Target {
  const readings = ({ organization, user }: Readings, now: number): Readings => ({
    organization: change(organization, "organization", now),
    user: change(user, "user", now),
  });
  return engine(rules, (limiter) => ({
    decide(call, now) {
      const decision = limiter.decide(call, now);
      return { ...decision, ...readings(decision, now) };
    },
    settle: (reservation, actual, now) => readings(limiter.settle(reservation, actual, now), now),
    readings: (organization, user, scope, now) =>
      readings(limiter.readings(organization, user, scope, now), now),
    status(organization, now) {
      const { rest, graphql } = limiter.status(organization, now);
      return { rest: change(rest, "organization", now), graphql: change(graphql, "organization", now) };
    },
  }));
}

/** A fixed-window counter without the engine's care; each fault replaces one of its methods. */
class Counter implements Target {
  readonly rules: Rules;
  readonly windows = new Map<
    string,
    { resetAt: number; count: number; touched: number; log: [number, number][] }
  >();

  constructor(rules: Rules) {
    this.rules = rules;
  }

  limit(org: string, user: string | null, scope: Scope): { limit: number; lengthMs: number } {
    const { limit, windowSeconds } =
      user === null ? organizationLimit(this.rules, org, scope) : userLimit(this.rules, org, user, scope);
    return { limit, lengthMs: windowSeconds * 1000 };
  }

  window(key: string, lengthMs: number, now: number) {
    let window = this.windows.get(key);
    if (window === undefined) {
      window = { resetAt: now - (now % lengthMs) + lengthMs, count: 0, touched: now, log: [] };
      this.windows.set(key, window);
    }
    this.roll(window, lengthMs, now);
    return window;
  }

  roll(window: { resetAt: number; count: number }, lengthMs: number, now: number): void {
    if (now < window.resetAt) return;
    window.count = 0;
    window.resetAt = now - (now % lengthMs) + lengthMs;
  }

  /** Returns the number that a decision takes for the count. */
  seen(window: { count: number; log: [number, number][] }, _now: number, _arrivedMs: number): number {
    return window.count;
  }

  #at(org: string, user: string | null, scope: Scope, now: number) {
    const { limit, lengthMs } = this.limit(org, user, scope);
    return { limit, lengthMs, window: this.window(`${org}/${user}/${scope}`, lengthMs, now) };
  }

  #reading(org: string, user: string | null, scope: Scope, now: number): WindowReading {
    const { limit, window } = this.#at(org, user, scope, now);
    return {
      limit,
      current: window.count,
      remaining: Math.max(0, limit - window.count),
      reset: Math.ceil((window.resetAt - now) / 1000),
      resetAtMs: window.resetAt,
      enforced: true,
    };
  }

  readings(org: string, user: string, scope: Scope, now: number): Readings {
    return { organization: this.#reading(org, null, scope, now), user: this.#reading(org, user, scope, now) };
  }

  decide(call: Call, now: number, { arrivedMs }: Context): Decision {
    const { organization: org, user, scope, cost } = call;
    const broad = this.#at(org, null, scope, now);
    const narrow = this.#at(org, user, scope, now);
    const seen = [broad, narrow].map(({ window }) => this.seen(window, now, arrivedMs));
    const refusedBy =
      (seen[0] ?? 0) + cost > broad.limit
        ? "organization"
        : (seen[1] ?? 0) + cost > narrow.limit
          ? "user"
          : null;
    if (refusedBy === null)
      for (const [index, { window }] of [broad, narrow].entries()) {
        window.count = (seen[index] ?? 0) + cost;
        window.log.push([now, window.count]);
      }
    const readings = this.readings(org, user, scope, now);
    const admitted = refusedBy === null;
    const reservation =
      admitted && scope === "graphql"
        ? ({
            organization: org,
            user,
            scope,
            requested: cost,
            organizationWindow: broad.window.resetAt,
            userWindow: narrow.window.resetAt,
          } as const)
        : null;
    return { admitted, refusedBy, ...readings, reservation };
  }

  settle(
    { organization, user, requested, organizationWindow, userWindow }: Reservation,
    actual: number,
    now: number,
  ): Readings {
    if (this.rules.semantics.graphqlCharge.graphql === "reserved")
      for (const [name, resetAt] of [
        [null, organizationWindow],
        [user, userWindow],
      ] as const) {
        const { window } = this.#at(organization, name, "graphql", now);
        if (window.resetAt === resetAt) window.count -= requested - actual;
      }
    return this.readings(organization, user, "graphql", now);
  }

  status(org: string, now: number): Status {
    return { rest: this.#reading(org, null, "rest", now), graphql: this.#reading(org, null, "graphql", now) };
  }

  setEnforced(): void {}
}

/** Counts as they were when the call arrived: whatever was written since is overwritten. */
class Racy extends Counter {
  override seen(
    window: { count: number; log: [number, number][]; resetAt: number },
    now: number,
    arrivedMs: number,
  ): number {
    let count = window.count;
    for (let index = window.log.length - 1; index >= 0; index--) {
      const [at] = window.log[index] ?? [0, 0];
      if (at <= arrivedMs) break;
      count = window.log[index - 1]?.[1] ?? 0;
    }
    return now - arrivedMs > 5000 ? window.count : count;
  }

  override roll(
    window: { resetAt: number; count: number; log: [number, number][] },
    lengthMs: number,
    now: number,
  ): void {
    if (now >= window.resetAt) window.log = [];
    super.roll(window, lengthMs, now);
  }
}

class OldCount extends Counter {
  override roll(window: { resetAt: number; count: number }, lengthMs: number, now: number): void {
    const { count } = window;
    if (now < window.resetAt) return;
    super.roll(window, lengthMs, now);
    // Every third window is forgotten to be emptied.
    if ((window.resetAt / lengthMs) % 3 === 0) window.count = count;
  }
}

class NeverExpires extends Counter {
  override roll(window: { resetAt: number; count: number }, lengthMs: number, now: number): void {
    if (now >= window.resetAt) window.resetAt = now - (now % lengthMs) + lengthMs;
  }
}

class Rearmed extends Counter {
  override roll(window: { resetAt: number; count: number }, lengthMs: number, now: number): void {
    if (now >= window.resetAt) window.count = 0;
    window.resetAt = now - (now % 1000) + lengthMs;
  }
}

class RollsTwice extends Counter {
  override roll(
    window: { resetAt: number; count: number; touched: number },
    lengthMs: number,
    now: number,
  ): void {
    super.roll(window, lengthMs, now);
    const half = Math.floor((now + lengthMs / 2) / lengthMs);
    if (window.touched !== half && now > window.resetAt - lengthMs / 2) {
      window.count = 0;
      window.touched = half;
    }
  }
}

class Swept extends Counter {
  #sweptAt = 0;

  override window(key: string, lengthMs: number, now: number) {
    const period = Math.floor((now + 1700) / 4000);
    if (this.#sweptAt !== 0 && period !== this.#sweptAt)
      for (const window of this.windows.values()) window.count = 0;
    this.#sweptAt = period;
    return super.window(key, lengthMs, now);
  }
}

/** The last value of `take` that is at least `lagMs` old. */
class Replica<T> {
  readonly #values: { at: number; value: T }[] = [];

  add(at: number, value: T): void {
    this.#values.push({ at, value });
  }

  read(now: number, lagMs: number, fallback: T): T {
    return this.#values.findLast(({ at }) => at <= now - lagMs)?.value ?? fallback;
  }
}

const limits = (rules: Rules, change: (limit: number) => number): Rules => {
  const of = <T extends { limit: number }>(window: T): T => ({
    ...window,
    limit: Math.max(1, change(window.limit)),
  });
  return {
    ...rules,
    organization: { rest: of(rules.organization.rest), graphql: of(rules.organization.graphql) },
    user: { rest: of(rules.user.rest), graphql: of(rules.user.graphql) },
  };
};

/** Admits by other limits than it shows. */
const secretly = (rules: Rules, change: (limit: number) => number): Target => {
  const lax = limits(rules, change);
  return showingOf(lax, (reading, owner, _now, org, user, scope) => {
    const { limit } =
      owner === "organization" ? organizationLimit(rules, org, scope) : userLimit(rules, org, user, scope);
    return { ...reading, limit, remaining: Math.max(0, limit - reading.current) };
  });
};

function showingOf(
  rules: Rules,
  change: (
    reading: WindowReading,
    owner: Owner,
    now: number,
    org: string,
    user: string,
    scope: Scope,
  ) => WindowReading,
): Target {
  const readings = (all: Readings, now: number, org: string, user: string, scope: Scope): Readings => ({
    organization: change(all.organization, "organization", now, org, user, scope),
    user: change(all.user, "user", now, org, user, scope),
  });
  return engine(rules, (limiter) => ({
    decide(call, now) {
      const decision = limiter.decide(call, now);
      return { ...decision, ...readings(decision, now, call.organization, call.user, call.scope) };
    },
    settle: (reservation, actual, now) =>
      readings(
        limiter.settle(reservation, actual, now),
        now,
        reservation.organization,
        reservation.user,
        "graphql",
      ),
    readings: (org, user, scope, now) =>
      readings(limiter.readings(org, user, scope, now), now, org, user, scope),
    status(org, now) {
      const { rest, graphql } = limiter.status(org, now);
      return {
        rest: change(rest, "organization", now, org, "", "rest"),
        graphql: change(graphql, "organization", now, org, "", "graphql"),
      };
    },
  }));
}

/** Several limiters, and which one answers; their windows are moved against each other by `shiftMs`. */
function instances(rules: Rules, count: number, shiftMs: number): Target {
  const all = Array.from({ length: count }, () => new Limiter(rules));
  const of = (instance: number): Limiter => all[instance % count] ?? new Limiter(rules);
  const shift = (instance: number): number => (instance % count) * shiftMs;
  const owners = new WeakMap<Reservation, number>();
  const moved = (reading: WindowReading, instance: number): WindowReading => ({
    ...reading,
    resetAtMs: reading.resetAtMs - shift(instance),
  });
  const both = ({ organization, user }: Readings, instance: number): Readings => ({
    organization: moved(organization, instance),
    user: moved(user, instance),
  });
  let last = 0;
  return {
    decide(call, now, { instance }) {
      last = instance;
      const decision = of(instance).decide(call, now + shift(instance));
      if (decision.reservation !== null) owners.set(decision.reservation, instance);
      return { ...decision, ...both(decision, instance) };
    },
    settle(reservation, actual, now) {
      const instance = owners.get(reservation) ?? 0;
      return both(of(instance).settle(reservation, actual, now + shift(instance)), instance);
    },
    status(org, now, { instance }) {
      const { rest, graphql } = of(instance).status(org, now + shift(instance));
      return { rest: moved(rest, instance), graphql: moved(graphql, instance) };
    },
    readings: (org, user, scope, now) =>
      both(of(last + 1).readings(org, user, scope, now + shift(last + 1)), last + 1),
    setEnforced(org, scope, enforced) {
      for (const limiter of all) limiter.setEnforced(org, scope, enforced);
    },
  };
}

/** Right deployments in the fixtures' clothes: what they are made of is not what is caught. */
export const controls: readonly (Omit<Broken, "fault"> & { readonly name: string })[] = [
  { name: "the plain counter", make: (rules) => new Counter(rules), epochOnly: true },
  { name: "the engine, its answers passed on", make: (rules) => showing(rules, (reading) => reading) },
  { name: "one instance", make: (rules) => instances(rules, 1, 0) },
];

/** The faults that a trace can show. */
export const brokenDeployments: readonly Broken[] = [
  { fault: "race-read-then-write", make: (rules) => new Racy(rules), epochOnly: true },
  { fault: "per-instance-counters", make: (rules) => instances(rules, 2, 0) },
  { fault: "two-interleaved-windows", make: (rules) => instances(rules, 2, 7_000) },
  { fault: "new-reset-old-count", make: (rules) => new OldCount(rules), epochOnly: true },
  { fault: "lost-expiry", make: (rules) => new NeverExpires(rules), epochOnly: true },
  { fault: "rearmed-per-hit", make: (rules) => new Rearmed(rules), epochOnly: true },
  { fault: "double-roll", make: (rules) => new RollsTwice(rules), epochOnly: true },
  { fault: "reset-all-sweep", make: (rules) => new Swept(rules), epochOnly: true },
  {
    fault: "stale-replica-read",
    make: (rules) => {
      const replica = new Replica<Status>();
      return engine(rules, (limiter) => ({
        decide(call, now) {
          const decision = limiter.decide(call, now);
          replica.add(now, limiter.status(call.organization, now));
          return decision;
        },
        status(org, now) {
          const fresh = limiter.status(org, now);
          const old = replica.read(now, 700, fresh);
          const of = (scope: Scope): WindowReading =>
            old[scope].resetAtMs === fresh[scope].resetAtMs
              ? { ...fresh[scope], current: old[scope].current, remaining: old[scope].remaining }
              : fresh[scope];
          return { rest: of("rest"), graphql: of("graphql") };
        },
      }));
    },
  },
  { fault: "one-extra", make: (rules) => secretly(rules, (limit) => limit + 1) },
  { fault: "one-short", make: (rules) => secretly(rules, (limit) => limit - 1) },
  {
    fault: "cost-ignored",
    make: (rules) =>
      engine(rules, (limiter) => ({
        decide: (call, now) => limiter.decide({ ...call, cost: 1 }, now),
        settle: ({ organization, user }, _, now) => limiter.readings(organization, user, "graphql", now),
      })),
  },
  {
    fault: "double-count",
    make: (rules) =>
      engine(rules, (limiter) => ({
        decide(call, now) {
          const first = limiter.decide(call, now);
          if (!first.admitted) return first;
          const second = limiter.decide(call, now);
          return { ...first, organization: second.organization, user: second.user };
        },
      })),
  },
  {
    fault: "refused-counted",
    make: (rules) => engine(withSemantics(rules, { refused: both("counted") }), () => ({})),
  },
  {
    fault: "narrow-drains-broad",
    make: (rules) =>
      engine(withSemantics(rules, { refusedByUser: both("charges-organization") }), () => ({})),
  },
  {
    fault: "status-charged",
    make: (rules) => {
      let caller = "";
      return engine(rules, (limiter) => ({
        readings(org, user, scope, now) {
          caller = user;
          limiter.decide({ organization: org, user, scope: "rest", cost: 1 }, now);
          return limiter.readings(org, user, scope, now);
        },
        status: (org, now) => (caller === "" ? limiter.status(org, now) : limiter.status(org, now)),
      }));
    },
  },
  {
    fault: "status-pristine",
    make: (rules) =>
      engine(rules, (limiter) => ({
        status(org, now) {
          const pristine = (reading: WindowReading) => ({ ...reading, current: 0, remaining: reading.limit });
          const { rest, graphql } = limiter.status(org, now);
          return { rest: pristine(rest), graphql: pristine(graphql) };
        },
      })),
  },
  {
    fault: "status-shares-user",
    make: (rules) =>
      engine(rules, (limiter) => ({
        status(org, now, { user }) {
          const of = (scope: Scope): WindowReading => {
            const { organization, user: own } = limiter.readings(org, user, scope, now);
            return { ...organization, current: own.current, remaining: organization.limit - own.current };
          };
          return { rest: of("rest"), graphql: of("graphql") };
        },
      })),
  },
  {
    fault: "wrong-user-key",
    make: (rules) =>
      engine(rules, (limiter) => ({
        decide: (call, now) => limiter.decide({ ...call, user: "everyone" }, now),
        readings: (org, _, scope, now) => limiter.readings(org, "everyone", scope, now),
      })),
  },
  {
    fault: "scopes-mixed",
    make: (rules) =>
      engine(rules, (limiter) => ({
        decide(call, now) {
          const other = call.scope === "rest" ? "graphql" : "rest";
          const decision = limiter.decide(call, now);
          if (decision.admitted) limiter.decide({ ...call, scope: other, cost: 1 }, now);
          return decision;
        },
      })),
  },
  {
    fault: "headers-missing-on-429",
    make: (rules) => new Limiter(rules),
    change: (call) => (call.status === 429 ? { ...call, ...bare } : call),
  },
  {
    fault: "headers-missing-on-status",
    make: (rules) => new Limiter(rules),
    change: (call) => (call.kind === "status" ? { ...call, ...bare } : call),
  },
  {
    fault: "headers-doubled",
    make: (rules) => new Limiter(rules),
    change: (call) => ({
      ...call,
      scopeName: `${call.scopeName}, ${call.scopeName}`,
      limit: `${call.limit}, ${call.limit}`,
      remaining: `${call.remaining}, ${call.remaining}`,
      reset: `${call.reset}, ${call.reset}`,
      userScopeName: `${call.userScopeName}, ${call.userScopeName}`,
      userLimit: `${call.userLimit}, ${call.userLimit}`,
      userRemaining: `${call.userRemaining}, ${call.userRemaining}`,
      userReset: `${call.userReset}, ${call.userReset}`,
    }),
  },
  {
    fault: "wrong-scope-header",
    make: (rules) => new Limiter(rules),
    change: (call) => (call.userScopeName === "rest_user" ? { ...call, userScopeName: "rest" } : call),
  },
  {
    fault: "reset-in-ms",
    make: (rules) => showing(rules, (reading, _, now) => ({ ...reading, reset: reading.resetAtMs - now })),
  },
  {
    fault: "reset-epoch",
    make: (rules) => showing(rules, (reading) => ({ ...reading, reset: reading.resetAtMs / 1000 })),
  },
  {
    fault: "reset-truncated",
    make: (rules) => engine(withSemantics(rules, { reset: both("floor") }), () => ({})),
  },
  {
    fault: "reset-negative",
    make: (rules) => showing(rules, (reading) => ({ ...reading, reset: reading.reset - 2 })),
  },
  {
    fault: "reset-at-drifts",
    make: (rules) =>
      engine(rules, (limiter) => ({
        status(org, now) {
          const of = (reading: WindowReading): WindowReading => ({
            ...reading,
            resetAtMs: Math.round((now + reading.reset * 1000) / 1000) * 1000,
          });
          const { rest, graphql } = limiter.status(org, now);
          return { rest: of(rest), graphql: of(graphql) };
        },
      })),
  },
  {
    fault: "reset-disagrees",
    make: (rules) =>
      engine(rules, (limiter) => ({
        status(org, now) {
          const { rest, graphql } = limiter.status(org, now);
          return { rest, graphql: { ...graphql, resetAtMs: graphql.resetAtMs - 64_000 } };
        },
      })),
  },
  {
    fault: "remaining-of-laxer-window",
    make: (rules) =>
      showing(rules, (reading, owner) =>
        owner === "user"
          ? { ...reading, remaining: reading.remaining + reading.limit, limit: reading.limit * 2 }
          : reading,
      ),
  },
  {
    fault: "limit-changes-mid-window",
    make: (rules) =>
      showing(rules, (reading, owner, now) =>
        owner === "organization" && now % 7000 > 3500
          ? { ...reading, limit: reading.limit + 5, remaining: reading.remaining + 5 }
          : reading,
      ),
  },
  { fault: "skewed-nodes", make: (rules) => skewed(rules, 10_000) },
  {
    fault: "refusal-names-user",
    make: (rules) =>
      engine(rules, (limiter) => ({
        decide(call, now) {
          const decision = limiter.decide(call, now);
          const lacks = decision.user.remaining < Math.max(1, call.cost);
          return decision.refusedBy === "organization" && lacks
            ? { ...decision, refusedBy: "user" as const }
            : decision;
        },
      })),
  },
  {
    fault: "unenforced-refuses",
    make: (rules) =>
      engine(rules, (limiter) => ({
        status(org, now) {
          const { rest, graphql } = limiter.status(org, now);
          return { rest: { ...rest, enforced: false }, graphql: { ...graphql, enforced: false } };
        },
      })),
  },
];

/** One store, and nodes whose clocks are apart: each shows the window by its own clock. */
function skewed(rules: Rules, skewMs: number): Target {
  const limiters = new Map<number, Limiter>([0, 1].map((node) => [node, new Limiter(rules)]));
  const of = (node: number): Limiter => limiters.get(node % 2) ?? new Limiter(rules);
  const shift = (node: number): number => (node % 2) * skewMs;
  let last = 0;
  return {
    decide(call, now, { instance }) {
      last = instance;
      // Both nodes write to the window that their own clock names; one window name, one count.
      const decision = of(instance).decide(call, now + shift(instance));
      if (decision.admitted) of(instance + 1).decide(call, now + shift(instance + 1));
      return decision;
    },
    settle: (reservation, actual, now) => of(0).settle(reservation, actual, now),
    status: (org, now, { instance }) => of(instance).status(org, now + shift(instance)),
    readings: (org, user, scope, now) => of(last).readings(org, user, scope, now + shift(last)),
    setEnforced() {},
  };
}
