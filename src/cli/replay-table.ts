// A replay's users and windows as tables, for spreadsheets.
import type { DataTable } from "../report/csv.ts";
import type { ReplayResult } from "../summary/replay-result.ts";

/** One row a user, the most refused first. */
export function usersTable({ users }: ReplayResult): DataTable {
  return {
    columns: [
      "organization",
      "user",
      "calls",
      "refused",
      "refused_by_organization",
      "refused_by_user",
      "first_refused_at_ms",
      "last_refused_at_ms",
      "rest_use_max",
      "graphql_use_max",
    ],
    rows: users.map((user) => [
      user.org,
      user.user,
      user.calls,
      user.refused,
      user.refusedByOrganization,
      user.refusedByUser,
      user.firstRefusedAt,
      user.lastRefusedAt,
      user.restUseMax,
      user.graphqlUseMax,
    ]),
  };
}

/** One row a window that would have refused, the most refusing first. */
export function windowsTable({ refusingWindows }: ReplayResult): DataTable {
  return {
    columns: [
      "organization",
      "user",
      "scope",
      "opens_at_ms",
      "ends_at_ms",
      "limit",
      "refused",
      "first_refused_at_ms",
    ],
    rows: refusingWindows.map(({ org, user, scope, opensAt, endsAt, limit, refused, firstRefusedAt }) => [
      org,
      user,
      scope,
      opensAt,
      endsAt,
      limit,
      refused,
      firstRefusedAt,
    ]),
  };
}
