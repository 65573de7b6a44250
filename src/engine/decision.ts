// A decision by a policy, as plain data (POLICY.md §2, §4, §5).
import type { ReadingToWrite } from "../wire/write-answer.ts";

/** One call to decide. */
export interface PolicyCall {
  /** The caller's attributes by name. */
  readonly caller: Readonly<Record<string, string>>;
  readonly operation: string;
  /** Cost that it declares; a safe integer >= 0. */
  readonly cost: number;
}

/** Reading of one quota for one caller; the engine leaves its clock out. */
export interface Reading extends ReadingToWrite {
  readonly enforced: boolean;
}

/** Held by an admitted call until it completes. Plain JSON; settle it once. */
export interface PolicyReservation extends PolicyCall {
  /** End of each quota's window at the decision, in the policy's order; `null` where none was open, or of a bucket. */
  readonly windows: readonly (number | null)[];
}

export interface PolicyDecision {
  /** The quota that refused; `null` where the call is admitted. */
  readonly refusedBy: string | null;
  /** Earliest instant at which the refusing quota has room for this call; `null` where there is none. */
  readonly retryAtMs: number | null;
  /** The quotas of the operation just after the decision, in the policy's order. */
  readonly readings: readonly Reading[];
  readonly reservation: PolicyReservation | null;
}
