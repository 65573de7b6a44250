// A replay's users and windows as tables, for spreadsheets.
import type { Cell, DataTable } from "../report/csv.ts";
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

type Window = AnyReplay["refusingWindows"][number];

const windowColumns: Readonly<Record<string, (window: Window) => Cell>> = {
  opens_at_ms: ({ opensAt }) => opensAt,
  ends_at_ms: ({ endsAt }) => endsAt,
  limit: ({ limit }) => limit,
  refused: ({ refused }) => refused,
  first_refused_at_ms: ({ firstRefusedAt }) => firstRefusedAt,
};

const windowsByQuotas = ({ refusingWindows }: QuotaReplayResult): DataTable =>
  tableOf(refusingWindows, {
    quota: ({ quota }) => quota,
    key: ({ key }) => Object.values(key).join("/"),
    ...windowColumns,
  });

const usersByRules = ({ users }: ReplayResult): DataTable =>
  tableOf(users, {
    organization: ({ org }) => org,
    user: ({ user }) => user,
    calls: ({ calls }) => calls,
    refused: ({ refused }) => refused,
    refused_by_organization: ({ refusedByOrganization }) => refusedByOrganization,
    refused_by_user: ({ refusedByUser }) => refusedByUser,
    first_refused_at_ms: ({ firstRefusedAt }) => firstRefusedAt,
    last_refused_at_ms: ({ lastRefusedAt }) => lastRefusedAt,
    rest_use_max: ({ restUseMax }) => restUseMax,
    graphql_use_max: ({ graphqlUseMax }) => graphqlUseMax,
  });

const windowsByRules = ({ refusingWindows }: ReplayResult): DataTable =>
  tableOf(refusingWindows, {
    organization: ({ org }) => org,
    user: ({ user }) => user,
    scope: ({ scope }) => scope,
    ...windowColumns,
  });

function tableOf<Row>(
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => Cell>>,
): DataTable {
  return {
    columns: Object.keys(columns),
    rows: rows.map((row) => Object.values(columns).map((cell) => cell(row))),
  };
}
