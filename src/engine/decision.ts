// A decision by a policy, as plain data (POLICY.md §2, §4, §5).
import type { ReadingToWrite } from "../wire/write-answer.ts";

export interface PolicyCall {
  /** Attributes of the caller, by name. */
  readonly caller: Readonly<Record<string, string>>;
  readonly operation: string;
  /** Cost that the call declares, a safe integer >= 0. */
  readonly cost: number;
}

/** Reading of one quota for one caller, without the engine's clock. */
export interface Reading extends ReadingToWrite {
  readonly enforced: boolean;
}

/** Holding of an admitted call until it completes. Plain JSON; settle it once. */
export interface PolicyReservation extends PolicyCall {
  /** End of each quota's window at the decision, in the policy's order; `null` if none was open, and for a bucket. */
  readonly windows: readonly (number | null)[];
}

export interface PolicyDecision {
  /** Quota that refused; `null` if the call is admitted. */
  readonly refusedBy: string | null;
  /** Earliest instant, ms, at which the refusing quota has room for this call; `null` if there is none. */
  readonly retryAtMs: number | null;
  /** Readings of the operation's quotas just after the decision, in the policy's order. */
  readonly readings: readonly Reading[];
  readonly reservation: PolicyReservation | null;
}
