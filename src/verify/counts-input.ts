// The counts of one window, as they are judged.
import type { TraceTime } from "./clock.ts";
import type { Mark } from "./mark.ts";
import type { QuotaName } from "./quota-name.ts";
import type { Terms } from "./terms.ts";

export type Method = "places" | "bounds";

export const methodOf = ({ charging }: Terms): Method => (charging === "reserved" ? "bounds" : "places");

/** Longest time, ms, that a call may have been under way when the trace began: k6 gives up after it. */
export const underWayMsMost = 60_000;

/** Returns from when on nothing unknown is given back to a quota's windows. @param complete all calls since the trace began are known */
export function keptFrom({ givesBack, startedBy }: CountedQuota, complete: boolean): number {
  if (!givesBack) return Number.NEGATIVE_INFINITY;
  return complete ? startedBy + underWayMsMost : Number.POSITIVE_INFINITY;
}

/** Facts of a quota that its counts are judged by (`QuotaSetting`), and where clues are told. */
export interface CountedQuota {
  readonly name: QuotaName;
  readonly terms: Terms;
  readonly time: TraceTime;
  readonly startedBy: number;
  readonly givesBack: boolean;
  readonly docket: {
    readonly clues: { readonly ruledIn: { add(fault: "double-count"): void } };
    readonly takesPicture: boolean;
  };
}

/** Facts of a window, whatever the terms. */
export interface WindowInput {
  readonly setting: CountedQuota;
  readonly marks: readonly Mark[];
  /** Calls that show a later window, and may have been charged to this one if points are given back. */
  readonly others: readonly Mark[];
  readonly limit: number;
  /** True if the window surely opened after the trace began, and so at a count of 0. */
  readonly fromZero: boolean;
  readonly complete: boolean;
  /** True if nothing that was under way when the trace began can have been charged here on completion. */
  readonly settled: boolean;
  /** A call that was sent at or after this surely belongs to the window that it shows, whenever it is charged. */
  readonly openedBy: number;
  readonly previous: PreviousWindow | null;
}

/** The same under terms that are known. */
export interface CountsInput extends WindowInput {
  readonly terms: Terms;
  /** Calls that were sent at or after this were surely charged to the window they show. */
  readonly certainFrom: number;
}

/** Facts of the window before; guesses at the fault go by them. */
export interface PreviousWindow {
  /** Its highest count. */
  readonly count: number;
  /** True if it began with the count of the one before. */
  readonly carried: boolean;
}
