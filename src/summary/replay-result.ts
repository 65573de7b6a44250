// The result of a replay of a log under rules: the shape of replay.json. Plain data, bounded in size whatever the log.
import type { Owner, Rules, Scope } from "../rules/rules.ts";
import type { ExpectationResult } from "./summary.ts";

/** A row of the log that could not be read. */
export interface UnreadExample {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly why: string;
}

/** Log that was replayed. */
export interface ReplayedLog {
  readonly files: readonly string[];
  /** Rows that were read, and rows that could not be. */
  readonly rows: number;
  readonly unread: number;
  readonly examples: readonly UnreadExample[];
  /** Users who were put into an organization `default`, since no row named theirs. */
  readonly unplaced: number;
  /** Rows by what they asked for: `rest` and `graphql` are calls, which quotas count; the others are free. */
  readonly rest: number;
  readonly graphql: number;
  readonly status: number;
  readonly other: number;
  /** Of the rows that were read, in ms since the epoch; `null` where there was none. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

/** Calls by what would have become of them. A call is a row that a quota counts. */
export interface ReplayTotals {
  readonly calls: number;
  readonly admitted: number;
  readonly refused: number;
  /** Of `refused`; where both windows lacked room, the organization's (SPEC.md §2.4). */
  readonly refusedByOrganization: number;
  readonly refusedByUser: number;
  /** Of `refused`: the cost is above a limit, so that waiting helps nobody (SPEC.md §2.7). */
  readonly hopeless: number;
  /** Requested points of the admitted GraphQL calls. */
  readonly points: number;
  readonly users: number;
  readonly usersRefused: number;
  readonly organizations: number;
}

/** One span of time; spans follow one another without a gap. */
export interface ReplaySlot {
  /** Its start, ms since the epoch: a whole multiple of `slotMs`. */
  readonly atMs: number;
  readonly calls: number;
  readonly refusedByOrganization: number;
  readonly refusedByUser: number;
}

export interface ReplayUser {
  readonly org: string;
  readonly user: string;
  readonly calls: number;
  readonly refused: number;
  readonly refusedByOrganization: number;
  readonly refusedByUser: number;
  /** `null` where nothing was refused. Ms since the epoch. */
  readonly firstRefusedAt: number | null;
  readonly lastRefusedAt: number | null;
  /** The fullest of the user's windows, as `Headroom` has it; `null` where the user made no such call. */
  readonly restUseMax: number | null;
  readonly graphqlUseMax: number | null;
}

/**
 * Fullness of windows if nothing had been refused, as a share of their limit: above 1 if more was asked for than the
 * limit allows. Of the windows that had a call; those without one are not counted.
 */
export interface WindowUse {
  /** Windows with a call, and those of them that more was asked of than their limit. */
  readonly windows: number;
  readonly windowsOver: number;
  /** Windows that were filled to their limit, give or take a fiftieth; limits below ten are left out. */
  readonly windowsFull: number;
  /** Exact. */
  readonly useMax: number;
  /** To a thousandth of the limit, rounded up; nearest rank. */
  readonly useP99: number;
  readonly useP50: number;
  /** The smallest limit of these owners that would have refused none of these calls, by these windows. Exact. */
  readonly smallestLimit: number;
}

export interface Headroom extends WindowUse {
  readonly owner: Owner;
  readonly scope: Scope;
  /** `null`: of all organizations. */
  readonly org: string | null;
}

/** The smallest limit under which windows of a kind would have refused no row of the log, as it came. Exact. */
export interface SmallestLimit {
  readonly owner: Owner;
  readonly scope: Scope;
  /** The rules' limit, overrides by name left out. */
  readonly limit: number;
  /** Over every owner, those with a limit of their own included. */
  readonly smallest: number;
  /** Whose window needs it, and when that ended, in ms since the epoch. */
  readonly org: string;
  /** `null` for an organization's window. */
  readonly user: string | null;
  readonly windowEndsAt: number;
}

/** A window that would have refused calls. */
export interface RefusingWindow {
  readonly org: string;
  /** `null` for the organization's window. */
  readonly user: string | null;
  readonly scope: Scope;
  /** Ms since the epoch. */
  readonly opensAt: number;
  readonly endsAt: number;
  readonly limit: number;
  readonly refused: number;
  readonly firstRefusedAt: number;
}

/** Refusals by the log itself, beside the replay; of rows that have an HTTP status and are calls. */
export interface RecordedRefusals {
  readonly calls: number;
  /** Answered 429 in the log. */
  readonly refused: number;
  readonly both: number;
  readonly onlyInLog: number;
  readonly onlyInReplay: number;
  /**
   * True where windows pile up at a limit, and no row was refused: refused rows seem to have been left out of the log,
   * so that all figures of refusals are lower bounds.
   */
  readonly seemsFiltered: boolean;
}

/** The waits of callers that react, ms, nearest rank; `null` of none. */
export interface AddedWaits {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

export interface ReactingUser {
  readonly org: string;
  readonly user: string;
  readonly calls: number;
  readonly refusals: number;
  readonly gaveUp: number;
  readonly unfinished: number;
  /** The longest that one call of this user waited. */
  readonly waitMaxMs: number;
  /** Delay of the answer to this user's last call, against the log, ms. */
  readonly endsLaterMs: number;
}

/** The same log with callers that do something about a refusal, so that their later calls move. */
export interface ReplayReaction {
  /** As it was asked for. */
  readonly onRefused: string;
  readonly seed: number;
  /** True if callers send each call when the log has it, whatever became of those before. */
  readonly independent: boolean;
  /**
   * Calls that were wanted; refused rows of the log that are tries of these; and those left out, which cannot be told
   * from calls that come anyway.
   */
  readonly calls: number;
  readonly retries: number;
  readonly leftOut: number;
  /** Times that these were sent, and refused. */
  readonly attempts: number;
  readonly refusals: number;
  readonly refusedByOrganization: number;
  readonly refusedByUser: number;
  /** Fates of `calls`: admitted at once, admitted after a refusal, given up, still waiting at the end. */
  readonly admittedAtOnce: number;
  readonly admittedLater: number;
  readonly gaveUp: number;
  readonly unfinished: number;
  /** From when a call was first due to when it was let through, of all that were. */
  readonly waits: AddedWaits;
  /** Of those that were refused first. */
  readonly waitsOfRefused: AddedWaits;
  /** Added up over all calls. */
  readonly waitedMs: number;
  /** Delay of the answer to the last call, against the log, ms. */
  readonly endsLaterMs: number;
  /** Attempts and refusals over time. */
  readonly slotMs: number;
  readonly slots: readonly ReplaySlot[];
  /** The longest waits first, at most `replayUsersMost`. */
  readonly users: readonly ReactingUser[];
}

/** The demand of a log that refused, put back to when it was first wanted. */
export interface ReplayDemand {
  /** Calls that were wanted: a refused row and its retries are one. */
  readonly wishes: number;
  /** Refused rows that are tries of these. */
  readonly retries: number;
  /** Refused rows that cannot be told from calls that come anyway, and their users. */
  readonly untold: number;
  readonly untoldUsers: number;
  /** The smallest limits that would have refused none of it: what follows stays where it is, or moves up. */
  readonly limits: readonly {
    readonly owner: Owner;
    readonly scope: Scope;
    readonly limit: number;
    readonly low: number;
    readonly high: number;
  }[];
}

export interface ReplayResult {
  readonly format: "spillway-replay";
  readonly version: 1;
  readonly log: ReplayedLog;
  /** It was ended early: all of this is about the rows until `log.lastAt`. */
  readonly interrupted: boolean;
  readonly rules: Rules;
  readonly totals: ReplayTotals;
  readonly slotMs: number;
  /** At most `replaySlotsMost`, in order. */
  readonly slots: readonly ReplaySlot[];
  /** The most refused first, at most `replayUsersMost` of `totals.users`. */
  readonly users: readonly ReplayUser[];
  /** Of each kind of window that had a call. */
  readonly headroom: readonly Headroom[];
  /** Of each organization's windows, the fullest first, at most `replayOrganizationsMost`. */
  readonly organizations: readonly Headroom[];
  /** Of each kind of window that had a call. */
  readonly smallestLimits: readonly SmallestLimit[];
  /** The most refusing first, at most `replayWindowsMost` of `refusingWindowsSeen`. */
  readonly refusingWindows: readonly RefusingWindow[];
  readonly refusingWindowsSeen: number;
  /** `null` where the log has no statuses. */
  readonly recorded: RecordedRefusals | null;
  /** `null` where the log refused nobody, has too many rows, or was not read to its end. */
  readonly demand: ReplayDemand | null;
  /** `null` where callers were not to react, or the log was not read to its end. */
  readonly reaction: ReplayReaction | null;
  /** Expectations, in the order in which they were given (`replayFigures`). */
  readonly expectations: readonly ExpectationResult[];
}

export const replaySlotsMost = 400;
export const replayUsersMost = 1_000;
export const replayOrganizationsMost = 1_000;
export const replayWindowsMost = 1_000;
