// The reading of one answer: what it shows of each window, whether it was a refusal, and whose window refused.

import { quotaNames } from "../policy/names.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { readRefusal, readStatus, secondOf } from "../wire/bodies.ts";
import { type HeaderValue, headersOf } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/** An answer's view of one window (SPEC.md §5). */
export interface ShownReading {
  readonly limit: number;
  /** Counted so far, by this call's answer. */
  readonly count: number;
  /** `remaining` stood at its end: the count may be higher. */
  readonly clamped: boolean;
  /** Seconds. */
  readonly reset: number;
}

/**
 * Reads an owner's window from an answer's headers; `null` where one of the four is missing or makes no
 * sense, which other laws speak of.
 * @param signed whether `remaining` goes below 0 where the count passes the limit (SPEC.md §8)
 */
export function headerReading(call: TraceCall, owner: Owner, signed: boolean): ShownReading | null {
  const { scopeName, limit, remaining, reset } = headersOf(call, owner);
  if (scopeName !== quotaNames[call.scope][owner]) return null;
  if (!isWhole(limit) || !isWhole(remaining) || !isWhole(reset)) return null;
  if (limit < 1 || remaining > limit || reset < 0) return null;
  const clamped = remaining === 0 && !signed;
  const shown = clamped ? exactCount(call, owner) : null;
  if (shown !== null && shown >= limit) return { limit, count: shown, clamped: false, reset };
  return { limit, count: limit - remaining, clamped, reset };
}

/** A refusal's body has the count of the window that it names, where `remaining` has only its end. */
function exactCount(call: TraceCall, owner: Owner): number | null {
  if (!isRefusal(call.status)) return null;
  const { by, current } = readRefusal(call.refusal);
  return by === owner && isWhole(current) ? current : null;
}

/** One scope of a status body (SPEC.md §4). */
export interface ScopeReading extends ShownReading {
  /** Ms since the epoch on the target's clock; `null` where it is no time. */
  readonly resetAt: number | null;
  readonly enforced: boolean | null;
  /** It shows the count of the caller's own window, by the headers beside it, and not the organization's. */
  readonly echoesUser: boolean;
}

/** Reads one scope from a status body; `null` where it is not as documented. */
export function statusReading(call: TraceCall, scope: Scope): ScopeReading | null {
  const { limit, current: count, reset, resetAt, enforced } = readStatus(call.body, scope);
  if (!isWhole(limit) || !isWhole(count) || !isWhole(reset)) return null;
  if (limit < 1 || count < 0 || reset < 0) return null;
  return {
    limit,
    count,
    clamped: false,
    reset,
    resetAt: resetAt === null ? null : secondOf(resetAt),
    enforced,
    echoesUser: echoesUser(call),
  };
}

/** The count below 0 that a status body shows of a scope; `null` where it shows none. */
export function negativeCount(call: TraceCall, scope: Scope): number | null {
  const count = readStatus(call.body, scope).current;
  return isWhole(count) && count < 0 ? count : null;
}

const used = (limit: HeaderValue, remaining: HeaderValue): number | null =>
  isWhole(limit) && isWhole(remaining) ? limit - remaining : null;

/** The count of the caller's own window, by its headers. */
export const usedByUser = ({ userLimit, userRemaining }: TraceCall): number | null =>
  used(userLimit, userRemaining);

/** Goes by the scope that the headers speak of; a body that takes the wrong window in one takes it in both. */
function echoesUser(call: TraceCall): boolean {
  const count = readStatus(call.body, call.scope).current;
  return count !== null && usedByUser(call) === count && used(call.limit, call.remaining) !== count;
}
