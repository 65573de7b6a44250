// The choices that people have for a log, and their defaults: apart from all that reads logs, so that a
// command line can name it without loading any of that.

export const logFormats = ["access-log", "ndjson", "csv", "har", "k6", "trace", "parquet"] as const;
export type LogFormat = (typeof logFormats)[number];

/** In milliseconds. */
export const durationUnits = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 } as const;
export type DurationUnit = keyof typeof durationUnits;

/** Paths of the API that SPEC.md describes. */
export const defaultStatusPath = "/v2/organizations/:organization/rate_limit";
export const defaultGraphqlPath = "/v1/graphql";
