// The view of laws: each operation of a history, and each of its counts as it stood just before and just after it. Laws
// know no other model. Ledgers fill it, by a policy (`quotas/ledger.ts`) or by rules (`ledger.ts`).
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

/** The kind of a policy. */
export interface QuotasKind extends LawKind {
  readonly script: QuotaScript;
  readonly op: QuotaOp;
  readonly history: QuotaHistory;
  readonly window: QuotaKey;
  readonly call: QuotaCallOp;
  readonly answered: QuotaCallEvent;
}

/** Numbers of a count that a limiter showed, beside those that are right; `null` where it does not tell. */
export interface ShownCount {
  /** Said by the limiter itself, or read of its answer. */
  readonly by: "said" | "answer";
  /** Name of what is used, as the limiter shows it. */
  readonly name: "used" | "current";
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly used: number | null;
  /** An instant, ms; of an answer, as its format tells it. */
  readonly reset: number | null;
  /** Whole seconds until then, where the limiter says them itself. */
  readonly seconds: number | null;
  /** Members that only the limiter knows are `null`. */
  readonly right: {
    readonly limit: number | null;
    readonly remaining: CountSpan | null;
    readonly used: CountSpan | null;
    readonly reset: number | null;
  };
}

/** A count as a call found it. */
export interface Found {
  /** `null` where the rules leave it open. */
  readonly used: CountSpan | null;
  readonly limit: number;
  /** Room that the call needs. */
  readonly needed: number;
  /** Of a bucket, the instant at which it is there; `null` where it never is. */
  readonly roomAtMs: number | null;
}

/** One count at one operation. */
export interface Sight extends QuotaKey {
  /** Name of the count, for maps. */
  readonly name: string;
  /** Index of the operation in the history. */
  readonly at: number;
  readonly event: QuotaEvent;
  /** As it holds for this key. */
  readonly rule: Quota;
  readonly limit: number;
  /** Length of a window, or the time in which an empty bucket is full, ms. */
  readonly lengthMs: number;
  /** 1 where the instant at which a window ends still belongs to it, else 0. */
  readonly lateMs: number;
  /** Time of the count, which never steps back. */
  readonly clockMs: number;
  /** `null` where nothing was decided. */
  readonly found: Found | null;
  /** Charges before this operation, and after it. */
  readonly before: CountSpan;
  readonly after: CountSpan;
  /** Charge of this operation itself. `null` if it counts nothing. */
  readonly charge: CountSpan | null;
  readonly givenBack: number;
  /** False where the rules leave open whether a window is open at all. */
  readonly sure: boolean;
  /** Nothing had been charged in this window before. */
  readonly fresh: boolean;
  /** Fresh, and an earlier charge of this key is over. */
  readonly isRenewed: boolean;
  /** The window that a reading belongs to; `null` where it belongs to none, and of a bucket. */
  readonly window: number | null;
  /** When it ends, or when the bucket is full; `null` where nothing is used. */
  readonly untilMs: number | null;
  readonly isEnforced: boolean;
  /** Something was charged to this count while nothing was refused: it may stand above its limit. */
  readonly mayPass: boolean;
  /** The count that the limiter said: what is used, or what is left shows of it. */
  readonly current: number | null;
  /** The one that it said before in this window, less what was given back since. */
  readonly last: number | null;
  readonly shown: readonly ShownCount[];
}

/** The operation as a whole. */
export interface Look {
  readonly at: number;
  readonly event: QuotaEvent;
  readonly sights: readonly Sight[];
  /** The right answer to it as it is read; `null` where the limiter sent none. */
  readonly answer: ReadAnswer | null;
}

export const nameOfCount = ({ quota, key }: QuotaKey): string => JSON.stringify([quota, key]);

export const isWindow = ({ algorithm }: Quota): boolean => algorithm.kind === "fixed-window";

export const isOfCalendar = ({ algorithm }: Quota): boolean =>
  algorithm.kind === "fixed-window" && typeof algorithm.anchor === "object" && "calendar" in algorithm.anchor;

/** Length of a window, ms; of a bucket, the time in which an empty one is full. */
export function windowMsOf({ algorithm }: Quota): number {
  if (algorithm.kind === "token-bucket")
    return Math.ceil((algorithm.capacity * algorithm.refill.everyMs) / algorithm.refill.amount);
  return "windowSeconds" in algorithm ? algorithm.windowSeconds * 1000 : 0;
}

/**
 * The count that a reading shows. What is left shows it too (SPEC.md §1), as long as it is not clamped: above 0.
 */
export function countShown(
  { used, remaining, limit }: { readonly [M in "used" | "remaining" | "limit"]?: number | null | undefined },
  { algorithm, shown }: Quota,
): number | null {
  const left = remaining ?? null;
  if ((used ?? null) !== null || left === null) return used ?? null;
  return left > 0 || shown.remaining === "signed" ? (limit ?? limitOf(algorithm)) - left : null;
}
