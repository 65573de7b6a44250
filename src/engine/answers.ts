// The form of a decision over HTTP (SPEC.md §4-§6): the status body, the headers, the bodies of a 429.
// Pure: the service sends them, the simulator writes them into its trace.
import type { Owner, Scope } from "../rules/rules.ts";
import type { Readings, Status, WindowReading } from "./adapter.ts";

/** One scope of the status body, member for member as the API documents it. */
export interface StatusScope {
  readonly limit: number;
  readonly current: number;
  readonly reset: number;
  /** ISO 8601 UTC, to the second. */
  readonly reset_at: string;
  readonly enforced: boolean;
}

/** The body of `GET /v2/organizations/{slug}/rate_limit`. */
export interface StatusBody {
  readonly scopes: { readonly rest: StatusScope; readonly graphql: StatusScope };
}

/** `2026-01-02T03:04:00Z`. */
export function isoSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}

const statusScope = ({ limit, current, reset, resetAtMs, enforced }: WindowReading): StatusScope => ({
  limit,
  current,
  reset,
  reset_at: isoSecond(resetAtMs),
  enforced,
});

/** The status body, exactly (SPEC.md §4). */
export function statusBody(status: Status): StatusBody {
  return { scopes: { rest: statusScope(status.rest), graphql: statusScope(status.graphql) } };
}

/** The name that headers and refusals give a window (SPEC.md §1, §5). */
export function windowName(scope: Scope, owner: Owner): "rest" | "graphql" | "rest_user" | "graphql_user" {
  return owner === "organization" ? scope : scope === "rest" ? "rest_user" : "graphql_user";
}

/** The eight headers of SPEC.md §5, and a warning for each window with nothing left. */
export function headers(scope: Scope, { organization, user }: Readings): Record<string, string | number> {
  const result: Record<string, string | number> = {
    "RateLimit-Scope": scope,
    "RateLimit-Remaining": organization.remaining,
    "RateLimit-Limit": organization.limit,
    "RateLimit-Reset": organization.reset,
    "RateLimit-User-Scope": windowName(scope, "user"),
    "RateLimit-User-Remaining": user.remaining,
    "RateLimit-User-Limit": user.limit,
    "RateLimit-User-Reset": user.reset,
  };
  if (organization.remaining <= 0)
    result["RateLimit-Warning"] = `organization quota used up, it resets in ${organization.reset} s`;
  if (user.remaining <= 0)
    result["RateLimit-User-Warning"] = `user quota used up, it resets in ${user.reset} s`;
  return result;
}

/** The body of a refused REST call. */
export interface RestRefusal {
  readonly message: string;
  readonly scope: string;
  readonly limit: number;
  readonly current: number;
  readonly reset: number;
}

/** The body of a refused GraphQL call. */
export interface GraphqlRefusal {
  readonly errors: readonly [{ readonly message: string }];
}

/** The body of a 429, all of it of the window that refused (SPEC.md §6). */
export function refusalBody(
  scope: Scope,
  refusedBy: Owner,
  readings: Readings,
): RestRefusal | GraphqlRefusal {
  const { limit, current, reset } = readings[refusedBy];
  if (scope === "rest") {
    const whose = refusedBy === "organization" ? "Your organization has" : "You have";
    const message = `${whose} exceeded the limit of ${limit} requests. Please try again in ${reset} seconds.`;
    return { message, scope: windowName(scope, refusedBy), limit, current, reset };
  }
  const subject =
    refusedBy === "organization"
      ? `Your organization has exceeded the limit of ${limit}`
      : `You have exceeded your per-user limit of ${limit}`;
  return { errors: [{ message: `${subject} complexity points. Please try again in ${reset} seconds.` }] };
}
