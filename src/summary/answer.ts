// The reading of one answer: was there one, was it a refusal, and whose window refused.
import type { Owner } from "../rules/rules.ts";
import type { HeaderValue, TraceCall } from "../trace/record.ts";

/** A header that is an integer, else `null`. */
export function integer(value: HeaderValue): number | null {
  return typeof value === "number" ? value : null;
}

const headerNames = [
  "scopeName",
  "limit",
  "remaining",
  "reset",
  "userScopeName",
  "userLimit",
  "userRemaining",
  "userReset",
] as const;

/** Tells whether the target decided this call; a 5xx with none of the eight headers came from something before it. */
export function isAnswered(call: TraceCall): boolean {
  if (call.status === 0) return false;
  return call.status < 500 || hasHeaders(call);
}

/** Tells whether any of the eight headers came. */
export function hasHeaders(call: Pick<TraceCall, (typeof headerNames)[number]>): boolean {
  return headerNames.some((name) => call[name] !== null);
}

/** A value's own member; `undefined` where the value is no object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/**
 * Whose window a 429 names (SPEC.md §2.4, §6): by its body, else by which window lacks room, the
 * organization's first; `null` where neither says.
 */
export function refusedBy(
  call: Pick<TraceCall, "cost" | "remaining" | "userRemaining" | "refusal">,
): Owner | null {
  return namedInBody(call.refusal) ?? lackingRoom(call);
}

function namedInBody(body: unknown): Owner | null {
  const scope = member(body, "scope");
  if (scope === "rest" || scope === "graphql") return "organization";
  if (scope === "rest_user" || scope === "graphql_user") return "user";
  const errors = member(body, "errors");
  const message = Array.isArray(errors) ? member(errors[0], "message") : undefined;
  if (typeof message !== "string") return null;
  if (message.startsWith("Your organization ")) return "organization";
  return message.includes("per-user") ? "user" : null;
}

function lackingRoom({
  cost,
  remaining,
  userRemaining,
}: Pick<TraceCall, "cost" | "remaining" | "userRemaining">): Owner | null {
  const needed = cost ?? 1;
  const left = integer(remaining);
  if (left !== null && left < needed) return "organization";
  const userLeft = integer(userRemaining);
  return userLeft !== null && userLeft < needed ? "user" : null;
}
