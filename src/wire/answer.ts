// Answers as they are sent (SPEC.md §4-§6), made of what a limiter says.

import { quotaNames } from "../policy/names.ts";
import type { Owner, Scope } from "../rules/rules.ts";
import { refusalBody, statusBody } from "./bodies.ts";
import { headerNames as name } from "./fields.ts";
import { REFUSED } from "./outcome.ts";

/** An answer as it is sent, which the laws on headers judge (SPEC.md §5, §6). */
export interface HttpAnswer {
  readonly status: number;
  /** Headers by name, in any case, with values as they are sent; absent ones were not sent. */
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  /** Body, parsed if it is JSON. */
  readonly body?: unknown;
}

/** Numbers of a window that headers show. */
type Window = Readonly<Record<"limit" | "remaining" | "reset", number>>;
type Windows<W = Window> = Readonly<Record<Owner, W>>;

/** Returns the warning for a window with nothing left; `undefined` if something is left. */
export const warningOf = (
  owner: Owner,
  { remaining, reset }: Pick<Window, "remaining" | "reset">,
): string | undefined => (remaining > 0 ? undefined : `${owner} quota used up, it resets in ${reset} s`);

/** Returns the eight headers of SPEC.md §5, and a warning for each window with nothing left. */
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

/** Returns the answer to an admitted call. The content of the resource does not matter here. */
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
    headers: Object.assign(headers(scope, readings), advice),
    body: refusalBody(scope, refusedBy, readings),
  };
}
