// Which quota, and what is known of it beforehand.
import type { Owner, Scope } from "../rules/rules.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Hypotheses } from "./hypotheses.ts";
import type { MarkStore } from "./mark-rows.ts";
import type { TargetPhase } from "./target-phase.ts";
import type { Terms } from "./terms.ts";
import type { EnforcedEvidence } from "./window-evidence.ts";
import type { WindowShapes } from "./window-shapes.ts";

export interface QuotaName {
  readonly org: string;
  /** `null` for the organization's. */
  readonly user: string | null;
  readonly scope: Scope;
  readonly owner: Owner;
}

/** Facts that are known of a quota beforehand. */
export interface QuotaSetting {
  readonly name: QuotaName;
  /** Terms by the rules; where they say nothing, `hypotheses` has what may be. */
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  /** Shapes that windows show; `null` with rules. */
  readonly shapes: WindowShapes | null;
  readonly time: TraceTime;
  /** `null` without rules. */
  readonly windowMs: number | null;
  /** When windows of this length end, where they are short and lie on the epoch's grid. */
  readonly phase: TargetPhase | null;
  /** Sent at or after this, a call was surely decided after the trace began. */
  readonly startedBy: number;
  /** Every call since then is in the trace, or counted as lost. */
  readonly complete: boolean;
  /** Enforcement of the organization's limits, as far as is known so far. */
  readonly enforcement: Enforcement;
  readonly enforced: EnforcedEvidence;
  readonly docket: Docket;
  readonly store: MarkStore;
}
