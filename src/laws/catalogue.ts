// Each law by name: how it judges, and which operations its scripts are rich in.
import type { LawName } from "../rules/laws.ts";
import { headersPresent, limitAgrees, refusalAgrees } from "./answers.ts";
import { type Profile, usualProfile } from "./arbitraries.ts";
import { allOrNothing, isolated, snapshotEquals, statusFree, timeTranslates } from "./comparisons.ts";
import { bounded, conserved, monotone, remainingAgrees, resetAgrees } from "./counts.ts";
import {
  neverRollsBack,
  recovers,
  refusalJustified,
  twiceAtMost,
  unenforcedNeverRefuses,
} from "./decisions.ts";
import type { Judge } from "./law.ts";

export interface Law {
  readonly judge: Judge;
  readonly profile: Profile;
}

const usual = (judge: Judge, profile: Partial<Profile> = {}): Law => ({
  judge,
  profile: { ...usualProfile, ...profile },
});

export const laws: Readonly<Record<LawName, Law>> = {
  bounded: usual(bounded),
  conserved: usual(conserved),
  "remaining-agrees": usual(remainingAgrees),
  "reset-agrees": usual(resetAgrees),
  "status-free": usual(statusFree, { status: 12 }),
  // Only where no clock steps back can it compare with a run without the refused calls.
  "all-or-nothing": usual(allOrNothing, { back: 0 }),
  "refusal-justified": usual(refusalJustified),
  isolated: usual(isolated),
  monotone: usual(monotone),
  recovers: usual(recovers, { edge: 30 }),
  "unenforced-never-refuses": usual(unenforcedNeverRefuses, { enforce: 6 }),
  "time-translates": usual(timeTranslates),
  "never-rolls-back": usual(neverRollsBack, { back: 24, sweep: 4 }),
  "twice-at-most": usual(twiceAtMost),
  "snapshot-equals": usual(snapshotEquals, { snapshot: 5, sweep: 3, back: 8 }),
  "headers-present": usual(headersPresent),
  "limit-agrees": usual(limitAgrees),
  "refusal-agrees": usual(refusalAgrees),
};
