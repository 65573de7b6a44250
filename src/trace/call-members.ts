// A call's line, checked member by member. Plain comparisons, since this runs once for every line; what is
// wrong is worked out only once something is.
import { quote, type SpillwayError } from "../rules/errors.ts";
import { type ShownHeaders, shownFields } from "../wire/fields.ts";
import type { CallKind, TraceCall } from "./record.ts";
import { traceError } from "./trace-error.ts";

type Members = Record<string, unknown>;
type Check = readonly [allowed: string, holds: (value: unknown, call: Members) => boolean];

const isTime = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === "string";
const isHeader = (value: unknown): boolean =>
  value === null || typeof value === "string" || Number.isSafeInteger(value);
const kinds: readonly CallKind[] = ["call", "status", "other"];

const time: Check = ["milliseconds since the epoch", isTime];
const header: Check = ["a whole number, text, or null", isHeader];
const optional = ([allowed, holds]: Check): Check => [
  `${allowed}, or no such member`,
  (value, call) => value === undefined || holds(value, call),
];

/** Each member, what it may be, and whether it is. */
const checks: Readonly<Record<keyof TraceCall, Check>> = {
  sent: time,
  received: time,
  client: ["text", isText],
  call: ["a whole number >= 0", isCount],
  org: ["text", isText],
  user: ["text or null", (value) => value === null || isText(value)],
  scope: ['"rest" or "graphql"', (value) => value === "rest" || value === "graphql"],
  kind: [`one of ${kinds.join(", ")}`, (value) => (kinds as readonly unknown[]).includes(value)],
  cost: ["a whole number >= 0, or null", (value) => value === null || isCount(value)],
  status: ["an HTTP status from 100 to 999, or 0", (value) => isCount(value) && isStatus(value as number)],
  ...(Object.fromEntries(shownFields.map((name) => [name, header])) as Record<keyof ShownHeaders, Check>),
  actual: optional([
    "a whole number >= 0, at most cost",
    (value, call) => isCount(value) && withinCost(value, call),
  ]),
  retryAfter: optional(header),
  warning: optional(header),
  userWarning: optional(header),
  body: ["any JSON", () => true],
  refusal: ["any JSON", () => true],
  error: optional(["text", isText]),
  wanted: optional(time),
  attempt: optional(["a whole number >= 0", isCount]),
};
const members = Object.entries(checks);

function isStatus(value: number): boolean {
  return value === 0 || (value >= 100 && value <= 999);
}

function withinCost(actual: unknown, call: Members): boolean {
  const cost = call["cost"];
  return typeof cost !== "number" || (actual as number) <= cost;
}

/** @throws SpillwayError `TRACE_INVALID` where the value is no call */
export function checkCall(value: unknown, line: number): asserts value is TraceCall {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw traceError("a line of this trace is no call", line, {
      got: quote(value),
      allowed: "a call, as a JSON object",
    });
  const call = value as Members;
  for (let index = 0; index < members.length; index++) {
    const [name, [, holds]] = members[index] as (typeof members)[number];
    if (!holds(call[name], call)) throw notACall(call, name, line);
  }
}

function notACall(call: Members, name: string, line: number): SpillwayError {
  if (call["format"] === "spillway-trace")
    return traceError(
      "this trace has a second header",
      line,
      { got: "a header", allowed: "a call" },
      "two traces in one file? Verify each by itself",
    );
  return traceError("a line of this trace is no call", line, {
    member: name,
    got: quote(call[name]),
    allowed: checks[name as keyof TraceCall][0],
  });
}
