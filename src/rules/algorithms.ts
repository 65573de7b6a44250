// The kinds of limiters, and the laws that each can be held to. A law that an algorithm does not promise is never
// claimed for it: a token bucket has no window whose count could be conserved.
import { closest } from "./closest.ts";
import { type Problem, quote, SpillwayError } from "./errors.ts";
import { type LawName, type LimiterLawName, lawNames, limiterLawNames } from "./laws.ts";
import { isPlainObject } from "./plain-object.ts";
import { type SwitchName, switchValues } from "./switches.ts";

/** Description of what each algorithm counts, in the words of messages. */
export const algorithmStatements = {
  "fixed-window": "counts calls in windows that follow one another",
  "token-bucket": "refills all the time or in steps; leaky buckets and GCRA are of this kind",
  "sliding-log": "keeps the time of each call",
  "sliding-counter": "weighs the count of the window before",
  concurrency: "counts calls that are under way",
  unknown: "anything else",
} as const;

export type Algorithm = keyof typeof algorithmStatements;
export const algorithms = Object.keys(algorithmStatements) as readonly Algorithm[];

/** Laws that hold for any algorithm: they are about a caller's own calls, and about what a refusal says. */
const ofAny: readonly LimiterLawName[] = [
  "isolated",
  "status-free",
  "snapshot-equals",
  "honest-wait",
  "rate-bound",
  "give-back",
];

/** Laws of every limiter whose counting is known. */
const ofCounts: readonly LimiterLawName[] = [...ofAny, "refusal-justified", "remaining-agrees"];

/** Laws of every limiter that admits an amount per time, whatever it counts. */
const ofRates: readonly LimiterLawName[] = [
  ...ofCounts,
  "recovers",
  "time-translates",
  "twice-at-most",
  "limit-agrees",
];

const promisedBy: Readonly<Record<Algorithm, readonly LimiterLawName[]>> = {
  "fixed-window": limiterLawNames,
  "token-bucket": ofRates,
  "sliding-log": ofRates,
  "sliding-counter": ofRates,
  concurrency: ofCounts,
  unknown: ofAny,
};

/** Returns the laws that an algorithm can be held to, in the order of `limiterLawNames`. */
export const lawsOf = (algorithm: Algorithm): readonly LimiterLawName[] =>
  limiterLawNames.filter((law) => promisedBy[algorithm].includes(law));

/** Kind and promises of a limiter, as it states them. */
export interface Promised {
  readonly algorithm: Algorithm;
  readonly claims: "all" | readonly LimiterLawName[];
  /** True if windows begin with the limiter, at a time that no trace tells. */
  readonly fromStart?: boolean | undefined;
}

/** Returns the laws that a limiter claims and its algorithm can be held to. */
export const claimsOf = ({ algorithm, claims }: Promised): readonly LimiterLawName[] =>
  lawsOf(algorithm).filter((law) => claims === "all" || claims.includes(law));

/** Returns the claimed laws that a trace can be judged by: laws of windows only if windows are fixed. */
export function claimsInTraces(promised: Promised): "all" | readonly LawName[] {
  const isWindow = promised.algorithm === "fixed-window" && promised.fromStart !== true;
  if (isWindow && promised.claims === "all") return "all";
  const claims = claimsOf(promised);
  return lawNames.filter(
    (law) => claims.includes(law) && (isWindow || law === "twice-at-most" || law === "limit-agrees"),
  );
}

/** Returns the mistakes in what a limiter declares of itself. */
export function promiseProblems(promised: {
  readonly algorithm?: unknown;
  readonly claims?: unknown;
  readonly semantics?: unknown;
}): Problem[] {
  const { algorithm, claims, semantics } = promised;
  const known = algorithms.find((name) => name === algorithm);
  return [
    ...(known === undefined ? [choiceProblem("algorithm", algorithm, algorithms)] : []),
    ...claimProblems(claims, known),
    ...semanticsProblems(semantics),
  ];
}

/** Returns the mistake of a value that is none of the known ones, with the nearest of these if it is misspelt. */
export function choiceProblem(path: string, got: unknown, known: readonly unknown[]): Problem {
  const words = known.filter((value) => typeof value === "string");
  const meant = typeof got === "string" ? closest(got, words) : null;
  const allowed = meant === null ? `one of ${known.map(quote).join(", ")}` : quote(meant);
  return { path, got: quote(got), allowed };
}

/** Returns the members whose names are nearly those of known ones. Others may be the user's own. */
export const misspelt = (given: object, known: readonly string[]): Problem[] =>
  Object.keys(given).flatMap((name): Problem[] => {
    const meant = known.includes(name) ? null : closest(name, known);
    return meant === null ? [] : [{ path: name, got: "a fact that is not known", allowed: meant }];
  });

function semanticsProblems(semantics: unknown): Problem[] {
  if (semantics === undefined) return [];
  if (!isPlainObject(semantics)) return [{ path: "semantics", got: quote(semantics), allowed: "an object" }];
  return Object.entries(semantics).flatMap(([name, given]): Problem[] => {
    const path = `semantics.${name}`;
    const values: readonly unknown[] | undefined = Object.hasOwn(switchValues, name)
      ? switchValues[name as SwitchName]
      : undefined;
    if (values === undefined) return [choiceProblem(path, name, Object.keys(switchValues))];
    if (given === undefined) return [];
    if (!Array.isArray(given) || given.length === 0)
      return [{ path, got: quote(given), allowed: `an array of ${values.map(quote).join(", ")}` }];
    return given.flatMap((value: unknown, at) =>
      values.includes(value) ? [] : [choiceProblem(`${path}[${at}]`, value, values)],
    );
  });
}

/** @throws SpillwayError `ADAPTER_INVALID`, with the mistakes in what a limiter declares of itself */
export function requirePromise(
  promised: Parameters<typeof promiseProblems>[0] & { readonly name: string },
): void {
  requireNoProblems(promised.name, promiseProblems(promised));
}

/** @throws SpillwayError `ADAPTER_INVALID`, with the mistakes, if there are any */
export function requireNoProblems(name: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const isUnsaid = problems.some(({ path }) => path === "algorithm");
  const words = isUnsaid ? "does not say what it is" : "says of itself what it cannot be held to";
  throw new SpillwayError("ADAPTER_INVALID", `the limiter ${quote(name)} ${words}`, {
    problems,
    ...(isUnsaid && { hint: algorithmHint }),
  });
}

/** Returns the mistakes in a list of claimed laws. */
export function claimProblems(claims: unknown, algorithm: Algorithm | undefined): Problem[] {
  if (claims === "all") return [];
  if (!Array.isArray(claims))
    return [{ path: "claims", got: quote(claims), allowed: '"all", or an array of law names' }];
  const promised = algorithm === undefined ? limiterLawNames : lawsOf(algorithm);
  return claims.flatMap((law: unknown, index): Problem[] => {
    if (promised.includes(law as LimiterLawName)) return [];
    const path = `claims[${index}]`;
    if (limiterLawNames.includes(law as LimiterLawName))
      return [{ path, got: `${quote(law)}, no law of a ${algorithm}`, allowed: promised.join(", ") }];
    return [choiceProblem(path, law, promised)];
  });
}

/** Next step if the algorithm is missing. */
export const algorithmHint = `say what the limiter counts: ${algorithms.map((name) => `${name} ${algorithmStatements[name]}`).join("; ")}`;
