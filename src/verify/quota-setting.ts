// Which quota, and what is known of it beforehand.
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { EnforcedEvidence } from "./enforced-evidence.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Hypotheses } from "./hypotheses.ts";
import type { OpenWindows } from "./open-windows.ts";
import type { QuotaName } from "./quota-name.ts";
import type { SpanTotals } from "./span-totals.ts";
import type { TargetPhase } from "./target-phase.ts";
import type { Terms } from "./terms.ts";
import type { WindowColumns } from "./window-columns.ts";
import type { WindowShapes } from "./window-shapes.ts";

/** Facts that are known of a quota beforehand. */
export interface QuotaSetting {
  readonly name: QuotaName;
  /** Terms by the rules; where they say nothing, `hypotheses` has what may be. */
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  /** Shapes that windows show; `null` with rules. */
  readonly shapes: WindowShapes | null;
  readonly time: TraceTime;
  /** Length of a window, ms: the least, and the greatest. `null` without rules. */
  readonly windowMs: number | null;
  readonly windowMsMost: number | null;
  /** When windows of this length end, where they are short and lie on the epoch's grid. */
  readonly phase: TargetPhase | null;
  /** Sent at or after this, a call was surely decided after the trace began. */
  readonly startedBy: number;
  /** True if a call may hold more than it is charged in the end, and give it back. */
  readonly givesBack: boolean;
  /** Every call since then is in the trace, or counted as lost. */
  readonly complete: boolean;
  /** Enforcement of the organization's limits, as far as is known so far. */
  readonly enforcement: Enforcement;
  readonly enforced: EnforcedEvidence;
  /** `null` where no total is held. */
  readonly totals: SpanTotals | null;
  readonly docket: Docket;
  readonly open: OpenWindows;
  /** Columns of the window that is judged just now. */
  readonly columns: WindowColumns;
}
