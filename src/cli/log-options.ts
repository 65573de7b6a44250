// What verbs that read logs have in common on the command line. Nothing that reads logs is loaded for it.
import type { InferredOptionTypes, Options } from "yargs";
import {
  type DurationUnit,
  defaultGraphqlPath,
  defaultStatusPath,
  durationUnits,
  logFormats,
} from "../trace/logs/choices.ts";

const column = (what: string) =>
  ({ type: "string", requiresArg: true, describe: `the column of ${what} [default: guessed]` }) as const;

/** What verbs that read logs have in common. */
export const logOptions = {
  format: {
    choices: logFormats,
    requiresArg: true,
    describe: "what the logs are [default: told from their first bytes]",
  },
  "time-column": column("times; members of JSON by their path, request.time"),
  "user-column": column("users' names or addresses"),
  "token-column": column("tokens, which are shown as fingerprints alone"),
  "address-column": column("addresses, for rows without a user"),
  "organization-column": column("organizations"),
  "method-column": column("HTTP methods"),
  "path-column": column("paths, URLs or request lines"),
  "status-column": column("HTTP statuses"),
  "cost-column": column("requested points of GraphQL calls"),
  "actual-column": column("points charged in the end"),
  "duration-column": column("durations"),
  "scope-column": column("rest or graphql"),
  "duration-unit": {
    choices: Object.keys(durationUnits) as DurationUnit[],
    requiresArg: true,
    describe: "of the durations [default: guessed]",
  },
  "time-is": {
    choices: ["start", "end"] as const,
    requiresArg: true,
    describe: "whether a row's time is when the request began, or when it was over [default: guessed]",
  },
  zone: { type: "string", requiresArg: true, describe: "of times that name none: +02:00 [default: UTC]" },
  organization: { type: "string", requiresArg: true, describe: "of rows that name none" },
  "graphql-cost": {
    type: "number",
    requiresArg: true,
    describe: "points of a GraphQL call whose row does not say",
  },
  "status-path": {
    type: "string",
    requiresArg: true,
    default: defaultStatusPath,
    describe: "path of the free status endpoint",
  },
  "graphql-path": {
    type: "string",
    requiresArg: true,
    default: defaultGraphqlPath,
    describe: "path of the GraphQL endpoint",
  },
  sql: {
    type: "string",
    requiresArg: true,
    describe: 'which rows, of Parquet, CSV and JSON lines, by DuckDB: "where status = 429"',
  },
  sort: {
    type: "boolean",
    default: false,
    describe: "put all rows in order first, in memory, however far from it they stand",
  },
  "allow-unread": {
    type: "string",
    requiresArg: true,
    default: "1%",
    describe: "the share of rows that may stay unread",
  },
} as const satisfies Record<string, Options>;

export type LogArgs = InferredOptionTypes<typeof logOptions>;

/** Options as without flags, changed as asked: for whoever opens logs without a command line. */
export function logArgs(changes: Partial<LogArgs> = {}): LogArgs {
  const names = Object.keys(logOptions) as (keyof LogArgs)[];
  const usual = names.map((name) => {
    const option: Options = logOptions[name];
    return [name, option.default];
  });
  return { ...(Object.fromEntries(usual) as LogArgs), ...changes };
}

/**
 * The files that a verb was given, standard input among them: yargs takes a lone `-` in a list for an option without a
 * name, and drops it.
 */
export function logPaths(files: readonly string[]): readonly string[] {
  const isDropped = process.argv.slice(2).includes("-") && !files.includes("-");
  return isDropped ? [...files, "-"] : files;
}
