// An owner's acceptance: large limiters are approximate on purpose, and let a little through above their limits. Where
// that stays within what was accepted, findings that say nothing else are not held against them.

import type { LawName } from "../rules/laws.ts";
import { counted } from "../rules/words.ts";
import { whoseOf } from "../trace/whose.ts";
import type { Accused } from "./accusation.ts";
import type { Amounts, Verdict } from "./verdict.ts";

export interface Acceptance {
  /** The share, from 0 to 1, of what is admitted that may be above a limit. */
  readonly overAdmission: number;
}

/** Accusations that are left, and those that were accepted instead. */
export interface Overruled {
  readonly standing: readonly Accused[];
  readonly laws: readonly LawName[];
  readonly accepted: NonNullable<Verdict["accepted"]>;
}

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`;

/**
 * Sets aside the accusations that say only that counts came out too low, if what was admitted above limits stays
 * within what is accepted; `null` where nothing is.
 * @param isPartial whether more was found than is told here: nothing is accepted unseen
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
  // A reading that is too low may be of a counter that is behind; where charges are not, it is a wrong reading.
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
