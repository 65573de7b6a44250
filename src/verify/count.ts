// Counts of either version of the trace: of one owner and scope by rules, or of one key and quota by a policy. Each
// comes with what bounds it beyond its windows.
import type { TraceHeader } from "../trace/record.ts";
import type { Whose } from "../trace/whose.ts";
import type { KnownNumbers } from "./answer-laws.ts";
import { BareWindows } from "./bare-windows.ts";
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import { EnforcedEvidence } from "./enforced-evidence.ts";
import type { Enforcement } from "./enforcement.ts";
import type { Holding } from "./held-rows.ts";
import { OpenWindows } from "./open-windows.ts";
import { OversizeCalls } from "./oversize.ts";
import { JudgedQuota } from "./quota.ts";
import type { QuotaName } from "./quota-name.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { RefusalOrder } from "./refusal-order.ts";
import { SpanTotals } from "./span-totals.ts";
import { phasedMsMost, TargetPhase } from "./target-phase.ts";
import { resetLeast, resetMost } from "./terms.ts";
import { UnenforcedRefusals } from "./unenforced-refusals.ts";
import type { Unexplained } from "./unknowns.ts";
import type { UnreadJudge } from "./unread.ts";
import { type UnreadFacts, unreadJudges } from "./unread-judges.ts";
import { WindowColumns } from "./window-columns.ts";

/** Common facts of the counts of one scope, or of one quota of a policy. */
export type CountKind = Pick<QuotaSetting, "terms" | "hypotheses" | "givesBack" | "shapes">;

/** Fixed windows, as rules or a policy define them. */
export interface KnownWindows {
  readonly limit: number;
  /** Least and greatest length, ms. */
  readonly least: number;
  readonly most: number;
  /** Name of the grid that they lie on; `null` if they lie on none. */
  readonly grid: string | null;
}

/** Returns the bounds of a count's numbers. @param lengthMs greatest length of a window; `null` without rules */
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

/** Name of the grid of Unix time. */
export const epochGrid = "epoch";

export interface Count extends KnownNumbers {
  readonly name: QuotaName;
  readonly group: CountGroup;
  /** The quota's judge. `null` if the count is not judged. */
  readonly quota: JudgedQuota | null;
  /** Windows for answers that show none. `null` if nothing else tells where windows lie. */
  readonly bare: BareWindows | null;
  /** Judges of what is let through and refused where counts are not read. */
  readonly unread: readonly UnreadJudge[];
  /** True if its windows are known to lie on the grid of Unix time. */
  readonly isOnEpoch: boolean;
}

export interface JudgedCount extends Count {
  readonly quota: JudgedQuota;
}

export const isJudged = (count: Count): count is JudgedCount => count.quota !== null;

/** Judge of ends by the grid that they lie on. */
export interface GridJudge {
  /** Checks a shown end. @param reset seconds that are shown beside it; by a policy, the unit of the reset, ms */
  observe(line: number, endMs: number, reset: number): void;
  finish(docket: Docket): void;
}

/** Counts whose limits are enforced together: an organization's and its users', or one alone. */
export interface CountGroup {
  readonly name: QuotaName;
  readonly kind: CountKind;
  readonly enforcement: Enforcement;
  readonly enforced: EnforcedEvidence;
  readonly refusals: UnenforcedRefusals;
  readonly oversize: OversizeCalls;
  /** Order of the windows in refusals. `null` if no rules define it. */
  readonly order: RefusalOrder | null;
  /** Ends that are instants of the target's clock, where windows lie on a grid. */
  readonly grid: GridJudge | null;
  /** Calls without a line that may have used one of the counts. */
  readonly lost: Unexplained;
  readonly counts: Count[];
}

/** The counts of one trace, each made when it is first seen. */
export class Counts {
  readonly open: OpenWindows;
  readonly #columns = new WindowColumns();
  /** Phases, by grid and length of the windows. */
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

  /** Makes a count whose windows are judged. @param windows `null` if neither rules nor a policy define them */
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
    return this.#add(Object.assign(known, { name, group, quota, bare, unread: [], isOnEpoch }));
  }

  /**
   * Makes a count of which only answers' numbers, and what is let through and refused, are judged.
   * @param lengthMs length of windows; `null` if none
   */
  unjudged(
    group: CountGroup,
    name: QuotaName,
    limit: number,
    lengthMs: number | null,
    facts: UnreadFacts,
  ): Count {
    const known = knownNumbers(group.kind, name.told, limit, lengthMs);
    const { complete, startedAt } = this.#header;
    const beganBy = complete ? this.#time.within(startedAt, startedAt).to : null;
    const unread = unreadJudges(name, facts, beganBy);
    return this.#add(
      Object.assign(known, { name, group, quota: null, bare: null, unread, isOnEpoch: false }),
    );
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
