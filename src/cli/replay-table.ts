// A replay's users and windows as tables, for spreadsheets.
import type { DataTable } from "../report/csv.ts";
import type { AnyReplay } from "../report/replay-view.ts";
import type { QuotaReplayResult } from "../summary/quota-replay-result.ts";
import type { ReplayResult } from "../summary/replay-result.ts";

/** Returns one row for each user, the most refused first. */
export const usersTable = (result: AnyReplay): DataTable =>
  result.version === 1 ? usersByRules(result) : usersByQuotas(result);

/** Returns one row for each window that would have refused, the most refusals first. */
export const windowsTable = (result: AnyReplay): DataTable =>
  result.version === 1 ? windowsByRules(result) : windowsByQuotas(result);

function usersByQuotas({ users, policy }: QuotaReplayResult): DataTable {
  const names = Object.keys(policy.quotas);
  return {
    columns: [
      ...["organization", "user", "calls", "refused"],
      ...names.map((name) => `refused_by_${name}`),
      ...["first_refused_at_ms", "last_refused_at_ms"],
      ...names.map((name) => `${name}_use_max`),
    ],
    rows: users.map(({ org, user, calls, refused, refusedBy, firstRefusedAt, lastRefusedAt, useMax }) => [
      ...[org, user, calls, refused],
      ...refusedBy,
      ...[firstRefusedAt, lastRefusedAt],
      ...useMax,
    ]),
  };
}

function windowsByQuotas({ refusingWindows }: QuotaReplayResult): DataTable {
  return {
    columns: ["quota", "key", "opens_at_ms", "ends_at_ms", "limit", "refused", "first_refused_at_ms"],
    rows: refusingWindows.map(({ quota, key, opensAt, endsAt, limit, refused, firstRefusedAt }) => [
      quota,
      Object.values(key).join("/"),
      ...[opensAt, endsAt, limit, refused, firstRefusedAt],
    ]),
  };
}

function usersByRules({ users }: ReplayResult): DataTable {
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

function windowsByRules({ refusingWindows }: ReplayResult): DataTable {
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
