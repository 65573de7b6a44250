// Checks of a call's line, member by member. Plain comparisons, since they run for every line. Details are worked out
// only for a mistake.
import { quote, type SpillwayError } from "../rules/errors.ts";
import { traceError } from "./trace-error.ts";

export type Members = Readonly<Record<string, unknown>>;
/** Allowed values of a member, in words, and a test of a value. */
export type Check = readonly [allowed: string, holds: (value: unknown, call: Members) => boolean];

/** Greatest distance of a time from the epoch, ms: that of a `Date`. Times in ns lie further away. */
const timeMost = 8.64e15;
const isTime = (value: unknown): boolean => typeof value === "number" && Math.abs(value) <= timeMost;
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;
export const isText = (value: unknown): value is string => typeof value === "string";
const isStatus = (value: unknown): boolean =>
  isCount(value) && (value === 0 || (value >= 100 && value <= 999));

export const time: Check = ["milliseconds since the epoch", isTime];
export const text: Check = ["text", isText];
export const count: Check = ["a whole number >= 0", isCount];
export const cost: Check = ["a whole number >= 0, or null", (value) => value === null || isCount(value)];
export const status: Check = ["an HTTP status from 100 to 999, or 0", isStatus];
export const actual: Check = [
  "a whole number >= 0, at most cost",
  (value, call) => isCount(value) && withinCost(value, call),
];
export const optional = ([allowed, holds]: Check): Check => [
  `${allowed}, or no such member`,
  (value, call) => value === undefined || holds(value, call),
];
export const oneOf = (words: readonly string[]): Check => [
  `one of ${words.join(", ")}`,
  (value) => (words as readonly unknown[]).includes(value),
];

function withinCost(value: number, call: Members): boolean {
  const asked = call["cost"];
  return typeof asked !== "number" || value <= asked;
}

/** Makes the check of a line. @returns a function that throws SpillwayError `TRACE_INVALID` if a value is no call */
export function checkerOf(checks: Readonly<Record<string, Check>>): (value: unknown, line: number) => void {
  const members = Object.entries(checks);
  return (value, line) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw traceError("a line of this trace is no call", line, {
        got: quote(value),
        allowed: "a call, as a JSON object",
      });
    const call = value as Members;
    for (let index = 0; index < members.length; index++) {
      const [name, [allowed, holds]] = members[index] as (typeof members)[number];
      if (!holds(call[name], call)) throw notACall(call, name, allowed, line);
    }
  };
}

function notACall(call: Members, member: string, allowed: string, line: number): SpillwayError {
  if (call["format"] === "spillway-trace")
    return traceError(
      "this trace has a second header",
      line,
      { got: "a header", allowed: "a call" },
      "two traces in one file? Verify each by itself",
    );
  return traceError("a line of this trace is no call", line, { member, got: quote(call[member]), allowed });
}
