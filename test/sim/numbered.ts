import type { TraceLine } from "../../src/trace/read.ts";
import type { TraceCall } from "../../src/trace/record.ts";

/** Yields calls as a trace's lines: the header is line 1. */
export function* numbered(calls: Iterable<TraceCall>): Generator<TraceLine> {
  let line = 2;
  for (const call of calls) {
    yield { line, call };
    line += 1;
  }
}
