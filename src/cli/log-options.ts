// Options that verbs which read logs have in common. They load nothing that reads logs.
import {
  type DurationUnit,
  dateOrders,
  defaultGraphqlPath,
  defaultStatusPath,
  defaultUnread,
  durationUnits,
  logFormats,
} from "../logs/choices.ts";
import { option, type VerbOptions } from "./verb.ts";

const group = "Reading logs";

const column = (content: string) =>
  option.text("COLUMN", `read ${content} from COLUMN [default: guessed]`, { group });

export const logOptions = {
  format: {
    argument: "FORMAT",
    choices: logFormats,
    group,
    describe: "read the files as FORMAT [default: told from their first bytes]",
  },
  "time-column": column("times (for JSON, a path such as request.time)"),
  "date-column": column("dates, if times of day stand in another column,"),
  "user-column": column("users' names or addresses"),
  "token-column": column("tokens, shown as fingerprints alone,"),
  "address-column": column("addresses, for rows without a user,"),
  "organization-column": column("organizations"),
  "method-column": column("HTTP methods"),
  "path-column": column("paths, URLs or request lines"),
  "status-column": column("HTTP statuses"),
  "cost-column": column("requested points of GraphQL calls"),
  "actual-column": column("points charged in the end"),
  "duration-column": column("durations"),
  "scope-column": column("rest or graphql, or an operation of the policy,"),
  "caller-column": option.text(
    "NAME=COLUMN",
    "read the policy's attribute NAME of callers from COLUMN [default: a column of that name, users, organizations]",
    { array: true, group },
  ),
  caller: option.text("NAME=VALUE", "take the policy's attribute NAME for VALUE in all rows", {
    array: true,
    group,
  }),
  "duration-unit": {
    argument: "UNIT",
    choices: Object.keys(durationUnits) as DurationUnit[],
    group,
    describe: "take durations to be in UNIT [default: guessed]",
  },
  "time-is": {
    argument: "start|end",
    choices: ["start", "end"] as const,
    group,
    describe: "take a row's time for the start or the end of its request [default: guessed]",
  },
  dates: {
    argument: "ORDER",
    choices: dateOrders,
    group,
    describe:
      "read dates such as 5/11/2026 with the day or the month first [default: told from the first rows]",
  },
  zone: option.text(
    "ZONE",
    "read times that name no zone as times of ZONE, +02:00 or Europe/Paris [default: UTC]",
    { group },
  ),
  organization: option.text("SLUG", "give rows that name no organization the organization SLUG", { group }),
  "graphql-cost": option.number(
    "POINTS",
    "charge POINTS for each call of declared cost (GraphQL's) whose row has no cost",
    { group },
  ),
  "status-path": option.text("PATH", "treat calls of PATH as calls of the free status endpoint", {
    default: defaultStatusPath,
    group,
  }),
  "graphql-path": option.text("PATH", "treat calls of PATH as GraphQL", {
    default: defaultGraphqlPath,
    group,
  }),
  path: option.text(
    "GLOB",
    "read only rows whose path fits GLOB: '/v2/*' (* is anything but a slash), '/v2/**' (** is anything)",
    { array: true, group },
  ),
  traffic: option.text(
    "FACTOR",
    "take FACTOR times as many callers: 2x doubles each caller, 0.5x keeps every second one; each copy has windows of its own",
    { group },
  ),
  sql: option.text(
    "WHERE",
    'read only rows of Parquet, CSV or JSON lines that WHERE selects, by DuckDB: "where status = 429"',
    { group },
  ),
  sort: option.flag("put all rows in order first, in memory, however far out of order they are", {
    default: false,
    group,
  }),
  "allow-unread": option.text("SHARE", "allow the share SHARE of rows to be unreadable", {
    default: defaultUnread,
    group,
  }),
} as const satisfies VerbOptions;
