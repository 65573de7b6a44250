// Errors about a trace: one code, and the line they are about.
import { SpillwayError } from "../rules/errors.ts";

/** `line 12` or `line 12: cost`. */
export function traceError(
  summary: string,
  line: number,
  { member, got, allowed }: { member?: string; got: string; allowed: string },
  hint?: string,
): SpillwayError {
  const path = member === undefined ? `line ${line}` : `line ${line}: ${member}`;
  const problems = [{ path, got, allowed }];
  return new SpillwayError("TRACE_INVALID", summary, hint === undefined ? { problems } : { problems, hint });
}
