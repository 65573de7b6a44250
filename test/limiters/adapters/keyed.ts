// Parts that the adapters share: strangers keep one window a key, here one for each user of an organization, all of
// the same limit and length; and they read a clock of the process, which is ours while they run.

import {
  type Call,
  type LimiterAdapter,
  type LimiterFactory,
  type Seam,
  stillSeam,
  type WindowReading,
} from "../../../src/engine/adapter.ts";
import type { Algorithm } from "../../../src/rules/algorithms.ts";
import type { LimiterLawName } from "../../../src/rules/laws.ts";
import { type Rules, type Scope, userLimit } from "../../../src/rules/rules.ts";
import { VirtualClock } from "../../../src/runs/virtual-clock.ts";
import type { RealRedis } from "../redis.ts";

/** One clock for all of them: some read it once, when they are loaded. */
export const clock = new VirtualClock();

export interface Limit {
  readonly limit: number;
  readonly windowMs: number;
}

/** The one limit of all keys, by scope. */
export function limitOf(rules: Rules, scope: Scope): Limit {
  const { limit, windowSeconds } = userLimit(rules, "", "", scope);
  return { limit, windowMs: windowSeconds * 1000 };
}

export const keyOf = ({ organization, user }: Call): string => `${organization}/${user}`;

/** An adapter's word on a call's window. */
export interface Said extends Partial<WindowReading> {
  readonly admitted: boolean;
  /** Wait that a refusal tells, ms. */
  readonly retryAfterMs?: number;
}

export interface Keyed {
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly claims: readonly LimiterLawName[];
  readonly scopes: readonly Scope[];
  readonly semantics: NonNullable<LimiterFactory["semantics"]>;
  /** Makes one limiter, with the clock set; its answers are awaited with the clock in place. */
  create(rules: Rules, seam: Seam): Asks | Promise<Asks>;
  /** Makes one that goes on from what another's `snapshot` gave. */
  readonly restore?: (rules: Rules, snapshot: unknown) => Asks;
  /** No timer fires: a process that is frozen between requests, as an edge function's is. */
  readonly frozen?: boolean;
  /** A window's last instant is still of it: Redis keeps a key for the millisecond in which it ends. */
  readonly endsLate?: boolean;
  /** The check finds out where its windows begin. */
  readonly anchorUnsaid?: boolean;
  /** Redis that holds its keys: empty at first, and at our time. `null` if they are in memory. */
  readonly redis?: RealRedis | null;
}

export interface Asks {
  decide(call: Call, nowMs: number): Said | Promise<Said>;
  /** Reads a key's windows without a call. */
  status?(key: string, nowMs: number): Promise<{ [S in Scope]?: Partial<WindowReading> }>;
  /** Everything it remembers, as plain JSON. */
  snapshot?(): unknown;
  close?(): unknown;
}

/** The semantics that a limiter by key cannot have otherwise: each call is charged at its decision. */
const always: NonNullable<LimiterFactory["semantics"]> = {
  refusedByUser: ["charges-nothing"],
  graphqlCharge: ["prepaid"],
  remaining: ["clamped"],
  reset: ["ceil"],
  userEnforced: ["always"],
};

/** One limiter as the laws ask it, with our clock in place of the process's while it is asked. */
function adapterOf(limiter: Asks): LimiterAdapter {
  const { snapshot, status } = limiter;
  return {
    decide: async (call, nowMs) => {
      const said = await clock.during(async () => limiter.decide(call, nowMs));
      const { admitted, retryAfterMs, ...user } = said;
      return { admitted, refusedBy: admitted ? null : "user", retryAfterMs, user };
    },
    ...(status === undefined
      ? {}
      : {
          status: (organization: string, nowMs: number, user: string) =>
            clock.during(() => status(`${organization}/${user}`, nowMs)),
        }),
    ...(snapshot === undefined ? {} : { snapshot: () => clock.during(() => snapshot.call(limiter)) }),
    close: async () => {
      await clock.during(async () => limiter.close?.());
      clock.clear();
    },
  };
}

/** A factory by key, whose limiters run with our clock in place of the process's. */
export function keyedFactory(keyed: Keyed): LimiterFactory {
  const {
    name,
    algorithm,
    claims,
    scopes,
    semantics,
    create,
    restore,
    redis,
    frozen = false,
    endsLate = false,
    anchorUnsaid = false,
  } = keyed;
  return {
    name,
    algorithm,
    claims,
    scopes,
    semantics: { ...always, ...semantics },
    keyed: true,
    opensToMs: 1,
    endsLate,
    anchorUnsaid,
    setNow: (nowMs) => {
      redis?.setNow(nowMs);
      return clock.advance(nowMs);
    },
    create: async (rules, seam = stillSeam) => {
      await redis?.clear();
      clock.clear();
      clock.frozen = frozen;
      return adapterOf(await clock.during(async () => create(rules, seam)));
    },
    ...(restore === undefined
      ? {}
      : { restore: (rules, snapshot) => adapterOf(clock.during(() => restore(rules, snapshot))) }),
  };
}

/** Parts in which limiters of REST calls differ from package to package. */
interface RestKind extends Pick<Keyed, "endsLate" | "redis"> {
  readonly algorithm?: Algorithm;
  readonly refused?: "counted" | "uncounted";
}

/** A factory of windows of REST calls by key, each from its first call, in which refused calls count, unless told. */
export function restLimiter(
  name: string,
  claims: readonly LimiterLawName[],
  create: (limit: Limit, seam: Seam) => Asks | Promise<Asks>,
  { algorithm = "fixed-window", refused = "counted", ...more }: RestKind = {},
): LimiterFactory {
  return keyedFactory({
    name,
    algorithm,
    claims,
    scopes: ["rest"],
    semantics: { anchor: ["first-request"], refused: [refused] },
    create: (rules, seam) => create(limitOf(rules, "rest"), seam),
    ...more,
  });
}

/** A limiter that is asked by a key alone, and says yes or no, or more. */
export const answering = (
  answer: (key: string, nowMs: number) => boolean | Said | Promise<boolean | Said>,
): Asks => ({
  decide: async (call, nowMs) => {
    const said = await answer(keyOf(call), nowMs);
    return typeof said === "boolean" ? { admitted: said } : said;
  },
});

/** One for each key, made when the key is first met. */
export function byKey<T>(make: () => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const one = known.get(key) ?? make();
    known.set(key, one);
    return one;
  };
}

/** Reads three headers, by their names behind the prefix; one that was not sent is left out. */
export function headersSay(headerOf: (field: string) => unknown): Omit<Said, "admitted"> {
  const headers = ["limit", "remaining", "reset"].map((field) => [field, headerOf(field)] as const);
  const sent = headers.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return Object.fromEntries(sent.map(([field, value]) => [field, Number(value)]));
}

/** Loads a package with the clock in place: some take the time when they are loaded. */
export function underClock<T>(load: () => T): T {
  clock.clear();
  return clock.during(load);
}
