// Draws what properties need: rules with small limits and every semantics switch, a few organizations and users,
// and sequences of intents that crowd at window edges and at limits. Everything shrinks towards the default
// semantics, one organization, one user, one call at the start.
import fc from "fast-check";
import type { LimiterFactory } from "../engine/adapter.ts";
import { keyedRules } from "../engine/adapter-rules.ts";
import { quotaNames } from "../policy/names.ts";
import {
  organizationLimit,
  type Rules,
  type Scope,
  scopes,
  userKeyParts,
  userLimit,
} from "../rules/rules.ts";
import { type SwitchName, switchNames, switchValues } from "../rules/switches.ts";
import { opByRules, policyFor } from "./by-rules.ts";
import { type OddNames, oddNames, type Renames, renamed, renamedOps, renamesOf } from "./odd-names.ts";
import { type Act, type Amount, type Intent, type Move, pick, planned } from "./planner.ts";
import type { CallerAttributes } from "./quotas/script.ts";
import type { Script } from "./script.ts";

/** Weight of each kind of operation, relative to the others; 0 is never. */
export interface OpFrequencies {
  readonly call: number;
  readonly settle: number;
  readonly status: number;
  readonly enforce: number;
  readonly sweep: number;
  readonly snapshot: number;
  /** Weights of moves to a window's end, and of moves back in time, relative to 30 for all others. */
  readonly edge: number;
  readonly back: number;
  /** Weight of moves by one to three windows, in which nobody calls. */
  readonly beyond: number;
}

export const usualProfile: OpFrequencies = {
  call: 24,
  settle: 8,
  status: 3,
  enforce: 2,
  sweep: 1,
  snapshot: 0,
  edge: 10,
  back: 4,
  beyond: 2,
};

/** Returns a profile without the operations that a limiter cannot be asked for. */
export const within = (profile: OpFrequencies, may: ReadonlySet<keyof OpFrequencies>): OpFrequencies =>
  Object.fromEntries(
    Object.entries(profile).map(([kind, weight]) => [
      kind,
      may.has(kind as keyof OpFrequencies) ? weight : 0,
    ]),
  ) as unknown as OpFrequencies;

/** Facts of a limiter that shape its scripts: the rules that it can follow, its callers and its algorithm. */
export interface LimiterSubject
  extends Partial<
    Pick<
      LimiterFactory,
      "algorithm" | "callers" | "endsLate" | "fromStart" | "keyed" | "opensToMs" | "scopes" | "semantics"
    >
  > {
  /** Rules to check under. Default: drawn. */
  readonly rules?: Rules | undefined;
  /** Time about which the scripts take place, ms since the epoch. */
  readonly startMs: number;
}

const limit = fc.integer({ min: 1, max: 8 });
const points = fc.integer({ min: 1, max: 12 });
/** Points added to all GraphQL limits: in one world of ten 2^32, at which a count of 32 bits wraps. */
export const morePoints = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 4_294_967_296);
/** Requests added to all REST limits, in one world of ten: limits of two digits sort otherwise as text. */
const moreRequests = fc.oneof(
  { withCrossShrink: true },
  { weight: 9, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 8 }) },
);
const windowSeconds = fc.constantFrom(10, 4, 1, 2, 3, 7, 60);
const usuallyEnforced = fc.constantFrom(true, true, true, true, false);

const userWindow = {
  rest: fc.record({ limit, windowSeconds }),
  graphql: fc.record({ limit: points, windowSeconds }),
};
const organizationWindow = {
  rest: fc.record({ limit, windowSeconds, enforced: usuallyEnforced }),
  graphql: fc.record({ limit: points, windowSeconds, enforced: usuallyEnforced }),
};

/** Users by organization. */
type Callers = NonNullable<LimiterFactory["callers"]>;

const drawnCallers: Callers = { acme: ["ann", "bob"], beta: ["ann", "bob"] };

/** Draws one value of a switch for each scope, the default first. */
function switchArbitrary(
  name: SwitchName,
  semantics: LimiterFactory["semantics"],
): fc.Arbitrary<Record<Scope, unknown>> {
  const values: readonly unknown[] = semantics?.[name] ?? switchValues[name];
  const graphqlOnly = name === "graphqlCharge";
  return fc.record({
    rest: fc.constantFrom(...(graphqlOnly ? values.slice(0, 1) : values)),
    graphql: fc.constantFrom(...values),
  });
}

function semanticsArbitrary(semantics: LimiterFactory["semantics"]): fc.Arbitrary<Rules["semantics"]> {
  const any = fc.record(
    Object.fromEntries(switchNames.map((name) => [name, switchArbitrary(name, semantics)])),
  );
  const first = Object.fromEntries(
    switchNames.map((name) => {
      const value = (semantics?.[name] ?? switchValues[name])[0];
      return [name, { rest: value, graphql: value }];
    }),
  );
  return fc.oneof(
    { withCrossShrink: true },
    { arbitrary: fc.constant(first), weight: 1 },
    { arbitrary: any, weight: 2 },
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<Rules["semantics"]>;
}

/** Draws nothing half of the time: `freq` counts both, so that 1 would be always nothing. */
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

/** Draws complete rules: small limits, short windows, perhaps one organization's and one user's own, any semantics. */
function rulesArbitrary(
  semantics: LimiterFactory["semantics"],
  morePoints: fc.Arbitrary<number>,
): fc.Arbitrary<Rules> {
  return fc
    .record({
      organization: fc.record(organizationWindow),
      user: fc.record(userWindow),
      semantics: semanticsArbitrary(semantics),
      beta: maybe(fc.record(organizationWindow)),
      bob: maybe(fc.record(userWindow)),
      more: fc.record({ graphql: morePoints, rest: moreRequests }),
    })
    .map(({ organization, user, semantics: chosen, beta, bob, more }) => ({
      organization: raised(organization, more),
      user: raised(user, more),
      semantics: chosen,
      organizations: beta === undefined ? {} : { beta: raised(beta, more) },
      users: bob === undefined ? {} : { "acme/bob": raised(bob, more) },
    }));
}

const raised = <W extends Readonly<Record<Scope, { limit: number }>>>(
  { rest, graphql, ...windows }: W,
  more: Readonly<Record<Scope, number>>,
): W =>
  ({
    ...windows,
    rest: { ...rest, limit: rest.limit + more.rest },
    graphql: { ...graphql, limit: graphql.limit + more.graphql },
  }) as W;

/** Returns odd names for two organizations and two users that no given rules name. */
function renamesFor(callers: Callers, given: Rules | undefined, isKeyed: boolean, names: OddNames): Renames {
  const taken = given === undefined ? "" : JSON.stringify([given.organizations, given.users]);
  const free = (known: readonly string[]): string[] =>
    [...new Set(known)].filter((name) => !taken.includes(name));
  const plain = { organization: free(Object.keys(callers)), user: free(Object.values(callers).flat()) };
  // A key of one part is a user's without an organization.
  return renamesOf(plain, isKeyed ? { ...names, first: [names.first[0], ""] } : names);
}

const renamedRules = (rules: Rules, renames: Renames): Rules => ({
  ...rules,
  organizations: mapKeys(rules.organizations, (key) => renamed(renames, "organization", key)),
  users: mapKeys(rules.users, (key) => {
    const [organization, user] = userKeyParts(key);
    return `${renamed(renames, "organization", organization)}/${renamed(renames, "user", user)}`;
  }),
});

const mapKeys = <V>(values: Readonly<Record<string, V>>, keyOf: (key: string) => string): Record<string, V> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [keyOf(key), value]));

/** Returns the names in given rules, and at most six more users to use up an organization's window. */
function callersOf(rules: Rules): Callers {
  const keys = Object.keys(rules.users).map(userKeyParts);
  const organizations = [
    ...Object.keys(rules.organizations),
    ...keys.map(([slug]) => slug),
    ...Object.keys(drawnCallers),
  ];
  const slug = organizations[0] ?? "acme";
  const needed = scopes.map(
    (scope) => organizationLimit(rules, slug, scope).limit / userLimit(rules, slug, "", scope).limit,
  );
  const crowd = Math.min(6, Math.max(2, Math.floor(Math.max(...needed)) + 1));
  const users = [...keys.map(([, name]) => name), ...Array.from({ length: crowd }, (_, n) => `user-${n}`)];
  const known = [...new Set(users)].slice(0, crowd + 2);
  return Object.fromEntries([...new Set(organizations)].slice(0, 3).map((name) => [name, known]));
}

export const offsetMs = fc.constantFrom(0, -1, 1);

/** @param place draws the place of the window to which a move is relative */
export function moveArbitrary(
  { edge, back, beyond }: OpFrequencies,
  place: fc.Arbitrary<number>,
): fc.Arbitrary<Move> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 16, arbitrary: fc.record({ to: fc.constant("stay" as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({ to: fc.constant("later" as const), ms: fc.integer({ min: 1, max: 3000 }) }),
    },
    { weight: 2, arbitrary: fc.record({ to: fc.constant("second" as const) }) },
    { weight: 3, arbitrary: fc.record({ to: fc.constant("half" as const), place }) },
    { weight: edge, arbitrary: fc.record({ to: fc.constant("edge" as const), place, offsetMs }) },
    { weight: 3, arbitrary: fc.record({ to: fc.constant("wait" as const), place }) },
    {
      weight: beyond,
      arbitrary: fc.record({
        to: fc.constant("beyond" as const),
        place,
        windows: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: back,
      arbitrary: fc.record({ to: fc.constant("back" as const), ms: fc.integer({ min: 1, max: 5000 }) }),
    },
    { weight: back, arbitrary: fc.record({ to: fc.constant("reopen" as const), place, offsetMs }) },
  );
}

/** @param limits limits that an amount may aim at */
export const amountArbitrary = (...limits: readonly Amount["of"][]): fc.Arbitrary<Amount> =>
  fc.record({
    of: fc.constantFrom("points" as const, "points" as const, "room" as const, ...limits),
    points: fc.integer({ min: 1, max: 3 }),
    plus: fc.constantFrom(0, -1, 1),
  });

type Members = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Draws acts, each kind as often as a profile says. */
export function actArbitrary(
  profile: OpFrequencies,
  { call, status, enforce }: Readonly<Record<"call" | "status" | "enforce", Members>>,
): fc.Arbitrary<Act> {
  const settle = {
    which: fc.nat({ max: 5 }),
    actual: fc.constantFrom("all" as const, "most" as const, "half" as const, "none" as const),
  };
  const members = { call, settle, status, enforce, sweep: {}, snapshot: {} };
  const kinds = Object.entries(members).map(([kind, own]) => ({
    weight: profile[kind as keyof typeof members],
    arbitrary: fc.record({ do: fc.constant(kind), ...own }),
  }));
  return fc.oneof({ withCrossShrink: true }, ...kinds) as fc.Arbitrary<unknown> as fc.Arbitrary<Act>;
}

function actsIn(profile: OpFrequencies, callers: Callers, among: readonly Scope[]): fc.Arbitrary<Act> {
  const operation = fc.constantFrom(...among);
  const names = Object.keys(callers);
  // Most calls are of one organization, so that together they can use up its window.
  const organization = fc.constantFrom(0, 0, 0, ...names.keys());
  const user = fc.nat({ max: new Set(Object.values(callers).flat()).size - 1 });
  const caller = fc.tuple(organization, user).map((places) => callerAt(callers, ...places));
  // An operation uses the organization's quota, then the user's.
  const amount = amountArbitrary(1, 0);
  const of = fc.tuple(organization, operation).map(([place, scope]) => ({
    quota: quotaNames[scope].organization,
    caller: { organization: pick(names, place) },
  }));
  return actArbitrary(profile, {
    call: { caller, operation, amount },
    status: { caller },
    enforce: { of, enforced: fc.boolean() },
  });
}

function callerAt(callers: Callers, place: number, userPlace: number): CallerAttributes {
  const organization = pick(Object.keys(callers), place);
  return { organization, user: pick(callers[organization] ?? [], userPlace) };
}

/** Offset of a script's start, ms, so that scripts begin at various places in a second and in a window. */
export const phaseMs = fc.constantFrom(0, 1, 500, 999, 1500, 29_999);

/** Draws scripts for one law: rules, a start, and up to `maxLength` intents, or none, so that each can shrink away. */
export function scriptArbitrary(
  subject: LimiterSubject,
  profile: OpFrequencies,
  maxLength = 30,
): fc.Arbitrary<Script> {
  const { rules, keyed = false, opensToMs = 1000, algorithm = "fixed-window" } = subject;
  const callers = subject.callers ?? (rules === undefined ? drawnCallers : callersOf(rules));
  const drawn = rulesArbitrary(subject.semantics, keyed ? fc.constant(0) : morePoints);
  const terms = {
    ...(keyed && { keyed }),
    ...(opensToMs !== 1000 && { opensToMs }),
    ...(algorithm !== "fixed-window" && { algorithm }),
    ...(subject.endsLate && { endsLate: true }),
    ...(subject.fromStart && { fromStart: true }),
  };
  const first = { caller: callerAt(callers, 0, 0), operation: "rest" };
  const intent: fc.Arbitrary<Intent> = fc.record({
    move: moveArbitrary(profile, fc.constantFrom(0, 1)),
    act: actsIn(profile, callers, subject.scopes ?? scopes),
  });
  return fc
    .record({
      rules: rules === undefined ? (keyed ? drawn.map(keyedRules) : drawn) : fc.constant(rules),
      phaseMs,
      // No bias of fast-check towards short arrays: the weights above are the wanted bias.
      intents: fc.noBias(fc.array(intent, { maxLength, size: "max" })),
      pick: fc.nat({ max: 60 }),
      names: subject.callers === undefined ? oddNames : fc.constant(null),
    })
    .map(({ rules: own, phaseMs, intents, pick, names }) => {
      const startMs = subject.startMs + phaseMs;
      const start = { policy: policyFor(own), terms: { rules: own, ...terms }, first, startMs };
      const ops = planned(start, intents);
      if (names === null) return { rules: own, ...terms, startMs, ops: ops.map(opByRules), pick };
      const renames = renamesFor(callers, rules, keyed, names);
      const named = rules ?? renamedRules(own, renames);
      return { rules: named, ...terms, startMs, ops: renamedOps(ops, renames).map(opByRules), pick };
    });
}
