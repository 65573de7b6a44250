// Draws scripts under a policy: its operations, callers by its attributes, costs near limits, and times near the ends of
// windows. Intents are drawn, so that each keeps its meaning when shrinking drops others.
import fc from "fast-check";
import { attributesOf } from "../../engine/compiled-policy.ts";
import type { QuotaLimiterFactory } from "../../engine/quota-limiter.ts";
import { oddDays } from "../../policy/calendar.ts";
import { limitOf } from "../../policy/effective.ts";
import type { FixedWindow, Policy, QuotaAlgorithm, QuotaOverride } from "../../policy/policy.ts";
import {
  actArbitrary,
  amountArbitrary,
  morePoints,
  moveArbitrary,
  type OpFrequencies,
  offsetMs,
  phaseMs,
} from "../arbitraries.ts";
import { oddNames, renamedOps, renamesOf } from "../odd-names.ts";
import { type Act, costMost, type Intent, type Move, pick, planned } from "../planner.ts";
import type { CallerAttributes, QuotaScript } from "./script.ts";

/** Callers that often take part in a script, and others that seldom do. */
interface Crowd {
  readonly usual: readonly CallerAttributes[];
  readonly rare: readonly CallerAttributes[];
}

/** Returns callers that differ in each attribute, and those that overrides match: of these, two are usual. */
function callersOf(policy: Policy): Crowd {
  const attributes = Object.entries(valuesOf(policy));
  const first = Object.fromEntries(attributes.map(([name, [one]]) => [name, one]));
  const second = Object.fromEntries(attributes.map(([name, [, two]]) => [name, two]));
  const others = attributes.toReversed().map(([name, [, two]]) => ({ ...first, [name]: two }));
  const matched = policy.overrides.map(({ match }) => ({ ...first, ...match }));
  const rare = [...matched.slice(2), ...(attributes.length > 1 ? [second] : [])];
  return { usual: [first, ...others, ...matched.slice(0, 2)], rare };
}

/** Returns two values of each attribute that tells callers apart, beside those that overrides match. */
function valuesOf(policy: Policy): Readonly<Record<string, readonly [string, string]>> {
  const matched = policy.overrides.flatMap(({ match }) => Object.keys(match));
  const names = [...new Set([...attributesOf(policy), ...matched])];
  return Object.fromEntries(names.map((name) => [name, [`${name}-1`, `${name}-2`]]));
}

/** Returns the greatest cost of a call to a quota, points; a declared cost counts as 1. */
const dearest = ({ operations }: Policy, quota: string): number =>
  Math.max(1, ...Object.values(operations).map(({ uses }) => costMost(uses[quota] ?? 0)));

/** Returns the same algorithm with a smaller limit. A bucket takes as long to fill as before. */
function smaller(algorithm: QuotaAlgorithm, limit: number): QuotaAlgorithm {
  if (algorithm.kind !== "token-bucket") return { ...algorithm, limit };
  const { capacity, refill } = algorithm;
  const everyMs = Math.max(1, Math.round((capacity * refill.everyMs) / refill.amount));
  const isExact = Number.isSafeInteger(limit * everyMs);
  return isExact ? { ...algorithm, capacity: limit, refill: { amount: limit, everyMs } } : algorithm;
}

const isDeclared = ({ operations }: Policy, quota: string): boolean =>
  Object.values(operations).some(({ uses }) => uses[quota] === "declared");

/** Draws policies: the given one, or more often one with limits that few calls use up. */
function policies(policy: Policy): fc.Arbitrary<Policy> {
  const names = Object.keys(policy.quotas);
  const drawnLimits = fc.array(
    fc.record({ times: fc.integer({ min: 1, max: 3 }), plus: fc.integer({ min: 0, max: 4 }) }),
    {
      minLength: names.length,
      maxLength: names.length,
    },
  );
  const shrunk = fc
    .record({ limits: drawnLimits, more: morePoints })
    .map(({ limits: drawn, more }): Policy => {
      const most = new Map(
        names.map((name, place) => {
          const { times = 1, plus = 0 } = drawn[place] ?? {};
          return [name, dearest(policy, name) * times + plus];
        }),
      );
      const quotas = Object.entries(policy.quotas).map(([name, quota]) => {
        const least = Math.min(limitOf(quota.algorithm), most.get(name) as number);
        const limit = isDeclared(policy, name) ? least + more : least;
        return [name, { ...quota, algorithm: smaller(quota.algorithm, limit) }] as const;
      });
      return {
        ...policy,
        quotas: Object.fromEntries(quotas),
        overrides: policy.overrides.map((one) => ({
          ...one,
          quotas: Object.fromEntries(
            Object.entries(one.quotas).map(([name, changed]) => [
              name,
              smallerOverride(policy, name, changed, (most.get(name) as number) + 2),
            ]),
          ),
        })),
      };
    });
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 5, arbitrary: shrunk },
    { weight: 1, arbitrary: fc.constant(policy) },
  );
}

function smallerOverride(
  { quotas }: Policy,
  name: string,
  changed: QuotaOverride,
  most: number,
): QuotaOverride {
  const { limit, capacity, refill, ...rest } = changed;
  const algorithm = quotas[name]?.algorithm;
  if (algorithm === undefined) return changed;
  if (algorithm.kind !== "token-bucket")
    return { ...rest, ...(limit !== undefined && { limit: Math.min(limit, most) }) };
  const whole = {
    ...algorithm,
    ...(capacity !== undefined && { capacity }),
    ...(refill !== undefined && { refill }),
  };
  const less = smaller(whole, Math.min(whole.capacity, most));
  return less.kind === "token-bucket" ? { ...rest, capacity: less.capacity, refill: less.refill } : changed;
}

/** Draws one of a list: each alike where it has more than ten, and of fewer the first ones a little more often. */
const oneOf = <T>(list: readonly T[]): fc.Arbitrary<T> =>
  fc.nat({ max: Math.max(9, list.length - 1) }).map((place) => pick(list, place));

function actsIn(
  profile: OpFrequencies,
  quotas: readonly string[],
  { usual, rare }: Crowd,
  operations: readonly string[],
): fc.Arbitrary<Act> {
  // One caller makes most calls, so that its counts fill.
  const caller = fc.oneof(
    { withCrossShrink: true },
    { weight: 12, arbitrary: fc.constant(pick(usual, 0)) },
    { weight: 4, arbitrary: oneOf(usual) },
    ...(rare.length === 0 ? [] : [{ weight: 1, arbitrary: oneOf(rare) }]),
  );
  const operation = oneOf(operations);
  const of = fc.record({ caller, quota: oneOf(quotas) });
  return actArbitrary(profile, {
    call: { caller, operation, amount: amountArbitrary("limit") },
    status: { caller },
    enforce: { of, enforced: fc.boolean() },
  });
}

/** Returns the starts, ms, of days within a year that clock changes make longer or shorter, in the policy's zones. */
function oddDaysOf({ quotas }: Policy, fromMs: number): number[] {
  const zones = Object.values(quotas).flatMap(({ algorithm }) => {
    const anchor = algorithm.kind === "fixed-window" ? (algorithm as FixedWindow).anchor : null;
    return typeof anchor === "object" && anchor !== null && "calendar" in anchor ? [anchor.zone] : [];
  });
  return [...new Set(zones)].flatMap((zone) => oddDays(zone, fromMs));
}

/** Draws scripts for one law under a policy. */
export function quotaScripts(
  policy: Policy,
  factory: QuotaLimiterFactory,
  profile: OpFrequencies,
  aboutMs: number,
  intentsMost = 30,
): fc.Arbitrary<QuotaScript> {
  const { limits, isExact = false, operations = Object.keys(policy.operations) } = factory;
  const callers = factory.callers === undefined ? callersOf(policy) : { usual: factory.callers, rare: [] };
  const values = valuesOf(policy);
  const first = { caller: pick(callers.usual, 0), operation: pick(operations, 0) };
  const usual = moveArbitrary(profile, fc.nat({ max: 5 }));
  const room = fc.record({ to: fc.constant("room" as const), offsetMs });
  const move: fc.Arbitrary<Move> = fc.oneof(
    { withCrossShrink: true },
    { weight: 12, arbitrary: usual },
    { weight: 1, arbitrary: room },
  );
  const act = actsIn(profile, Object.keys(policy.quotas), callers, operations);
  const intent: fc.Arbitrary<Intent> = fc.record({ move, act });
  const odd = oddDaysOf(policy, aboutMs);
  const started = fc.tuple(fc.constantFrom(aboutMs, ...odd), phaseMs).map(([day, phase]) => day + phase);
  return fc
    .record({
      policy: limits === "any" ? policies(policy) : fc.constant(policy),
      startMs: odd.length === 0 ? phaseMs.map((phase) => aboutMs + phase) : started,
      intents: fc.noBias(fc.array(intent, { maxLength: intentsMost, size: "max" })),
      pick: fc.nat({ max: 60 }),
      names: factory.callers === undefined ? oddNames : fc.constant(null),
    })
    .map(({ policy: drawn, startMs, intents, pick, names }) => {
      const plain = planned({ policy: drawn, first, startMs }, intents);
      const ops = names === null ? plain : renamedOps(plain, renamesOf(values, names));
      return { policy: drawn, isExact, startMs, ops, pick };
    });
}
