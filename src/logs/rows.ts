// The rows that every reader of logs makes of its lines: requests in columns, callers as small integers, so that ten
// million rows cost no object each.

/** Whose request it was. */
export interface LogCaller {
  readonly organization: string;
  /** A user's or token's name, or an address: whatever the log tells callers apart by. */
  readonly user: string;
  /** Attributes that a policy's quotas are kept by; where they are left out, organization and user. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Returns the attributes of a caller. */
export const attributesOfCaller = ({
  organization,
  user,
  attributes = { organization, user },
}: LogCaller): Readonly<Record<string, string>> => attributes;

/**
 * Kinds of rows, as `LogBatch.kind` has them: the place of the operation in the policy, or one of the last two. Those of
 * the API of SPEC.md are these.
 */
export const REST_CALL = 0;
export const GRAPHQL_CALL = 1;
/** A policy's operations are fewer than this. */
export const operationsMost = 250;
/** The free status endpoint (SPEC.md §2.6). */
export const STATUS_CALL = 253;
/** A request that no quota counts. */
export const OTHER_CALL = 254;

/**
 * Rows in the order of the log, by columns of which the first `count` places are good until the next batch is asked
 * for.
 */
export interface LogBatch {
  readonly count: number;
  /** When the request began, whole ms since the epoch. */
  readonly atMs: Float64Array;
  /** Duration, ms; `NaN` where the log does not say. */
  readonly durationMs: Float64Array;
  /** Its place in `LogRows.callers`. */
  readonly caller: Int32Array;
  readonly kind: Uint8Array;
  /** Cost that the call declares; 1 for REST, requested points for GraphQL. */
  readonly cost: Int32Array;
  /** Units charged in the end; -1 where the log does not say. */
  readonly actual: Int32Array;
  /** HTTP status; 0 where the log does not say, or no answer came. What a policy calls a refusal is 429. */
  readonly status: Int16Array;
  /** Of a trace: the number of the attempt, from 0, and when it was wanted; below 0 where nobody says. */
  readonly attempt?: Int32Array | undefined;
  readonly wantedMs?: Float64Array | undefined;
}

/** A row that could not be read. */
export interface UnreadRow {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The line itself, cut short, tokens struck out. */
  readonly text: string;
  /** The fault of the row, in words. */
  readonly why: string;
}

/** A log as it is read. What is counted here grows while `batches` is read. */
export interface LogRows {
  readonly batches: AsyncIterable<LogBatch>;
  readonly callers: readonly LogCaller[];
  /** Rows that were read, and rows that were not; the first of those stand in `examples`. */
  readonly read: number;
  readonly unread: number;
  readonly examples: readonly UnreadRow[];
  /** Users who were put into `defaultOrganization`, since nothing named theirs. */
  readonly unplaced: number;
}

/** A log that is read by a policy. */
export interface RoutedRows extends LogRows {
  /** Rows that match none of its routes, and the first of their paths, as templates. They grow, too. */
  readonly unrouted: number;
  readonly paths: readonly string[];
}

/** The organization of rows that name none, where nothing else is known. */
export const defaultOrganization = "default";
