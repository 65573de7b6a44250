// Answers as they go over the wire (SPEC.md §4-§6), made of what a limiter says.

import { quotaNames } from "../policy/names.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import { refusalBody, statusBody } from "./bodies.ts";
import { headerNames as name } from "./fields.ts";
import { REFUSED } from "./outcome.ts";

/** One answer as it goes over the wire: what the laws on headers are judged by (SPEC.md §5, §6). */
export interface HttpAnswer {
  readonly status: number;
  /** Names in any case, values as they are sent; what is absent was not sent. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** The body, parsed where it is JSON. */
  readonly body?: unknown;
}

/** Numbers of a window that headers show. */
type Window = Readonly<Record<"limit" | "remaining" | "reset", number>>;
type Windows<W = Window> = Readonly<Record<Owner, W>>;

/** Text of the warning that goes with a window with nothing left; `undefined` while there is something. */
export const warningOf = (
  owner: Owner,
  { remaining, reset }: Pick<Window, "remaining" | "reset">,
): string | undefined => (remaining > 0 ? undefined : `${owner} quota used up, it resets in ${reset} s`);

/** The eight headers of SPEC.md §5, and a warning for each window with nothing left. */
export function headers(scope: Scope, { organization, user }: Windows): Record<string, string | number> {
  const result: Record<string, string | number> = {};
  result[name.scopeName] = scope;
  result[name.remaining] = organization.remaining;
  result[name.limit] = organization.limit;
  result[name.reset] = organization.reset;
  result[name.userScopeName] = quotaNames[scope].user;
  result[name.userRemaining] = user.remaining;
  result[name.userLimit] = user.limit;
  result[name.userReset] = user.reset;
  const warning = warningOf("organization", organization);
  if (warning !== undefined) result[name.warning] = warning;
  const userWarning = warningOf("user", user);
  if (userWarning !== undefined) result[name.userWarning] = userWarning;
  return result;
}

/** To a call that was let through; what the resource itself says is nobody's business here. */
export const callAnswer = (scope: Scope, readings: Windows): HttpAnswer => ({
  status: 200,
  headers: headers(scope, readings),
});

export const statusAnswer = (readings: Windows, status: Parameters<typeof statusBody>[0]): HttpAnswer => ({
  status: 200,
  headers: headers("rest", readings),
  body: statusBody(status),
});

/** @param retryAfter true if the rules send `Retry-After` */
export function refusalAnswer(
  scope: Scope,
  refusedBy: Owner,
  readings: Windows<Window & { readonly current: number }>,
  retryAfter: boolean,
): HttpAnswer {
  const advice = retryAfter ? { [name.retryAfter]: readings[refusedBy].reset } : {};
  return {
    status: REFUSED,
    headers: { ...headers(scope, readings), ...advice },
    body: refusalBody(scope, refusedBy, readings),
  };
}
