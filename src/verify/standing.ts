// Windows with findings, kept until it is known which findings stand.
import type { Span } from "./clock.ts";
import type { Hypothesis } from "./hypotheses.ts";
import type { Overshoot } from "./overshoot.ts";
import type { Suspicion } from "./suspicion.ts";
import type { CountsResult } from "./window-counts.ts";

export interface Deferral {
  /** Span from the earliest opening of the window to its latest end. */
  readonly span: Span;
  readonly window: { readonly opensAt: number; readonly endsAt: number };
  readonly limit: number;
  /** Findings under each hypothesis that was left. */
  readonly found: ReadonlyMap<Hypothesis, CountsResult>;
}

/** A window with findings that stand under a hypothesis. */
export interface Standing {
  readonly deferral: Deferral;
  readonly suspicions: readonly Suspicion[];
  /** Amounts that the window is off by; `overAdmitted` is 0 if limits may not have been enforced. */
  readonly overshoot: Overshoot;
}
