// The result of a replay of a log under rules: the shape of replay.json. Plain data, bounded in size for any log.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import { owners, type Rules, scopes } from "../rules/rules.ts";
import { amount, maybe, ms, text, version, whole, yes } from "../trace/shapes.ts";
import { expectation } from "./summary.ts";

const owner = v.picklist(owners);
const scope = v.picklist(scopes);

/** Log that was replayed. */
export const log = v.object({
  files: v.array(text),
  /** Number of rows that were read, and of rows that could not be read. */
  rows: whole,
  unread: whole,
  examples: v.array(v.object({ file: text, /** From 1. */ line: whole, text, why: text })),
  /** Number of users put into an organization `default`, as no row named theirs. Earlier versions lack this. */
  unplaced: v.optional(whole, 0),
  /** Number of rows that name no user, and so are one user's, `everyone`. Earlier versions lack this. */
  anonymous: v.optional(whole, 0),
  /** Sentences that people should know about the log. Earlier versions lack this. */
  notes: v.optional(v.array(text), []),
  status: whole,
  other: whole,
  /** Times of the first and last row read, ms since the epoch; `null` if there was none. */
  firstAt: v.nullable(ms),
  lastAt: v.nullable(ms),
});
/** Log with numbers of rows by kind: quotas count `rest` and `graphql` calls; the others are free. */
const rulesLog = v.object({ ...log.entries, rest: whole, graphql: whole });
export type ReplayedLog = Shape<typeof rulesLog>;

/** Number of `refused` calls by owner: the organization if both windows lacked room (SPEC.md §2.4). */
const refusals = { refusedByOrganization: whole, refusedByUser: whole };

/** Number of calls by outcome under these limits. A call is a row that a quota counts. */
export const totals = v.object({
  calls: whole,
  admitted: whole,
  refused: whole,
  /** Number of `refused` calls that cost more than a limit, so that waiting does not help (SPEC.md §2.7). */
  hopeless: whole,
  users: whole,
  usersRefused: whole,
  organizations: whole,
});
const rulesTotals = v.object({
  ...totals.entries,
  ...refusals,
  /** Sum of the points that admitted GraphQL calls asked for. */
  points: whole,
});
export type ReplayTotals = Shape<typeof rulesTotals>;

/** One span of `slotMs`, whose start `atMs` is a multiple of `slotMs`. There are no gaps between spans. */
const slot = v.object({ atMs: ms, calls: whole, ...refusals });
export type ReplaySlot = Shape<typeof slot>;

export const user = v.object({
  org: text,
  user: text,
  calls: whole,
  refused: whole,
  /** Times of refusals; `null` if there was none. */
  firstRefusedAt: v.nullable(ms),
  lastRefusedAt: v.nullable(ms),
});
const rulesUser = v.object({
  ...user.entries,
  ...refusals,
  /** Use of the user's fullest window, as in `Headroom`; `null` if the user made no such call. */
  restUseMax: maybe,
  graphqlUseMax: maybe,
});
export type ReplayUser = Shape<typeof rulesUser>;

/**
 * Fullness of windows if nothing had been refused, as a share of their limit: above 1 if calls asked for more than the
 * limit. Only windows with a call count.
 */
export const windowUse = v.object({
  /** Number of windows with a call, and of those whose calls asked for more than the limit. */
  windows: whole,
  windowsOver: whole,
  /** Number of windows filled to their limit, give or take a fiftieth; limits below ten are left out. */
  windowsFull: v.optional(whole, 0),
  /** Exact use of the fullest window. */
  useMax: amount,
  /** Percentiles of use, nearest rank, rounded up to a thousandth of the limit. */
  useP99: amount,
  useP50: amount,
  /** Exact smallest limit of these owners under which these windows would have refused none of these calls. */
  smallestLimit: amount,
});
export type WindowUse = Shape<typeof windowUse>;

/** Fullness of one organization's windows, or of all organizations' windows if `org` is `null`. */
const headroom = v.object({ owner, scope, org: v.nullable(text), ...windowUse.entries });
export type Headroom = Shape<typeof headroom>;

/** A window that would have refused calls. */
export const refusing = v.object({
  /** Span of the window; for a bucket, from its first refusal until it would have been full. */
  opensAt: ms,
  endsAt: ms,
  limit: whole,
  refused: whole,
  firstRefusedAt: ms,
});

/** Refusals in the log compared with those of the replay, over calls whose rows have an HTTP status. */
const recorded = v.object({
  calls: whole,
  /** Number of calls answered 429 in the log. */
  refused: whole,
  both: whole,
  onlyInLog: whole,
  onlyInReplay: whole,
  /**
   * True if windows pile up at a limit, and no row was refused: the log seems to leave out refused rows, so that all
   * figures of refusals are lower bounds. Earlier versions lack this.
   */
  seemsFiltered: v.optional(yes, false),
});
export type RecordedRefusals = Shape<typeof recorded>;

/** Waits of callers that react, ms, nearest rank; `null` if there are none. */
const waits = v.object({ p50: maybe, p95: maybe, p99: maybe, max: maybe });
export type AddedWaits = Shape<typeof waits>;

const reactingUser = v.object({
  org: text,
  user: text,
  calls: whole,
  refusals: whole,
  gaveUp: whole,
  unfinished: whole,
  /** Longest wait of one call of this user, ms. */
  waitMaxMs: amount,
  /** Delay of the answer to this user's last call, against the log, ms. */
  endsLaterMs: amount,
});
export type ReactingUser = Shape<typeof reactingUser>;

/** Replay of the log with callers that react to refusals, so that their later calls move. */
export const reaction = v.object({
  /** Retry policy as the user wrote it. */
  onRefused: text,
  seed: whole,
  /** True if callers send each call at the log's time, even while earlier calls wait. */
  independent: yes,
  /**
   * Number of wanted calls; of refused rows that retry these (earlier versions lack it); and of refused rows left out,
   * since they cannot be told from calls that come anyway.
   */
  calls: whole,
  retries: v.optional(whole, 0),
  leftOut: whole,
  /** Number of `calls` that a clock begins, so that earlier ones do not hold them up (earlier versions lack it). */
  byClock: v.optional(whole, 0),
  /** Number of attempts at `calls`, and of refused attempts. */
  attempts: whole,
  refusals: whole,
  /** Number of `calls` admitted at once, admitted after a refusal, given up, and still waiting at the end. */
  admittedAtOnce: whole,
  admittedLater: whole,
  gaveUp: whole,
  unfinished: whole,
  /** Waits from a call's first due time to its admission, over all admitted calls. */
  waits,
  /** Waits of the calls that were admitted after a refusal. */
  waitsOfRefused: waits,
  /**
   * Times from a call's time in the log to its admission, over all admitted calls: waits behind the caller's earlier
   * calls included. `null` in results of earlier versions.
   */
  delays: v.optional(v.nullable(waits), null),
  /** Sum of the waits of all calls, ms. */
  waitedMs: amount,
  /** Delay of the answer to the last call, against the log, ms. */
  endsLaterMs: amount,
  slotMs: amount,
  /** Users with the longest waits first, at most `replayUsersMost`. */
  users: v.array(reactingUser),
});
/** Reaction under rules, whose slots count attempts and refusals. */
const rulesReaction = v.object({ ...reaction.entries, ...refusals, slots: v.array(slot) });
export type ReplayReaction = Shape<typeof rulesReaction>;

/** Demand of a log with refusals, moved back to the times when calls were first wanted. */
export const demand = v.object({
  /** Number of wanted calls, without the untold rows; a refused row and its retries are one. */
  wishes: whole,
  /** Number of refused rows that are tries of these. */
  retries: whole,
  /** Number of refused rows that cannot be told from calls that come anyway, and of their users. */
  untold: whole,
  untoldUsers: whole,
});
export const span = v.object({ limit: whole, low: whole, high: whole });
const rulesDemand = v.object({
  ...demand.entries,
  /** Smallest limits that would have refused no wish; from `low` to `high`, as later calls stay or move up. */
  limits: v.array(v.object({ owner, scope, ...span.entries })),
});
export type ReplayDemand = Shape<typeof rulesDemand>;

/** Members that results under rules and under a policy share. */
export const common = v.object({
  format: v.literal("spillway-replay", '"spillway-replay"'),
  /** True if the replay was ended early; the result then covers the rows until `log.lastAt`. */
  interrupted: yes,
  slotMs: amount,
  refusingWindowsSeen: whole,
  /** Comparison with the log's refusals; `null` if the log has no statuses. */
  recorded: v.nullable(recorded),
  /** Results of the expectations, in the order given (`judgeReplay`). */
  expectations: v.array(expectation),
});

export const rulesReplaySchema = v.object({
  ...common.entries,
  version,
  log: rulesLog,
  // `parseRules` checks the rules.
  rules: v.record(text, v.unknown(), "rules"),
  totals: rulesTotals,
  /** Slots in the order of time, at most `replaySlotsMost`. */
  slots: v.array(slot),
  /** Users, the most refused first, at most `replayUsersMost` of `totals.users`. */
  users: v.array(rulesUser),
  /** Fullness by kind of window that had a call. */
  headroom: v.array(headroom),
  /** Fullness by organization, the fullest first, at most `replayOrganizationsMost`. */
  organizations: v.array(headroom),
  /** Exact smallest limit by kind and limit of windows under which these would have refused no row of the log as it is. */
  smallestLimits: v.array(
    v.object({
      owner,
      scope,
      /** The rules' limit, or one of an override; each has an entry of its own. */
      limit: whole,
      smallest: whole,
      /** Owner and end of the window that needs `smallest`; `user` is `null` for an organization's. */
      org: text,
      user: v.nullable(text),
      windowEndsAt: ms,
    }),
  ),
  /** Windows, the most refusing first, at most `replayWindowsMost`; `user` is `null` for an organization's. */
  refusingWindows: v.array(v.object({ org: text, user: v.nullable(text), scope, ...refusing.entries })),
  /** Demand; `null` if the log refused nobody, has too many rows, or was not read to its end. */
  demand: v.optional(v.nullable(rulesDemand), null),
  /** Reaction; `null` if callers do not react, or if the log was not read to its end. */
  reaction: v.nullable(rulesReaction),
});

export interface ReplayResult extends Omit<Shape<typeof rulesReplaySchema>, "rules"> {
  readonly rules: Rules;
}

export const replaySlotsMost = 400;
export const replayUsersMost = 1_000;
export const replayOrganizationsMost = 1_000;
export const replayWindowsMost = 1_000;
