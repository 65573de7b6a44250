// The view of laws: each operation of a history (a look), with its counts just before and just after (sights). Laws know
// no other model. Ledgers fill it, by a policy (`quotas/ledger.ts`) or by rules (`ledger.ts`).
import { limitOf } from "../policy/effective.ts";
import type { Quota } from "../policy/policy.ts";
import type { ReadAnswer } from "../wire/read-answer.ts";
import type {
  CallerAttributes,
  QuotaCallEvent,
  QuotaCallOp,
  QuotaEvent,
  QuotaHistory,
  QuotaOp,
  QuotaScript,
} from "./quotas/script.ts";
import type { LawKind } from "./script.ts";
import type { CountSpan } from "./window-book.ts";

/** One count: a quota of one key. */
export interface QuotaKey {
  readonly quota: string;
  readonly key: CallerAttributes;
}

/** Types of the laws under a policy. */
export interface QuotasKind extends LawKind {
  readonly script: QuotaScript;
  readonly op: QuotaOp;
  readonly history: QuotaHistory;
  readonly window: QuotaKey;
  readonly call: QuotaCallOp;
  readonly answered: QuotaCallEvent;
}

/** Numbers of a count that a limiter showed, beside the right ones; `null` if not shown. */
export interface ShownCount {
  /** Source: `said` by the limiter's own words, or read from its HTTP `answer`. */
  readonly by: "said" | "answer";
  /** The limiter's name for the points used. */
  readonly name: "used" | "current";
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly used: number | null;
  /** Instant of the reset, ms since the epoch; in an answer perhaps ms from now, as its format tells. */
  readonly reset: number | null;
  /** Whole seconds until the reset, if the limiter says them itself. */
  readonly seconds: number | null;
  /** The right numbers; `null` for those that only the limiter knows. */
  readonly right: {
    readonly limit: number | null;
    readonly remaining: CountSpan | null;
    readonly used: CountSpan | null;
    readonly reset: number | null;
  };
}

/** A count just before a call was decided. */
export interface Found {
  /** Points used; `null` if the rules leave them open. */
  readonly used: CountSpan | null;
  readonly limit: number;
  /** Room that the call needs, points. */
  readonly needed: number;
  /** Instant at which a bucket has that room, ms; `null` if never. */
  readonly roomAtMs: number | null;
}

/** One count at one operation. */
export interface Sight extends QuotaKey {
  /** Name of the count (`nameOfCount`), for maps. */
  readonly name: string;
  /** Index of the operation in the history. */
  readonly at: number;
  readonly event: QuotaEvent;
  /** The quota, with the overrides for this key. */
  readonly rule: Quota;
  readonly limit: number;
  /** Length of a window, or time to fill an empty bucket, ms. */
  readonly lengthMs: number;
  /** 1 if a window includes the instant of its end, else 0; ms. */
  readonly lateMs: number;
  /** Clock of the count, ms. It never steps back. */
  readonly clockMs: number;
  /** The count before the decision; `null` if the operation decides nothing. */
  readonly found: Found | null;
  /** Points charged before this operation, and after it. */
  readonly before: CountSpan;
  readonly after: CountSpan;
  /** Charge of this operation alone; `null` if it counts nothing. */
  readonly charge: CountSpan | null;
  readonly givenBack: number;
  /** False if the rules leave open whether a window is open at all. */
  readonly sure: boolean;
  /** True if this window had no charge before. */
  readonly fresh: boolean;
  /** True if the count is fresh and an earlier charge of this key is over. */
  readonly isRenewed: boolean;
  /** True if this operation surely opened the window, by rules; so no window was open before. */
  readonly opened?: boolean;
  /** Number or end of the window that a reading belongs to; `null` for no window, and for a bucket. */
  readonly window: number | null;
  /** Instant at which the window ends or the bucket is full, ms; `null` if nothing is used. */
  readonly untilMs: number | null;
  readonly isEnforced: boolean;
  /** True if the count may pass its limit: its quota is not enforced, or was not at an earlier charge. */
  readonly mayPass: boolean;
  /** The count that the limiter said, or that its `remaining` shows. */
  readonly current: number | null;
  /** The count that the limiter said before in this window, less the points given back since. */
  readonly last: number | null;
  readonly shown: readonly ShownCount[];
}

/** One operation, with all of its counts. */
export interface Look {
  readonly at: number;
  readonly event: QuotaEvent;
  readonly sights: readonly Sight[];
  /** The right HTTP answer, as read by the policy's format; `null` if the limiter sent none. */
  readonly answer: ReadAnswer | null;
}

export const nameOfCount = ({ quota, key }: QuotaKey): string => JSON.stringify([quota, key]);

export const isWindow = ({ algorithm }: Quota): boolean => algorithm.kind === "fixed-window";

export const isOfCalendar = ({ algorithm }: Quota): boolean =>
  algorithm.kind === "fixed-window" && typeof algorithm.anchor === "object" && "calendar" in algorithm.anchor;

/** Returns by how much the grid on which windows lie is off the epoch's, ms; `null` if there is none. */
export function gridOf({ algorithm }: Quota): number | null {
  if (algorithm.kind !== "fixed-window") return null;
  const { anchor } = algorithm;
  if (typeof anchor === "object") return "offsetMs" in anchor ? anchor.offsetMs : null;
  return anchor === "epoch" ? 0 : null;
}

/**
 * Returns the count that a reading shows. A `remaining` that is above 0 or signed shows it too (SPEC.md §1).
 */
export function countShown(
  { used, remaining, limit }: { readonly [M in "used" | "remaining" | "limit"]?: number | null | undefined },
  { algorithm, shown }: Quota,
): number | null {
  const left = remaining ?? null;
  if ((used ?? null) !== null || left === null) return used ?? null;
  return left > 0 || shown.remaining === "signed" ? (limit ?? limitOf(algorithm)) - left : null;
}
