// Prepares a check before its first run: makes the limiter once, and learns what it can be asked, and under
// which rules. Also checks the options that all checks have.
import fc from "fast-check";
import type { LimiterFactory } from "../engine/adapter.ts";
import { agreedRules } from "../engine/adapter-rules.ts";
import { withMembers } from "../engine/frozen.ts";
import { failureIn, gotAt, type PlaceOf, placeOfThrow } from "../engine/limiter-failure.ts";
import { claimsOf, requirePromise } from "../rules/algorithms.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { type LimiterLawName, limiterLawNames } from "../rules/laws.ts";
import { parseRules } from "../rules/parse.ts";
import type { Rules, RulesInput } from "../rules/rules.ts";
import type { LimiterSubject, OpFrequencies } from "./arbitraries.ts";
import { type CallEvent, makeLimiter, playCalls } from "./history.ts";
import { anchored } from "./shown-anchor.ts";

export const newYear2026Ms = 1_767_225_600_000;

/** Facts of a limiter from which scripts are drawn, and the kinds of operations that it can be asked for (`may`). */
export interface PreparedSubject {
  readonly subject: LimiterSubject & Pick<LimiterFactory, "algorithm" | "claims">;
  readonly may: ReadonlySet<keyof OpFrequencies>;
}

/**
 * @throws SpillwayError `ADAPTER_INVALID` if the limiter does not say what it is, or cannot be made;
 *   `RULES_INVALID` if given rules contradict the limiter
 */
export async function prepare(
  made: LimiterFactory,
  given: {
    readonly rules?: RulesInput | undefined;
    readonly startMs?: number | undefined;
    readonly placeOf?: PlaceOf | undefined;
  },
): Promise<PreparedSubject> {
  requirePromise(made);
  const startMs = given.startMs ?? newYear2026Ms;
  const factory = await anchored(made, given.rules, startMs);
  const rules = given.rules === undefined ? undefined : agreedRules(factory, given.rules);
  const first = rules ?? firstRules(factory);
  const limiter = await tried(factory.name, () => makeLimiter(factory, first, startMs), given.placeOf);
  const may = askable(limiter, factory.restore !== undefined, claimsOf(factory));
  await requireFresh(factory, first, startMs);
  // A limiter that is never told of a completion can only charge at the decision.
  const charge = may.has("settle") ? {} : { graphqlCharge: ["prepaid"] as const };
  const semantics = { ...charge, ...factory.semantics };
  const subject = withMembers(factory, { semantics, rules, startMs });
  return { subject, may };
}

/** @throws RangeError with the field's name, if the value is no integer in the range */
export function requireInteger(field: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${field} must be an integer from ${least} to ${most}, got ${value}`);
}

/**
 * Returns the laws asked for, in the catalogue's order; all if none are named.
 * @throws RangeError if a name is no law's, since a check of nothing would pass
 */
export function requireLaws(asked: readonly LimiterLawName[] = limiterLawNames): readonly LimiterLawName[] {
  const unknown = asked.find((law) => !limiterLawNames.includes(law));
  if (unknown !== undefined)
    throw new RangeError(`laws must be names of limiterLawNames, got ${quote(unknown)}`);
  return limiterLawNames.filter((law) => asked.includes(law));
}

/** Returns a random seed, drawn by fast-check. */
export const anySeed = (): number =>
  fc.check(
    fc.property(fc.constant(null), () => true),
    { numRuns: 1 },
  ).seed;

/** Returns the default rules, with the first value of each switch that the limiter can follow. */
function firstRules({ semantics = {} }: LimiterFactory): Rules {
  const first = Object.entries(semantics).map(([name, values]) => [name, values?.[0]]);
  return parseRules({ semantics: Object.fromEntries(first) });
}

/** Returns the kinds of operations that a limiter can be asked for; steps back only if it claims never-rolls-back. */
export function askable(
  limiter: { readonly [kind in keyof OpFrequencies | "setEnforced"]?: unknown },
  isRestored: boolean,
  claims: readonly LimiterLawName[],
): Set<keyof OpFrequencies> {
  const may = new Set<keyof OpFrequencies>(["call", "edge", "beyond"]);
  for (const kind of ["settle", "status", "sweep"] as const) if (limiter[kind] !== undefined) may.add(kind);
  if (limiter.setEnforced !== undefined) may.add("enforce");
  if (limiter.snapshot !== undefined && isRestored) may.add("snapshot");
  if (claims.includes("never-rolls-back")) may.add("back");
  return may;
}

/**
 * Asks two limiters by key for the same first call. They share a store that is made outside of `create`, for which the
 * laws would accuse the limiter.
 * @throws SpillwayError `ADAPTER_INVALID` if the second limiter answers otherwise, as one already in use
 */
async function requireFresh(factory: LimiterFactory, rules: Rules, startMs: number): Promise<void> {
  const [scope = "rest"] = factory.scopes ?? [];
  if (factory.keyed !== true) return;
  const caller = { organization: "acme", user: "ann", scope };
  const told = async (): Promise<string> =>
    (await playCalls(factory, rules, [{ do: "call", id: 0, atMs: startMs, ...caller, cost: 1 }]))
      .map(shown)
      .join();
  try {
    const [first, second] = [await told(), await told()];
    if (first === second) return;
    throw new SpillwayError("ADAPTER_INVALID", `the limiter ${quote(factory.name)} does not start afresh`, {
      problem: {
        path: "create",
        got: `the first call is told ${second}`,
        allowed: `${first}, as by the limiter before`,
      },
      hint: "make the store in `create`, or clear it there: each limiter that it makes starts unused; fix the seed of random numbers there, too",
    });
  } catch (error) {
    // The laws report this failure.
    failureIn(error);
  }
}

/** Returns the decision and the counts that a call was told, as text. */
function shown({ decision: { admitted, user } }: CallEvent): string {
  const { current, remaining } = user ?? {};
  return [
    admitted ? "admitted" : "refused",
    ...(current === undefined ? [] : [`current ${current}`]),
    ...(remaining === undefined ? [] : [`remaining ${remaining}`]),
  ].join(", ");
}

/**
 * Makes one limiter, closes it and returns it, to learn whether it can be made and what it can be asked for.
 * @param name the factory's name
 * @throws SpillwayError `ADAPTER_INVALID`
 */
export async function tried<L extends { close?(): unknown }>(
  name: string,
  make: () => Promise<L>,
  placeOf?: PlaceOf,
): Promise<L> {
  try {
    const limiter = await make();
    await limiter.close?.();
    return limiter;
  } catch (error) {
    const failure = failureIn(error);
    const { call, got, allowed, cause } = failure;
    throw new SpillwayError("ADAPTER_INVALID", `the limiter ${quote(name)} cannot be checked`, {
      problem: { path: call, got: gotAt(got, placeOfThrow(failure, placeOf)), allowed },
      hint: "no law was checked",
      cause,
    });
  }
}
