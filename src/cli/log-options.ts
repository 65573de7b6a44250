// Options that verbs which read logs have in common. They load nothing that reads logs.
import {
  type DurationUnit,
  defaultGraphqlPath,
  defaultStatusPath,
  defaultUnread,
  durationUnits,
  logFormats,
} from "../logs/choices.ts";
import type { VerbOptions } from "./verb.ts";

const group = "Reading logs";

const column = (content: string) =>
  ({
    argument: "COLUMN",
    type: "string",
    group,
    describe: `read ${content} from COLUMN [default: guessed]`,
  }) as const;

export const logOptions = {
  format: {
    argument: "FORMAT",
    choices: logFormats,
    group,
    describe: "read the files as FORMAT [default: told from their first bytes]",
  },
  "time-column": column("times (for JSON, a path such as request.time)"),
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
  "caller-column": {
    argument: "NAME=COLUMN",
    type: "string",
    array: true,
    group,
    describe:
      "read the policy's attribute NAME of callers from COLUMN [default: a column of that name, users, organizations]",
  },
  caller: {
    argument: "NAME=VALUE",
    type: "string",
    array: true,
    group,
    describe: "take the policy's attribute NAME for VALUE in all rows",
  },
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
  zone: {
    argument: "ZONE",
    type: "string",
    group,
    describe: "read times that name no zone as times of ZONE, such as +02:00 [default: UTC]",
  },
  organization: {
    argument: "SLUG",
    type: "string",
    group,
    describe: "give rows that name no organization the organization SLUG",
  },
  "graphql-cost": {
    argument: "POINTS",
    type: "number",
    group,
    describe: "charge POINTS for each call of declared cost (GraphQL's) whose row has no cost",
  },
  "status-path": {
    argument: "PATH",
    type: "string",
    default: defaultStatusPath,
    group,
    describe: "treat calls of PATH as calls of the free status endpoint",
  },
  "graphql-path": {
    argument: "PATH",
    type: "string",
    default: defaultGraphqlPath,
    group,
    describe: "treat calls of PATH as GraphQL",
  },
  path: {
    argument: "GLOB",
    type: "string",
    array: true,
    group,
    describe:
      "read only rows whose path fits GLOB: '/v2/*' (* is anything but a slash), '/v2/**' (** is anything)",
  },
  traffic: {
    argument: "FACTOR",
    type: "string",
    group,
    describe:
      "take FACTOR times as many callers: 2x doubles each caller, 0.5x keeps every second one; each copy has windows of its own",
  },
  sql: {
    argument: "WHERE",
    type: "string",
    group,
    describe:
      'read only rows of Parquet, CSV or JSON lines that WHERE selects, by DuckDB: "where status = 429"',
  },
  sort: {
    type: "boolean",
    default: false,
    group,
    describe: "put all rows in order first, in memory, however far out of order they are",
  },
  "allow-unread": {
    argument: "SHARE",
    type: "string",
    default: defaultUnread,
    group,
    describe: "allow the share SHARE of rows to be unreadable",
  },
} as const satisfies VerbOptions;
