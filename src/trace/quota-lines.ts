// Lines of a trace, version 2, as text and back. Members stand in the format's order: equal calls give equal bytes.

import { outcomes } from "../policy/wire-words.ts";
import { closest } from "../rules/closest.ts";
import { quote } from "../rules/errors.ts";
import {
  actual,
  type Check,
  checkerOf,
  cost,
  count,
  isCount,
  isText,
  oneOf,
  optional,
  status,
  text,
  time,
} from "./member-checks.ts";
import type { QuotaCall, QuotaReading, QuotaTraceHeader } from "./quota-record.ts";
import { traceError } from "./trace-error.ts";

/** Unit of a reset that does not tell its own, ms. */
export const commonGridMs = 1000;

type Numbers = (number | null)[];
type ReadingLine = readonly [string, ...Numbers];

/** Returns `[quota, limit, remaining, used, reset, resetAt, grid]`; the last two are left out if they say nothing. */
function readingLine({ quota, limit, remaining, used, reset }: QuotaReading): ReadingLine {
  const { afterMs = null, atMs = null, gridMs = commonGridMs } = reset ?? {};
  const rest: Numbers = gridMs !== commonGridMs ? [atMs, gridMs] : atMs !== null ? [atMs] : [];
  return [quota, limit, remaining, used, afterMs, ...rest];
}

function readingOf([
  quota,
  limit,
  remaining,
  used,
  afterMs,
  atMs = null,
  grid = null,
]: ReadingLine): QuotaReading {
  const isTold = (afterMs ?? atMs) !== null;
  return {
    quota,
    limit: limit ?? null,
    remaining: remaining ?? null,
    used: used ?? null,
    reset: isTold ? { afterMs: afterMs ?? null, atMs, gridMs: grid ?? commonGridMs } : null,
  };
}

/** Returns a call's line, without a line end. Members that do not exist (`undefined`) are left out. */
export function encodeQuotaCall(call: QuotaCall): string {
  return JSON.stringify({
    sent: call.sent,
    received: call.received,
    client: call.client,
    call: call.call,
    caller: call.caller,
    operation: call.operation,
    cost: call.cost,
    status: call.status,
    outcome: call.outcome,
    readings: call.readings.map(readingLine),
    actual: call.actual,
    by: call.by,
    retryAfterMs: call.retryAfterMs,
    retryAt: call.retryAt,
    date: call.date,
    via: call.via,
    unread: call.unread,
    error: call.error,
    wanted: call.wanted,
    attempt: call.attempt,
  });
}

const isTexts = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
const isWhole = (value: unknown): boolean => value === null || Number.isSafeInteger(value);

function isReading(value: unknown): value is ReadingLine {
  if (!Array.isArray(value) || value.length < 5 || value.length > 7) return false;
  const [quota, ...numbers] = value as readonly unknown[];
  return isText(quota) && numbers.every(isWhole) && (numbers[5] ?? 1) !== 0 && isCount(numbers[5] ?? 1);
}

const readings: Check = [
  "[[quota, limit, remaining, used, reset in ms, resetAt?, grid?], ...], whole numbers or null",
  (value) => Array.isArray(value) && value.every(isReading),
];

const checks: Readonly<Record<keyof QuotaCall, Check>> = {
  sent: time,
  received: time,
  client: text,
  call: count,
  caller: ["an object of texts", isTexts],
  operation: text,
  cost,
  status,
  outcome: oneOf(outcomes),
  readings,
  actual: optional(actual),
  by: optional(text),
  retryAfterMs: optional(time),
  retryAt: optional(time),
  date: optional(time),
  via: optional(oneOf(["cache"])),
  unread: optional(["texts", (value) => Array.isArray(value) && value.every(isText)]),
  error: optional(text),
  wanted: optional(time),
  attempt: optional(count),
};
const checkMembers = checkerOf(checks);

/** Reads the calls of one trace, whose policy defines all names. */
export class QuotaLineReader {
  readonly quotas: ReadonlySet<string>;
  readonly operations: ReadonlySet<string>;

  constructor({ policy }: Pick<QuotaTraceHeader, "policy">) {
    this.quotas = new Set(Object.keys(policy.quotas));
    this.operations = new Set([...Object.keys(policy.operations), "status", "other"]);
  }

  /** @throws SpillwayError `TRACE_INVALID` if the value is no call, or names what the policy lacks */
  read(value: unknown, line: number): QuotaCall {
    checkMembers(value, line);
    const given = value as Omit<QuotaCall, "readings"> & { readonly readings: readonly ReadingLine[] };
    if (!this.operations.has(given.operation))
      throw unknownName("operation", given.operation, this.operations, line);
    for (const [quota] of given.readings)
      if (!this.quotas.has(quota)) throw unknownName("readings", quota, this.quotas, line);
    return { ...given, readings: given.readings.map(readingOf) };
  }
}

function unknownName(member: string, name: string, known: ReadonlySet<string>, line: number): Error {
  const near = closest(name, [...known]);
  return traceError(
    "a line of this trace names what its policy lacks",
    line,
    { member, got: quote(name), allowed: `one of ${[...known].join(", ")}` },
    near === null ? undefined : `did you mean ${near}?`,
  );
}
