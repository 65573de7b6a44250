// The result of a replay of a log under a policy: version 2 of replay.json. Plain data, bounded in size for any log.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import type { Policy } from "../policy/policy.ts";
import { maybe, ms, text, whole } from "../trace/shapes.ts";
import { common, demand, log, reaction, refusing, span, totals, user, windowUse } from "./replay-result.ts";

/** Numbers by quota, in the policy's order. */
const byQuota = v.array(whole);
export type ByQuota<Value = number> = readonly Value[];

/** Log that was replayed, with rows by the policy's operations. */
const quotaLog = v.object({
  ...log.entries,
  /** Number of rows by operation. */
  operations: v.record(text, whole),
  /** Number of `other` rows that match no route, and the first of their paths, as templates. */
  unrouted: whole,
  paths: v.array(text),
});
export type QuotaReplayedLog = Shape<typeof quotaLog>;

const quotaTotals = v.object({
  ...totals.entries,
  refusedBy: byQuota,
  /** Sums of the costs that admitted calls declared, by operation. */
  costs: v.record(text, whole),
});
export type QuotaReplayTotals = Shape<typeof quotaTotals>;

/** One span of time, like `ReplaySlot`. */
const slot = v.object({ atMs: ms, calls: whole, refusedBy: byQuota });
export type QuotaSlot = Shape<typeof slot>;

const quotaUser = v.object({
  ...user.entries,
  refusedBy: byQuota,
  /** Use of the user's fullest window by quota; `null` if no call of the user was charged to the quota. */
  useMax: v.array(maybe),
});
export type QuotaReplayUser = Shape<typeof quotaUser>;

/** Owner of a count: a quota, and the values of its key. */
const key = v.record(text, text, "texts by attribute");
const count = { quota: text, key };

/**
 * Fullness of a quota's windows, over all counts if `key` is `null`. A bucket's window begins when the bucket is no
 * longer full, and ends when it is full again.
 */
const headroom = v.object({ quota: text, key: v.nullable(key), ...windowUse.entries });
export type QuotaHeadroom = Shape<typeof headroom>;

/**
 * Exact smallest limit or capacity under which the counts of a quota that have one limit would have refused no row of
 * the log as it is.
 */
const smallest = v.object({
  ...count,
  /** The policy's limit, or one of an override; each has an entry of its own. */
  limit: whole,
  smallest: whole,
  /** End of the window that needs the smallest limit. */
  windowEndsAt: ms,
});
export type QuotaSmallest = Shape<typeof smallest>;

const refusingWindow = v.object({ ...count, ...refusing.entries });
export type QuotaRefusingWindow = Shape<typeof refusingWindow>;

const quotaDemand = v.object({
  ...demand.entries,
  limits: v.array(v.object({ quota: text, ...span.entries })),
});
export type QuotaDemand = Shape<typeof quotaDemand>;

const quotaReaction = v.object({ ...reaction.entries, refusedBy: byQuota, slots: v.array(slot) });
export type QuotaReaction = Shape<typeof quotaReaction>;

export const quotaReplaySchema = v.object({
  ...common.entries,
  version: v.literal(2, "1 or 2, the versions that this spillway reads"),
  log: quotaLog,
  // `parsePolicy` checks the policy.
  policy: v.record(text, v.unknown(), "a policy"),
  totals: quotaTotals,
  slots: v.array(slot),
  users: v.array(quotaUser),
  headroom: v.array(headroom),
  /** Fullness by count that several callers may share, the fullest first, at most `replayOrganizationsMost`. */
  counts: v.array(headroom),
  smallestLimits: v.array(smallest),
  refusingWindows: v.array(refusingWindow),
  demand: v.nullable(quotaDemand),
  reaction: v.nullable(quotaReaction),
});

/** Counterpart of `ReplayResult`, by the quotas of a policy. */
export interface QuotaReplayResult extends Omit<Shape<typeof quotaReplaySchema>, "policy"> {
  readonly policy: Policy;
}
