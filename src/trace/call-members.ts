// The members of a call's line, version 1.
import { type ShownHeaders, shownFields } from "../wire/fields.ts";
import {
  actual,
  type Check,
  checkerOf,
  cost,
  count,
  isText,
  oneOf,
  optional,
  status,
  text,
  time,
} from "./member-checks.ts";
import type { CallKind, TraceCall } from "./record.ts";

const kinds: readonly CallKind[] = ["call", "status", "other"];
const header: Check = [
  "a whole number, text, or null",
  (value) => value === null || isText(value) || Number.isSafeInteger(value),
];

/** Checks of the members, by name. */
const checks: Readonly<Record<keyof TraceCall, Check>> = {
  sent: time,
  received: time,
  client: text,
  call: count,
  org: text,
  user: ["text or null", (value) => value === null || isText(value)],
  scope: ['"rest" or "graphql"', (value) => value === "rest" || value === "graphql"],
  kind: oneOf(kinds),
  cost,
  status,
  ...(Object.fromEntries(shownFields.map((name) => [name, header])) as Record<keyof ShownHeaders, Check>),
  actual: optional(actual),
  retryAfter: optional(header),
  warning: optional(header),
  userWarning: optional(header),
  body: ["any JSON", () => true],
  refusal: ["any JSON", () => true],
  error: optional(text),
  wanted: optional(time),
  attempt: optional(count),
};

/** @throws SpillwayError `TRACE_INVALID` if the value is no call */
export const checkCall: (value: unknown, line: number) => asserts value is TraceCall = checkerOf(checks);
