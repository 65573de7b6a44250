// The rows that every reader of logs makes of its lines: requests in columns, with callers as small integers, so that
// ten million rows need no object each.

export interface LogCaller {
  readonly organization: string;
  /** Name of a user or token, or an address: whatever the log tells callers apart by. */
  readonly user: string;
  /** Attributes that a policy's quotas are kept by. Default: organization and user. */
  readonly attributes?: Readonly<Record<string, string>>;
}

export const attributesOfCaller = ({
  organization,
  user,
  attributes = { organization, user },
}: LogCaller): Readonly<Record<string, string>> => attributes;

/**
 * Kinds of rows, as in `LogBatch.kind`: the place of the operation in the policy, or one of the last two. These two are
 * for the API of SPEC.md.
 */
export const REST_CALL = 0;
export const GRAPHQL_CALL = 1;
/** Greatest cost of a row. */
export const costMost = 0x7fff_ffff;
/** Number that a policy's operations must not exceed. */
export const operationsMost = 250;
/** Kind of the free status endpoint (SPEC.md §2.6). */
export const STATUS_CALL = 253;
/** Kind of a request that no quota counts. */
export const OTHER_CALL = 254;

/** Rows in the order of the log, as columns. Their first `count` places are valid until the next batch is asked for. */
export interface LogBatch {
  readonly count: number;
  /** Beginning of the request, whole ms since the epoch. */
  readonly atMs: Float64Array;
  /** Duration, ms; `NaN` if the log does not tell it. */
  readonly durationMs: Float64Array;
  /** Index in `LogRows.callers`. */
  readonly caller: Int32Array;
  readonly kind: Uint8Array;
  /** Cost that the call declares; 1 for REST, requested points for GraphQL. */
  readonly cost: Int32Array;
  /** Units charged in the end; -1 if the log does not tell them. */
  readonly actual: Int32Array;
  /** HTTP status; 0 if the log does not tell it, or no answer came. All refusals of a policy are 429. */
  readonly status: Int16Array;
  /** For traces: number of the attempt, from 0, and when it was wanted; below 0 if unknown. */
  readonly attempt?: Int32Array | undefined;
  readonly wantedMs?: Float64Array | undefined;
  /** Hash of the row's line, if several files are read: equal lines have the same. */
  readonly line?: Int32Array | undefined;
}

/** A row that could not be read. */
export interface UnreadRow {
  readonly file: string;
  /** Number of the line, from 1. */
  readonly line: number;
  /** Line itself, cut short, without tokens. */
  readonly text: string;
  /** Reason, in words. */
  readonly why: string;
}

/** A log as it is read. The counts grow while `batches` is read. */
export interface LogRows {
  readonly batches: AsyncIterable<LogBatch>;
  readonly callers: readonly LogCaller[];
  /** Number of rows that were read, and of rows that were not; `examples` has the first of the latter. */
  readonly read: number;
  readonly unread: number;
  readonly examples: readonly UnreadRow[];
  /** Number of users in `defaultOrganization`, since nothing named theirs. */
  readonly unplaced: number;
  /** Number of rows that name no user: all of them are one user's, `everyone`. */
  readonly anonymous: number;
  /** Sentences that people should know about the logs. */
  readonly notes: readonly string[];
}

/** A log that is read by a policy. */
export interface RoutedRows extends LogRows {
  /** Number of rows that match no route, and the first of their paths, as templates. Both grow, too. */
  readonly unrouted: number;
  readonly paths: readonly string[];
}

/** Organization of rows that name none, if nothing else is known. */
export const defaultOrganization = "default";
