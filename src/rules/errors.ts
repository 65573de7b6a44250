// The one catalogue of coded errors. A user's mistake is reported by code, field, what was got, what is allowed and the
// next step. A programmer's mistake (a cost of 1.5 passed to the engine) is a RangeError.

/** Exit status of a command that ends with an error, for every error code that spillway reports. */
export const errorCodes = {
  USAGE: 2,
  FILE_UNREADABLE: 2,
  FILE_UNWRITABLE: 2,
  FOLDER_IN_USE: 2,
  SYSTEM_REFUSED: 2,
  JSON_INVALID: 2,
  RULES_INVALID: 2,
  POLICY_INVALID: 2,
  POLICY_UNSUPPORTED: 2,
  POLICY_UNSERVABLE: 2,
  SNAPSHOT_INVALID: 2,
  SCENARIO_INVALID: 2,
  SCENARIO_FAILED: 2,
  TRACE_INVALID: 2,
  LOG_INVALID: 2,
  LOG_UNREAD: 2,
  TOKENS_INVALID: 2,
  RUN_INVALID: 2,
  RESUME_INVALID: 2,
  ADAPTER_INVALID: 2,
  ADAPTER_FAILED: 2,
  ADAPTER_SILENT: 2,
  FAULT_INVALID: 2,
  TARGET_NOT_ALLOWED: 2,
  PORT_IN_USE: 3,
  WORKER_FAILED: 3,
  TARGET_UNREACHABLE: 3,
  K6_MISSING: 3,
  DOWNLOAD_FAILED: 3,
  DUCKDB_MISSING: 3,
  OPENER_MISSING: 3,
  K6_FAILED: 3,
  INTERRUPTED: 130,
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One mistake: where it is, what was found there, and what is allowed. */
export interface Problem {
  /** Path of the field as in JavaScript, `organization.rest.limit`; or `FILE:LINE`. */
  readonly path: string;
  /** Value that was found, as short JSON or words. */
  readonly got: string;
  /** Values that are allowed instead. */
  readonly allowed: string;
}

/** An error that a user can cause and fix. Several problems found together are reported together. */
export class SpillwayError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  /** Next step, if there is an obvious one. */
  readonly hint: string | undefined;

  constructor(
    code: ErrorCode,
    summary: string,
    details: {
      problem?: Problem;
      problems?: readonly Problem[];
      hint?: string | undefined;
      cause?: unknown;
    } = {},
  ) {
    const problems = details.problems ?? (details.problem === undefined ? [] : [details.problem]);
    const lines = problems.map(({ path, got, allowed }) => `  ${path}: got ${got}, allowed: ${allowed}`);
    super([summary, ...lines].join("\n"), details.cause === undefined ? {} : { cause: details.cause });
    this.name = "SpillwayError";
    this.code = code;
    this.problems = problems;
    this.hint = details.hint;
  }

  /** Exit status of a command that this error ends. */
  get exitCode(): number {
    return errorCodes[this.code];
  }
}

/** Returns a value as `Problem.got` shows it: JSON if there is any, never more than 60 characters. */
export function quote(value: unknown): string {
  const text =
    value === undefined
      ? "nothing"
      : typeof value === "number" || typeof value === "bigint"
        ? String(value)
        : (jsonOf(value) ?? typeof value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Returns a value as JSON; `undefined` if it has none: functions, circular objects, big integers inside. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
