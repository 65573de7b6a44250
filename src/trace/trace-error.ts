// Errors of a trace: one code, with the line that they are about.
import { SpillwayError } from "../rules/errors.ts";

/** Returns an error at `line 12`, or at `line 12: cost`. */
export function traceError(
  summary: string,
  line: number,
  { member, got, allowed }: { member?: string; got: string; allowed: string },
  hint?: string,
): SpillwayError {
  const path = member === undefined ? `line ${line}` : `line ${line}: ${member}`;
  return new SpillwayError("TRACE_INVALID", summary, { problem: { path, got, allowed }, hint });
}
