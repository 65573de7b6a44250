// Windows of which something was found, until it is known what stands.
import type { Span } from "./clock.ts";
import type { Hypothesis } from "./hypotheses.ts";
import type { Overshoot } from "./overshoot.ts";
import type { Suspicion } from "./suspicion.ts";
import type { CountsResult } from "./window-counts.ts";

export interface Deferral {
  /** From the earliest that the window can have opened to the latest that it can have ended. */
  readonly span: Span;
  readonly window: { readonly opensAt: number; readonly endsAt: number };
  readonly limit: number;
  /** Findings under each hypothesis that was left. */
  readonly found: ReadonlyMap<Hypothesis, CountsResult>;
}

/** A window of which something stands under a hypothesis. */
export interface Standing {
  readonly deferral: Deferral;
  readonly suspicions: readonly Suspicion[];
  /** Amounts that it is off by; `overAdmitted` is 0 where limits may not have been enforced. */
  readonly overshoot: Overshoot;
}
