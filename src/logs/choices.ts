// The choices about a log, with their defaults. They are apart from the readers of logs, so that a command line can
// name them without loading those.

export const logFormats = ["access-log", "words", "ndjson", "csv", "har", "k6", "trace", "parquet"] as const;
export type LogFormat = (typeof logFormats)[number];

/** Places of day and month in dates that are numbers alone: 20/11/2026 or 11/20/2026. */
export const dateOrders = ["day-first", "month-first"] as const;
export type DateOrder = (typeof dateOrders)[number];

/** Units of durations, ms. */
export const durationUnits = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 } as const;
export type DurationUnit = keyof typeof durationUnits;

/** Paths of the API that SPEC.md describes. */
export const defaultStatusPath = "/v2/organizations/:organization/rate_limit";
export const defaultGraphqlPath = "/v1/graphql";

/** Default share of rows that may stay unread. */
export const defaultUnread = "1%";

/** Choices about logs, as people type them. The column of an absent member is guessed. */
export interface LogOptions {
  readonly format?: LogFormat | undefined;
  readonly timeColumn?: string | undefined;
  /** Column of dates, if the column of times has times of day alone. */
  readonly dateColumn?: string | undefined;
  readonly userColumn?: string | undefined;
  /** Column of tokens; its values become fingerprints. */
  readonly tokenColumn?: string | undefined;
  readonly addressColumn?: string | undefined;
  readonly organizationColumn?: string | undefined;
  readonly methodColumn?: string | undefined;
  readonly pathColumn?: string | undefined;
  readonly statusColumn?: string | undefined;
  readonly costColumn?: string | undefined;
  readonly actualColumn?: string | undefined;
  readonly durationColumn?: string | undefined;
  readonly scopeColumn?: string | undefined;
  /** Columns of a policy's attributes of callers, `NAME=COLUMN`. */
  readonly callerColumn?: readonly string[] | undefined;
  /** Attributes that all rows have, `NAME=VALUE`. */
  readonly caller?: readonly string[] | undefined;
  readonly durationUnit?: DurationUnit | undefined;
  readonly timeIs?: "start" | "end" | undefined;
  /** Order of day and month in dates that are numbers alone. */
  readonly dates?: DateOrder | undefined;
  /** Zone of times that name none: `UTC`, `+02:00`. */
  readonly zone?: string | undefined;
  /** Organization of rows that name none. */
  readonly organization?: string | undefined;
  /** Points of a GraphQL call whose row does not tell them. */
  readonly graphqlCost?: number | undefined;
  readonly statusPath?: string | undefined;
  readonly graphqlPath?: string | undefined;
  /** Globs: only rows whose path fits one are read. */
  readonly path?: readonly string[] | undefined;
  /** Factor of callers: `2x`, `0.5`. */
  readonly traffic?: string | undefined;
  /** SQL condition on rows of Parquet, CSV or JSON lines. */
  readonly sql?: string | undefined;
  /** True to put all rows in order first, in memory. */
  readonly sort?: boolean | undefined;
  /** Share of rows that may stay unread: `1%`. */
  readonly allowUnread?: string | undefined;
}
