// An owner's acceptance. Large limiters are approximate on purpose and admit a little above their limits. If the
// measured share stays within the accepted one, findings that say nothing else are set aside.

import type { LawName } from "../rules/laws.ts";
import { counted } from "../rules/words.ts";
import { whoseOf } from "../trace/whose.ts";
import type { Accused } from "./accusation.ts";
import type { Amounts, Verdict } from "./verdict.ts";

export interface Acceptance {
  /** Largest accepted share of admitted points that were above a limit, from 0 to 1. */
  readonly overAdmission: number;
}

/** Accusations that still stand, and the findings that were accepted instead. */
export interface Overruled {
  readonly standing: readonly Accused[];
  readonly laws: readonly LawName[];
  readonly accepted: NonNullable<Verdict["accepted"]>;
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

/**
 * Sets aside accusations of counts that came out too low, if over-admission stays within the accepted share. Returns
 * `null` if nothing is set aside.
 * @param isPartial true if more was found than is told here; then nothing is accepted
 */
export function accept(
  acceptance: Acceptance | null,
  { overAdmission, overAdmitted }: Amounts,
  accused: readonly Accused[],
  isPartial: boolean,
): Overruled | null {
  if (acceptance === null || isPartial || overAdmission > acceptance.overAdmission) return null;
  const quotaOf = ({ violation }: Accused): string => JSON.stringify(whoseOf(violation));
  const approximate = new Set(accused.filter(({ tooLow }) => tooLow === "charges").map(quotaOf));
  // A reading that is too low may come from a counter that lags, unless all charges of the quota are right.
  const isAccepted = (each: Accused): boolean =>
    each.tooLow === "charges" || (each.tooLow === "readings" && approximate.has(quotaOf(each)));
  const set = accused.filter(isAccepted);
  if (set.length === 0) return null;
  return {
    standing: accused.filter((each) => !isAccepted(each)),
    laws: [...new Set(set.map(({ violation }) => violation.law))],
    accepted: [
      {
        expectation: `overAdmission <= ${percent(acceptance.overAdmission)}`,
        explanation:
          `${counted(set.length, "finding")} of counts that came out too low: by them at least ${overAdmitted} points or calls went in ` +
          `above a limit, ${percent(overAdmission)} of what was admitted`,
      },
    ],
  };
}
