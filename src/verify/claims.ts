// The verdict on a limiter that does not promise every law: laws that it does not claim are neither broken nor held.
import { type LawName, lawNames } from "../rules/laws.ts";
import type { LawVerdict, Verdict } from "./verdict.ts";

/**
 * Returns a verdict on the claimed laws alone; the other laws are skipped as not claimed.
 * @param claims names of laws; those that are no law's are passed over
 */
export function claimedVerdict(verdict: Verdict, claims: "all" | readonly string[]): Verdict {
  if (claims === "all") return verdict;
  const violations = verdict.violations.filter(({ law }) => claims.includes(law));
  const laws = Object.fromEntries(
    lawNames.map((law): [LawName, LawVerdict] => [
      law,
      claims.includes(law) ? verdict.laws[law] : { skipped: "not claimed" },
    ]),
  ) as Verdict["laws"];
  const states = Object.values(laws);
  const { violationsFound: _, ...rest } = verdict;
  return {
    ...rest,
    // A broken law may have no violation here: of very many, some are only counted.
    verdict: states.includes("violated") ? "violated" : states.includes("held") ? "ok" : "unknown",
    laws,
    violations,
  };
}
