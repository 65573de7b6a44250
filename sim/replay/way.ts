// Terms that all replays share: their progress, and the differences between rules and a policy.
export interface ReplayProgress {
  /** Number of rows replayed so far; or, while callers react, of calls that are settled. */
  readonly rows: number;
  /** Number of all of them; `null` while the log is read. */
  readonly of: number | null;
}

/** Differences between rules and policies. */
export interface ReplayWay {
  /** True if a refusal tells its quotas in the policy's order, and not the tightest first. */
  readonly isInOrder: boolean;
  /** Greatest cost of a call that a quota counts. */
  readonly costMost: number;
}
