// Lists each law by name: its judge, and the operations that its scripts have many of. Laws are written over quotas;
// rules are a policy (`by-rules.ts`).
import type { LimiterLawName } from "../rules/laws.ts";
import { headersPresent, limitAgrees, refusalAgrees } from "./answers.ts";
import { type OpFrequencies, usualProfile } from "./arbitraries.ts";
import {
  allOrNothing,
  giveBack,
  isolated,
  snapshotEquals,
  statusFree,
  timeTranslates,
} from "./comparisons.ts";
import { bounded, conserved, monotone, remainingAgrees, resetAgrees } from "./counts.ts";
import { neverRollsBack, recovers, refusalJustified, unenforcedNeverRefuses } from "./decisions.ts";
import { honestWait } from "./honest-wait.ts";
import type { QuotaJudge } from "./looks.ts";
import { rateBound, twiceAtMost } from "./spans.ts";

export interface Law {
  readonly judge: QuotaJudge;
  readonly profile: OpFrequencies;
  /** Reading without which the law judges nothing, in words. Absent if it judges decisions. */
  readonly needs?: string;
}

const usual = (judge: QuotaJudge, profile: Partial<OpFrequencies> = {}): Law => ({
  judge,
  profile: { ...usualProfile, ...profile },
});

/** Makes a law that judges what the limiter shows. */
const shown = (needs: string, judge: QuotaJudge, profile: Partial<OpFrequencies> = {}): Law => ({
  ...usual(judge, profile),
  needs,
});

const count = "a count: `current` or `remaining`";

export const laws: Readonly<Record<LimiterLawName, Law>> = {
  bounded: shown(count, bounded),
  conserved: shown(count, conserved),
  "remaining-agrees": shown("`remaining`, and of a fixed window `current` beside it", remainingAgrees),
  "reset-agrees": shown("a reset", resetAgrees),
  "status-free": shown("a status: `peek`", statusFree, { status: 12 }),
  // The law compares with a run without the refused calls; it can do so only if no clock steps back.
  "all-or-nothing": usual(allOrNothing, { back: 0 }),
  "refusal-justified": usual(refusalJustified),
  isolated: usual(isolated),
  monotone: shown(count, monotone),
  recovers: usual(recovers, { edge: 30 }),
  "unenforced-never-refuses": usual(unenforcedNeverRefuses, { enforce: 6 }),
  "time-translates": usual(timeTranslates),
  "never-rolls-back": usual(neverRollsBack, { back: 24, sweep: 4 }),
  "twice-at-most": usual(twiceAtMost),
  "snapshot-equals": shown("a snapshot", snapshotEquals, { snapshot: 5, sweep: 3, back: 8 }),
  "headers-present": shown("headers", headersPresent),
  "limit-agrees": shown("a limit", limitAgrees),
  "refusal-agrees": shown("which window refused, or the body of a refusal", refusalAgrees),
  // A caller cannot wait while time steps back.
  "honest-wait": shown("how long a refused caller is to wait: `retryAfter`, or a reset", honestWait, {
    back: 0,
  }),
  "rate-bound": usual(rateBound),
  "give-back": usual(giveBack, { back: 0 }),
};
