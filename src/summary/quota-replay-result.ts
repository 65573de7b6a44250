// The result of a replay of a log under a policy: version 2 of replay.json. Plain data, bounded in size whatever the log.
import type { Policy } from "../policy/policy.ts";
import type {
  RecordedRefusals,
  ReplayDemand,
  ReplayedLog,
  ReplayReaction,
  ReplayTotals,
  ReplayUser,
  WindowUse,
} from "./replay-result.ts";
import type { ExpectationResult } from "./summary.ts";

/** Numbers by quota, in the policy's order. */
export type ByQuota<Value = number> = readonly Value[];

/** Log that was replayed, by the policy's operations. */
export interface QuotaReplayedLog extends Omit<ReplayedLog, "rest" | "graphql"> {
  /** Rows by operation. */
  readonly operations: Readonly<Record<string, number>>;
  /** Of `other`: rows that match no route, and the first of their paths, as templates. */
  readonly unrouted: number;
  readonly paths: readonly string[];
}

/** Calls by what would have become of them. */
export interface QuotaReplayTotals
  extends Omit<ReplayTotals, "refusedByOrganization" | "refusedByUser" | "points"> {
  readonly refusedBy: ByQuota;
  /** Costs that admitted calls declared, by operation. */
  readonly costs: Readonly<Record<string, number>>;
}

/** One span of time; spans follow one another without a gap. */
export interface QuotaSlot {
  /** Its start, ms since the epoch: a whole multiple of `slotMs`. */
  readonly atMs: number;
  readonly calls: number;
  readonly refusedBy: ByQuota;
}

export interface QuotaReplayUser
  extends Omit<ReplayUser, "refusedByOrganization" | "refusedByUser" | "restUseMax" | "graphqlUseMax"> {
  readonly refusedBy: ByQuota;
  /** The fullest window of each quota that the user's calls were charged to; `null` where they were not. */
  readonly useMax: ByQuota<number | null>;
}

/** Whose count it is: a quota, and the values of its key. */
interface CountName {
  readonly quota: string;
  readonly key: Readonly<Record<string, string>>;
}

/** Fullness of a quota's windows; a bucket's begins when it is no longer full, and ends when it is full again. */
export interface QuotaHeadroom extends WindowUse {
  readonly quota: string;
  /** `null`: of all counts. */
  readonly key: CountName["key"] | null;
}

/** The smallest limit, or capacity, under which a quota would have refused no row of the log, as it came. Exact. */
export interface QuotaSmallest extends CountName {
  /** The policy's limit, overrides left out. */
  readonly limit: number;
  readonly smallest: number;
  /** When the window that needs it ended, ms since the epoch. */
  readonly windowEndsAt: number;
}

/** A window that would have refused calls. */
export interface QuotaRefusingWindow extends CountName {
  /** Ms since the epoch; of a bucket, from its first refusal until it would have been full. */
  readonly opensAt: number;
  readonly endsAt: number;
  readonly limit: number;
  readonly refused: number;
  readonly firstRefusedAt: number;
}

export interface QuotaDemand extends Omit<ReplayDemand, "limits"> {
  readonly limits: readonly {
    readonly quota: string;
    readonly limit: number;
    readonly low: number;
    readonly high: number;
  }[];
}

export interface QuotaReaction
  extends Omit<ReplayReaction, "refusedByOrganization" | "refusedByUser" | "slots"> {
  readonly refusedBy: ByQuota;
  readonly slots: readonly QuotaSlot[];
}

/** As `ReplayResult`, by the quotas of a policy. */
export interface QuotaReplayResult {
  readonly format: "spillway-replay";
  readonly version: 2;
  readonly log: QuotaReplayedLog;
  readonly interrupted: boolean;
  readonly policy: Policy;
  readonly totals: QuotaReplayTotals;
  readonly slotMs: number;
  readonly slots: readonly QuotaSlot[];
  readonly users: readonly QuotaReplayUser[];
  readonly headroom: readonly QuotaHeadroom[];
  /** Of each count that several callers may share, the fullest first, at most `replayOrganizationsMost`. */
  readonly counts: readonly QuotaHeadroom[];
  readonly smallestLimits: readonly QuotaSmallest[];
  readonly refusingWindows: readonly QuotaRefusingWindow[];
  readonly refusingWindowsSeen: number;
  readonly recorded: RecordedRefusals | null;
  readonly demand: QuotaDemand | null;
  readonly reaction: QuotaReaction | null;
  readonly expectations: readonly ExpectationResult[];
}
