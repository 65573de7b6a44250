// The readings of one answer: what its headers and its body show of each window.

import { quotaNames } from "../policy/names.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import type { TraceCall } from "../trace/record.ts";
import { readRefusal, readStatus, secondOf } from "../wire/bodies.ts";
import { type HeaderValue, headersOf } from "../wire/fields.ts";
import { isRefusal } from "../wire/outcome.ts";

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/** One window as an answer shows it (SPEC.md §5). */
export interface ShownReading {
  readonly limit: number;
  /** Count of the window when the answer was made. */
  readonly count: number;
  /** True if `remaining` is clamped at 0, so that the count may be higher. */
  readonly clamped: boolean;
  /** Time until the window ends, s. */
  readonly reset: number;
}

/**
 * Reads an owner's window from an answer's headers.
 * @param signed true if `remaining` goes below 0 where the count passes the limit (SPEC.md §8)
 * @returns `null` if one of the four headers is missing or invalid; other laws judge that
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

/** Returns the count in a refusal's body, if the body names this owner. It is exact where `remaining` is clamped. */
function exactCount(call: TraceCall, owner: Owner): number | null {
  if (!isRefusal(call.status)) return null;
  const { by, current } = readRefusal(call.refusal);
  return by === owner && isWhole(current) ? current : null;
}

/** One scope of a status body (SPEC.md §4). */
export interface ScopeReading extends ShownReading {
  /** Instant of the reset, ms since the epoch on the target's clock. `null` if it is no valid time. */
  readonly resetAt: number | null;
  readonly enforced: boolean | null;
  /** True if the body shows the caller's own count, as the headers beside it do, and not the organization's. */
  readonly echoesUser: boolean;
}

/** Reads one scope from a status body; `null` if it is not as documented. */
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

/** Returns the count of a scope in a status body if it is below 0; otherwise `null`. */
export function negativeCount(call: TraceCall, scope: Scope): number | null {
  const count = readStatus(call.body, scope).current;
  return isWhole(count) && count < 0 ? count : null;
}

const used = (limit: HeaderValue, remaining: HeaderValue): number | null =>
  isWhole(limit) && isWhole(remaining) ? limit - remaining : null;

/** Returns the count of the caller's own window, by its headers. */
export const usedByUser = ({ userLimit, userRemaining }: TraceCall): number | null =>
  used(userLimit, userRemaining);

/** Compares the scope of the headers alone: a body that shows the wrong window does so in both scopes. */
function echoesUser(call: TraceCall): boolean {
  const count = readStatus(call.body, call.scope).current;
  return count !== null && usedByUser(call) === count && used(call.limit, call.remaining) !== count;
}
