// The reading of one answer: what it shows of each window, whether it was a refusal, and whose window refused.
import type { Owner, Scope } from "../rules/rules.ts";
import { windowNames } from "../rules/window-names.ts";
import type { HeaderValue, TraceCall } from "../trace/record.ts";

/** The four headers of one owner's window, as they came. */
export interface WindowHeaders {
  readonly scopeName: HeaderValue;
  readonly limit: HeaderValue;
  readonly remaining: HeaderValue;
  readonly reset: HeaderValue;
}

/** An answer's view of one window (SPEC.md §5). */
export interface Reading {
  readonly limit: number;
  /** Counted so far, by this call's answer. */
  readonly count: number;
  /** `remaining` stood at its end: the count may be higher. */
  readonly clamped: boolean;
  /** Seconds. */
  readonly reset: number;
}

export function headersOf(call: TraceCall, owner: Owner): WindowHeaders {
  return owner === "organization"
    ? call
    : {
        scopeName: call.userScopeName,
        limit: call.userLimit,
        remaining: call.userRemaining,
        reset: call.userReset,
      };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

/** Tells whether none of the eight headers came. */
export function isBare(call: TraceCall): boolean {
  return (
    call.scopeName === null &&
    call.limit === null &&
    call.remaining === null &&
    call.reset === null &&
    call.userScopeName === null &&
    call.userLimit === null &&
    call.userRemaining === null &&
    call.userReset === null
  );
}

/** No answer came, or one that the target did not give (FORMAT.md, `status`): charged or not, now or later. */
export function isUnknown(call: TraceCall): boolean {
  return call.status === 0 || (call.status >= 500 && isBare(call));
}

/** A value's own member; `undefined` where the value is no object. */
function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** The body of a refused REST call, as far as it is one (SPEC.md §6). */
export interface RefusalBody {
  readonly scope: unknown;
  readonly limit: unknown;
  readonly current: unknown;
  readonly reset: unknown;
}

export function refusalBody({ refusal }: Pick<TraceCall, "refusal">): RefusalBody {
  return {
    scope: member(refusal, "scope"),
    limit: member(refusal, "limit"),
    current: member(refusal, "current"),
    reset: member(refusal, "reset"),
  };
}

/** Whose window a 429 names by its body (SPEC.md §6); `null` where it does not say. */
export function refusedBy(call: Pick<TraceCall, "refusal">): Owner | null {
  const { scope } = refusalBody(call);
  if (scope === "rest" || scope === "graphql") return "organization";
  if (scope === "rest_user" || scope === "graphql_user") return "user";
  const errors = member(call.refusal, "errors");
  const message: unknown = Array.isArray(errors) ? member(errors[0], "message") : undefined;
  if (typeof message !== "string") return null;
  if (message.startsWith("Your organization has exceeded")) return "organization";
  return message.startsWith("You have exceeded your per-user") ? "user" : null;
}

/** The limit and the seconds that a refused GraphQL call's message names (SPEC.md §6). */
export function refusalMessageNumbers(
  call: Pick<TraceCall, "refusal">,
): { limit: number; reset: number } | null {
  const errors = member(call.refusal, "errors");
  const message: unknown = Array.isArray(errors) ? member(errors[0], "message") : undefined;
  if (typeof message !== "string") return null;
  const found = /limit of (\d+) complexity points\. Please try again in (\d+) seconds/.exec(message);
  return found === null ? null : { limit: Number(found[1]), reset: Number(found[2]) };
}

/**
 * Reads an owner's window from an answer's headers; `null` where one of the four is missing or makes no
 * sense, which other laws speak of.
 * @param signed whether `remaining` goes below 0 where the count passes the limit (SPEC.md §8)
 */
export function headerReading(call: TraceCall, owner: Owner, signed: boolean): Reading | null {
  const { scopeName, limit, remaining, reset } = headersOf(call, owner);
  if (scopeName !== windowNames[call.scope][owner]) return null;
  if (!isWhole(limit) || !isWhole(remaining) || !isWhole(reset)) return null;
  if (limit < 1 || remaining > limit || reset < 0) return null;
  const count = limit - remaining;
  const shown = exactCount(call, owner);
  if (remaining === 0 && !signed && shown !== null && shown >= limit)
    return { limit, count: shown, clamped: false, reset };
  return { limit, count, clamped: remaining === 0 && !signed, reset };
}

/** A refusal's body has the count of the window that it names, where `remaining` has only its end. */
function exactCount(call: TraceCall, owner: Owner): number | null {
  if (call.status !== 429 || refusedBy(call) !== owner) return null;
  const { current } = refusalBody(call);
  return isWhole(current) ? current : null;
}

/** One scope of a status body (SPEC.md §4). */
export interface StatusReading extends Reading {
  /** Ms since the epoch on the target's clock; `null` where it is no time. */
  readonly resetAt: number | null;
  readonly enforced: boolean | null;
  /** It shows the count of the caller's own window, by the headers beside it, and not the organization's. */
  readonly echoesUser: boolean;
}

const isoSecond = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Reads one scope from a status body; `null` where it is not as documented. */
export function statusReading(call: TraceCall, scope: Scope): StatusReading | null {
  const body = member(call.body, scope);
  const limit = member(body, "limit");
  const count = member(body, "current");
  const reset = member(body, "reset");
  if (!isWhole(limit) || !isWhole(count) || !isWhole(reset)) return null;
  if (limit < 1 || count < 0 || reset < 0) return null;
  const at = member(body, "reset_at");
  const enforced = member(body, "enforced");
  return {
    limit,
    count,
    clamped: false,
    reset,
    resetAt: typeof at === "string" && isoSecond.test(at) ? Date.parse(at) : null,
    enforced: typeof enforced === "boolean" ? enforced : null,
    echoesUser: echoesUser(call),
  };
}

/** The count below 0 that a status body shows of a scope; `null` where it shows none. */
export function negativeCount(call: TraceCall, scope: Scope): number | null {
  const count = member(member(call.body, scope), "current");
  return isWhole(count) && count < 0 ? count : null;
}

const used = (limit: HeaderValue, remaining: HeaderValue): number | null =>
  isWhole(limit) && isWhole(remaining) ? limit - remaining : null;

/** The count of the caller's own window, by its headers. */
export const usedByUser = ({ userLimit, userRemaining }: TraceCall): number | null =>
  used(userLimit, userRemaining);

/** Goes by the scope that the headers speak of; a body that takes the wrong window in one takes it in both. */
function echoesUser(call: TraceCall): boolean {
  const count = member(member(call.body, call.scope), "current");
  return usedByUser(call) === count && used(call.limit, call.remaining) !== count;
}
