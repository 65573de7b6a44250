// The kinds of limiters, and the laws that each can be held to. A law that an algorithm does not promise is never
// claimed for it: a token bucket has no window whose count could be conserved.
import { closest } from "./closest.ts";
import { type Problem, quote, SpillwayError } from "./errors.ts";
import { type LawName, type LimiterLawName, lawNames, limiterLawNames } from "./laws.ts";

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

const choices = algorithms.map(quote).join(", ");

/** Returns the mistakes in what a limiter declares of itself. */
export function promiseProblems(promised: {
  readonly algorithm?: unknown;
  readonly claims?: unknown;
}): Problem[] {
  const { algorithm, claims } = promised;
  const known = algorithms.find((name) => name === algorithm);
  const problems: Problem[] =
    known === undefined ? [{ path: "algorithm", got: quote(algorithm), allowed: `one of ${choices}` }] : [];
  return [...problems, ...claimProblems(claims, known)];
}

/** @throws SpillwayError `ADAPTER_INVALID`, with the mistakes in what a limiter declares of itself */
export function requirePromise(
  promised: Parameters<typeof promiseProblems>[0] & { readonly name: string },
): void {
  const problems = promiseProblems(promised);
  if (problems.length === 0) return;
  const { name } = promised;
  throw new SpillwayError("ADAPTER_INVALID", `the limiter ${quote(name)} does not say what it is`, {
    problems,
    hint: algorithmHint,
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
    return [{ path, got: quote(law), allowed: closest(String(law), limiterLawNames) ?? promised.join(", ") }];
  });
}

/** Next step if the algorithm is missing. */
export const algorithmHint = `say what the limiter counts: ${algorithms.map((name) => `${name} ${algorithmStatements[name]}`).join("; ")}`;
