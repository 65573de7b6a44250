// Terms that all replays share: how far one is, and how it differs by whether rules or a policy limit it.
import type { Limits } from "../fit/limits.ts";

/** Progress of a replay. */
export interface ReplayProgress {
  /** Rows replayed so far; or, while callers react, calls of `of` that are settled. */
  readonly rows: number;
  /** Their number; `null` while the log is read. */
  readonly of: number | null;
}

/** Differences between rules and policies. */
export interface ReplayWay {
  readonly limits: Limits;
  /** True if a refusal tells its quotas in the policy's order, rather than the tightest first. */
  readonly isInOrder: boolean;
  /** A call of a higher cost is none that a quota counts. */
  readonly costMost: number;
}
