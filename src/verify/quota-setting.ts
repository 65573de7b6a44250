// Which quota, and what is known of it beforehand.
import type { Owner, Scope } from "../rules/rules.ts";
import type { Whose } from "../trace/whose.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Hypotheses } from "./hypotheses.ts";
import type { OpenWindows } from "./open-windows.ts";
import type { TargetPhase } from "./target-phase.ts";
import type { Terms } from "./terms.ts";
import type { WindowColumns } from "./window-columns.ts";
import type { EnforcedEvidence } from "./window-evidence.ts";
import type { WindowShapes } from "./window-shapes.ts";

export interface QuotaName {
  /** As a verdict names it. */
  readonly told: Whose;
  /** `rest` where each call costs 1. */
  readonly scope: Scope;
  /** `organization` where refusals of other quotas may be charged to it. */
  readonly owner: Owner;
  /** Unit of its counts, one of them: `request`. */
  readonly unit: string;
}

const units: Readonly<Record<Scope, string>> = { rest: "request", graphql: "point" };

/** Name of a quota by the rules of version 1. @param user `null` for the organization's */
export const rulesQuota = (org: string, user: string | null, scope: Scope): QuotaName => ({
  told: { org, user, scope },
  scope,
  owner: user === null ? "organization" : "user",
  unit: units[scope],
});

/** Facts that are known of a quota beforehand. */
export interface QuotaSetting {
  readonly name: QuotaName;
  /** Terms by the rules; where they say nothing, `hypotheses` has what may be. */
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  /** Shapes that windows show; `null` with rules. */
  readonly shapes: WindowShapes | null;
  readonly time: TraceTime;
  /** Length of a window, ms; the least, where windows differ. `null` without rules. */
  readonly windowMs: number | null;
  /** The greatest length; where it is left out, all windows have the same. */
  readonly windowMsMost?: number;
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
  readonly open: OpenWindows;
  /** Columns of the window that is judged just now. */
  readonly columns: WindowColumns;
}
