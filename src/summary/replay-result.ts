// The result of a replay of a log under rules: the shape of replay.json. Plain data, bounded in size whatever the log.
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
  /** Rows that were read, and rows that could not be. */
  rows: whole,
  unread: whole,
  examples: v.array(v.object({ file: text, /** From 1. */ line: whole, text, why: text })),
  /** Users who were put into an organization `default`, since no row named theirs; earlier versions lack it. */
  unplaced: v.optional(whole, 0),
  status: whole,
  other: whole,
  /** Of the rows that were read, in ms since the epoch; `null` where there was none. */
  firstAt: v.nullable(ms),
  lastAt: v.nullable(ms),
});
/** Rows by what they asked for: `rest` and `graphql` are calls, which quotas count; the others are free. */
const rulesLog = v.object({ ...log.entries, rest: whole, graphql: whole });
export type ReplayedLog = Shape<typeof rulesLog>;

/** Of `refused`; where both windows lacked room, the organization's (SPEC.md §2.4). */
const refusals = { refusedByOrganization: whole, refusedByUser: whole };

/** Calls by what would have become of them. A call is a row that a quota counts. */
export const totals = v.object({
  calls: whole,
  admitted: whole,
  refused: whole,
  /** Of `refused`: the cost is above a limit, so that waiting helps nobody (SPEC.md §2.7). */
  hopeless: whole,
  users: whole,
  usersRefused: whole,
  organizations: whole,
});
const rulesTotals = v.object({
  ...totals.entries,
  ...refusals,
  /** Requested points of the admitted GraphQL calls. */
  points: whole,
});
export type ReplayTotals = Shape<typeof rulesTotals>;

/** One span of time, from its start, a whole multiple of `slotMs`; spans follow one another without a gap. */
const slot = v.object({ atMs: ms, calls: whole, ...refusals });
export type ReplaySlot = Shape<typeof slot>;

export const user = v.object({
  org: text,
  user: text,
  calls: whole,
  refused: whole,
  /** `null` where nothing was refused. */
  firstRefusedAt: v.nullable(ms),
  lastRefusedAt: v.nullable(ms),
});
const rulesUser = v.object({
  ...user.entries,
  ...refusals,
  /** The fullest of the user's windows, as `Headroom` has it; `null` where the user made no such call. */
  restUseMax: maybe,
  graphqlUseMax: maybe,
});
export type ReplayUser = Shape<typeof rulesUser>;

/**
 * Fullness of windows if nothing had been refused, as a share of their limit: above 1 if more was asked for than the
 * limit allows. Of the windows that had a call; those without one are not counted.
 */
export const windowUse = v.object({
  /** Windows with a call, and those of them that more was asked of than their limit. */
  windows: whole,
  windowsOver: whole,
  /** Windows that were filled to their limit, give or take a fiftieth; limits below ten are left out. */
  windowsFull: v.optional(whole, 0),
  /** Exact. */
  useMax: amount,
  /** To a thousandth of the limit, rounded up; nearest rank. */
  useP99: amount,
  useP50: amount,
  /** The smallest limit of these owners that would have refused none of these calls, by these windows. Exact. */
  smallestLimit: amount,
});
export type WindowUse = Shape<typeof windowUse>;

/** Of an organization's windows, or of all organizations': `null`. */
const headroom = v.object({ owner, scope, org: v.nullable(text), ...windowUse.entries });
export type Headroom = Shape<typeof headroom>;

/** A window that would have refused calls. */
export const refusing = v.object({
  /** Of a bucket, from its first refusal until it would have been full. */
  opensAt: ms,
  endsAt: ms,
  limit: whole,
  refused: whole,
  firstRefusedAt: ms,
});

/** Refusals by the log itself, beside the replay; of rows that have an HTTP status and are calls. */
const recorded = v.object({
  calls: whole,
  /** Answered 429 in the log. */
  refused: whole,
  both: whole,
  onlyInLog: whole,
  onlyInReplay: whole,
  /**
   * True where windows pile up at a limit, and no row was refused: refused rows seem to have been left out of the log,
   * so that all figures of refusals are lower bounds. Earlier versions lack it.
   */
  seemsFiltered: v.optional(yes, false),
});
export type RecordedRefusals = Shape<typeof recorded>;

/** The waits of callers that react, ms, nearest rank; `null` of none. */
const waits = v.object({ p50: maybe, p95: maybe, p99: maybe, max: maybe });
export type AddedWaits = Shape<typeof waits>;

const reactingUser = v.object({
  org: text,
  user: text,
  calls: whole,
  refusals: whole,
  gaveUp: whole,
  unfinished: whole,
  /** The longest that one call of this user waited. */
  waitMaxMs: amount,
  /** Delay of the answer to this user's last call, against the log, ms. */
  endsLaterMs: amount,
});
export type ReactingUser = Shape<typeof reactingUser>;

/** The same log with callers that do something about a refusal, so that their later calls move. */
export const reaction = v.object({
  /** As it was asked for. */
  onRefused: text,
  seed: whole,
  /** True if callers send each call when the log has it, whatever became of those before. */
  independent: yes,
  /**
   * Calls that were wanted; refused rows of the log that are tries of these, which earlier versions lack; and those left
   * out, which cannot be told from calls that come anyway.
   */
  calls: whole,
  retries: v.optional(whole, 0),
  leftOut: whole,
  /** Times that these were sent, and refused. */
  attempts: whole,
  refusals: whole,
  /** Fates of `calls`: admitted at once, admitted after a refusal, given up, still waiting at the end. */
  admittedAtOnce: whole,
  admittedLater: whole,
  gaveUp: whole,
  unfinished: whole,
  /** From when a call was first due to when it was let through, of all that were. */
  waits,
  /** Of those that were refused first. */
  waitsOfRefused: waits,
  /** Added up over all calls. */
  waitedMs: amount,
  /** Delay of the answer to the last call, against the log, ms. */
  endsLaterMs: amount,
  slotMs: amount,
  /** The longest waits first, at most `replayUsersMost`. */
  users: v.array(reactingUser),
});
/** Its slots are attempts and refusals over time. */
const rulesReaction = v.object({ ...reaction.entries, ...refusals, slots: v.array(slot) });
export type ReplayReaction = Shape<typeof rulesReaction>;

/** The demand of a log that refused, put back to when it was first wanted. */
export const demand = v.object({
  /** Calls that were wanted: a refused row and its retries are one. */
  wishes: whole,
  /** Refused rows that are tries of these. */
  retries: whole,
  /** Refused rows that cannot be told from calls that come anyway, and their users. */
  untold: whole,
  untoldUsers: whole,
});
export const span = v.object({ limit: whole, low: whole, high: whole });
const rulesDemand = v.object({
  ...demand.entries,
  /** The smallest limits that would have refused none of it: what follows stays where it is, or moves up. */
  limits: v.array(v.object({ owner, scope, ...span.entries })),
});
export type ReplayDemand = Shape<typeof rulesDemand>;

/** Members that results under rules and under a policy have alike. */
export const common = v.object({
  format: v.literal("spillway-replay", '"spillway-replay"'),
  /** It was ended early: all of this is about the rows until `log.lastAt`. */
  interrupted: yes,
  slotMs: amount,
  refusingWindowsSeen: whole,
  /** `null` where the log has no statuses. */
  recorded: v.nullable(recorded),
  /** Expectations, in the order in which they were given (`replayFigures`). */
  expectations: v.array(expectation),
});

export const rulesReplaySchema = v.object({
  ...common.entries,
  version,
  log: rulesLog,
  // Checked by `parseRules`.
  rules: v.record(text, v.unknown(), "rules"),
  totals: rulesTotals,
  /** At most `replaySlotsMost`, in order. */
  slots: v.array(slot),
  /** The most refused first, at most `replayUsersMost` of `totals.users`. */
  users: v.array(rulesUser),
  /** Of each kind of window that had a call. */
  headroom: v.array(headroom),
  /** Of each organization's windows, the fullest first, at most `replayOrganizationsMost`. */
  organizations: v.array(headroom),
  /** The smallest limit under which windows of each kind would have refused no row of the log, as it came. Exact. */
  smallestLimits: v.array(
    v.object({
      owner,
      scope,
      /** The rules' limit, overrides by name left out. */
      limit: whole,
      /** Over every owner, those with a limit of their own included. */
      smallest: whole,
      /** Whose window needs it, and when that ended; the user is `null` for an organization's. */
      org: text,
      user: v.nullable(text),
      windowEndsAt: ms,
    }),
  ),
  /** The most refusing first, at most `replayWindowsMost`; the user is `null` for an organization's. */
  refusingWindows: v.array(v.object({ org: text, user: v.nullable(text), scope, ...refusing.entries })),
  /** `null` where the log refused nobody, has too many rows, or was not read to its end. */
  demand: v.optional(v.nullable(rulesDemand), null),
  /** `null` where callers were not to react, or the log was not read to its end. */
  reaction: v.nullable(rulesReaction),
});

export interface ReplayResult extends Omit<Shape<typeof rulesReplaySchema>, "rules"> {
  readonly rules: Rules;
}

export const replaySlotsMost = 400;
export const replayUsersMost = 1_000;
export const replayOrganizationsMost = 1_000;
export const replayWindowsMost = 1_000;
