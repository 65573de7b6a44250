// A quota with what is known of it before its windows are judged.
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

export interface QuotaSetting {
  readonly name: QuotaName;
  /** Terms by the rules. If a term is unknown, `hypotheses` has its possible values. */
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  /** Shapes that windows show; `null` with rules. */
  readonly shapes: WindowShapes | null;
  readonly time: TraceTime;
  /** Least and greatest length of a window, ms. `null` without rules. */
  readonly windowMs: number | null;
  readonly windowMsMost: number | null;
  /** Phase at which windows end, if they are short and lie on the epoch's grid; otherwise `null`. */
  readonly phase: TargetPhase | null;
  /** Sending from which on a call was surely decided after the trace began. */
  readonly startedBy: number;
  /** True if a call may hold more than its final charge, and give the difference back. */
  readonly givesBack: boolean;
  /** True if every call since the start is in the trace, or counted as lost. */
  readonly complete: boolean;
  /** Enforcement of the organization's limits, as known so far. */
  readonly enforcement: Enforcement;
  readonly enforced: EnforcedEvidence;
  /** Totals of spans; `null` if none are kept. */
  readonly totals: SpanTotals | null;
  readonly docket: Docket;
  readonly open: OpenWindows;
  /** Columns of the window that is judged at the moment. */
  readonly columns: WindowColumns;
}
