// The counts of one window, as they are judged.
import type { TraceTime } from "./clock.ts";
import type { Mark } from "./mark.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Terms } from "./terms.ts";

export type Method = "places" | "bounds";

export const methodOf = ({ charging }: Terms): Method => (charging === "reserved" ? "bounds" : "places");

/** Longest time, ms, that a call may have been under way when the trace began: k6 gives up after it. */
export const underWayMsMost = 60_000;

/** Returns the sending from which on unknown calls give nothing back. @param complete true if all calls are known */
export function keptFrom({ givesBack, startedBy }: CountedQuota, complete: boolean): number {
  if (!givesBack) return Number.NEGATIVE_INFINITY;
  return complete ? startedBy + underWayMsMost : Number.POSITIVE_INFINITY;
}

/** Facts of a quota that its counts are judged by (`QuotaSetting`), and the docket that takes clues. */
export interface CountedQuota {
  readonly name: QuotaName;
  readonly terms: Terms;
  readonly time: TraceTime;
  readonly startedBy: number;
  readonly givesBack: boolean;
  readonly docket: {
    readonly clues: {
      readonly ruledIn: { add(fault: "double-count" | "skewed-nodes" | "window-slides"): void };
    };
    readonly takesPicture: boolean;
  };
}

/** Facts of a window under any terms. */
export interface WindowInput {
  readonly setting: CountedQuota;
  readonly marks: readonly Mark[];
  /** Marks of calls that show a later window, and may have been charged to this one if points are given back. */
  readonly others: readonly Mark[];
  readonly limit: number;
  /** True if the window surely opened after the trace began, and so at a count of 0. */
  readonly fromZero: boolean;
  readonly complete: boolean;
  /** True if no call that was under way when the trace began can have been charged here on completion. */
  readonly settled: boolean;
  /** Instant from which on a sent call surely belongs to the window that it shows, whenever it is charged. */
  readonly openedBy: number;
  readonly previous: PreviousWindow | null;
}

/** A window's facts under known terms. */
export interface CountsInput extends WindowInput {
  readonly terms: Terms;
  /** Instant from which on a sent call was surely charged to the window that it shows. */
  readonly certainFrom: number;
}

/** Facts of the previous window, for suspects. */
export interface PreviousWindow {
  /** Highest count of the window. */
  readonly count: number;
  /** True if the window began with the count of the one before. */
  readonly carried: boolean;
}
