// Counts, whichever version of the trace speaks of them: one owner's of one scope by the rules, or one key's of a quota
// by a policy; each with what bounds it beyond its windows.
import type { TraceHeader } from "../trace/record.ts";
import type { Whose } from "../trace/whose.ts";
import type { KnownNumbers } from "./answer-laws.ts";
import { BareWindows } from "./bare-windows.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import { EnforcedEvidence } from "./enforced-evidence.ts";
import type { Enforcement } from "./enforcement.ts";
import type { EpochGrid } from "./epoch-grid.ts";
import type { Holding } from "./held-rows.ts";
import type { Hypotheses } from "./hypotheses.ts";
import { OpenWindows } from "./open-windows.ts";
import { OversizeCalls } from "./oversize.ts";
import { JudgedQuota } from "./quota.ts";
import type { QuotaName } from "./quota-name.ts";
import type { RefusalOrder } from "./refusal-order.ts";
import { SpanTotals } from "./span-totals.ts";
import { phasedMsMost, TargetPhase } from "./target-phase.ts";
import { resetLeast, resetMost, type Terms } from "./terms.ts";
import { UnenforcedRefusals } from "./unenforced-refusals.ts";
import type { Unexplained } from "./unknowns.ts";
import { WindowColumns } from "./window-columns.ts";
import type { WindowShapes } from "./window-shapes.ts";

/** Counts of one scope, or of one quota of a policy. */
export interface CountKind {
  readonly terms: Terms;
  readonly hypotheses: Hypotheses;
  /** True if a call may hold more than it is charged in the end, and give it back. */
  readonly givesBack: boolean;
  /** Readings of the windows of a trace without rules. */
  readonly shapes: WindowShapes | null;
}

/** Fixed windows, as rules or a policy say them. */
export interface KnownWindows {
  readonly limit: number;
  /** The least and the greatest length, ms. */
  readonly least: number;
  readonly most: number;
  /** The grid that they lie on, by any name; `null` where they lie on none. */
  readonly grid: string | null;
}

/** Returns the bounds of numbers by terms. @param lengthMs the longest that windows last; `null` without rules */
export const knownNumbers = (
  { terms }: CountKind,
  told: Whose,
  limit: number | null,
  lengthMs: number | null,
): KnownNumbers => ({
  told,
  limit,
  limits: { right: false, wrong: false },
  remaining: terms.remaining,
  resetLeast: resetLeast(terms),
  windowSeconds: lengthMs === null ? resetMost : lengthMs / 1000,
});

/** The grid of Unix time itself. */
export const epochGrid = "epoch";

export interface Count extends KnownNumbers {
  readonly name: QuotaName;
  readonly group: CountGroup;
  /** `null` where the count is not judged. */
  readonly quota: JudgedQuota | null;
  /** For answers that show no window; `null` where nobody else knows where windows lie. */
  readonly bare: BareWindows | null;
  /** True if its windows are known to lie on the grid of Unix time itself. */
  readonly isOnEpoch: boolean;
}

export interface JudgedCount extends Count {
  readonly quota: JudgedQuota;
}

export const isJudged = (count: Count): count is JudgedCount => count.quota !== null;

/** Counts that limits are enforced of together: an organization's and its users', or one alone. */
export interface CountGroup {
  readonly name: QuotaName;
  readonly kind: CountKind;
  readonly enforcement: Enforcement;
  readonly enforced: EnforcedEvidence;
  readonly refusals: UnenforcedRefusals;
  readonly oversize: OversizeCalls;
  /** `null` where no rules say whose window a refusal names. */
  readonly order: RefusalOrder | null;
  /** Ends by `reset_at`, where they lie on the epoch's grid. */
  readonly grid: EpochGrid | null;
  /** Calls without a line that may have used it. */
  readonly lost: Unexplained;
  readonly counts: Count[];
}

/** The counts of one trace. Each is made when it is first seen. */
export class Counts {
  readonly open: OpenWindows;
  readonly #columns = new WindowColumns();
  /** By the windows' grid and length. */
  readonly #phases = new Map<string, TargetPhase>();
  readonly #header: Pick<TraceHeader, "startedAt" | "clock" | "complete">;
  readonly #time: TraceTime;
  readonly #docket: Docket;
  #size = 0;

  constructor(
    header: Pick<TraceHeader, "startedAt" | "clock" | "complete">,
    time: TraceTime,
    docket: Docket,
    holding: Holding,
  ) {
    this.open = new OpenWindows(holding);
    this.#header = header;
    this.#time = time;
    this.#docket = docket;
  }

  /** Number of counts. */
  get size(): number {
    return this.#size;
  }

  group(
    given: Pick<CountGroup, "name" | "kind" | "enforcement" | "lost"> &
      Partial<Pick<CountGroup, "order" | "grid">>,
  ): CountGroup {
    const { name, kind, enforcement } = given;
    return {
      enforced: new EnforcedEvidence(enforcement),
      refusals: new UnenforcedRefusals(name, kind.terms, this.#time),
      oversize: new OversizeCalls(name, this.#time),
      order: null,
      grid: null,
      counts: [],
      ...given,
    };
  }

  /** A count whose windows are judged. @param windows `null` where nobody says what they are */
  judged(group: CountGroup, name: QuotaName, windows: KnownWindows | null, isComplete: boolean): JudgedCount {
    const { terms, hypotheses, givesBack, shapes } = group.kind;
    const { startedAt, clock, complete } = this.#header;
    const always = name.owner === "user" && terms.userEnforced === "always";
    const bound = terms.charging === "postpaid" ? null : windows;
    const quota = new JudgedQuota({
      name,
      terms,
      hypotheses,
      givesBack,
      shapes,
      time: this.#time,
      windowMs: windows === null ? null : windows.least,
      windowMsMost: windows === null ? null : windows.most,
      phase: this.#phase(windows),
      startedBy: startedAt + clock.resolutionMs + 2 * clock.errorMs,
      complete: isComplete && complete,
      enforcement: group.enforcement,
      enforced: group.enforced,
      totals: bound && new SpanTotals(name, this.#time, bound.limit, bound.least, always),
      docket: this.#docket,
      open: this.open,
      columns: this.#columns,
    });
    if (windows !== null) this.open.know(quota.number, windows.limit, windows.most / 1000);
    const isOnEpoch = windows?.grid === epochGrid;
    const bare =
      bound !== null && isOnEpoch && clock.kind === "virtual"
        ? new BareWindows(name, this.#time, bound.limit, bound.least, always)
        : null;
    const known = knownNumbers(group.kind, name.told, windows?.limit ?? null, windows?.most ?? null);
    return this.#add({ ...known, name, group, quota, bare, isOnEpoch });
  }

  /** A count of which its answers' numbers are judged, and no windows. @param lengthMs `null` where it has none */
  unjudged(group: CountGroup, name: QuotaName, limit: number, lengthMs: number | null): Count {
    const known = knownNumbers(group.kind, name.told, limit, lengthMs);
    return this.#add({ ...known, name, group, quota: null, bare: null, isOnEpoch: false });
  }

  #add<C extends Count>(count: C): C {
    this.#size += 1;
    count.group.counts.push(count);
    return count;
  }

  #phase(windows: KnownWindows | null): TargetPhase | null {
    if (windows === null || windows.grid === null || windows.least > phasedMsMost) return null;
    const id = `${windows.grid} ${windows.least}`;
    const known = this.#phases.get(id) ?? new TargetPhase(windows.least);
    this.#phases.set(id, known);
    return known;
  }
}
