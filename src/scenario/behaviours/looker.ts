// Looks at the free status endpoint before it calls, and waits while too little is left. Between look and call
// others may take what it saw: polite, not safe.

import { status } from "../calls.ts";
import { ABSENT, type Behaviour, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { parseSpread, type SpreadInput } from "../spread.ts";
import { thinkMs } from "./think.ts";
import { type Calls, choiceOf } from "./weighted-calls.ts";

export interface LookerOptions {
  /** REST calls: the status response's headers show REST's windows alone (SPEC.md §5). */
  readonly calls: Calls;
  /** Calls only while the organization's window has more than this left; 0 where it is left out. */
  readonly leave?: number;
  /** Number of calls after one look; 1 where it is left out. */
  readonly callsPerLook?: number;
  /** From an answer to the next look or call; none where it is left out. */
  readonly think?: SpreadInput;
}

type LookerRecord = {
  /** Calls that may still follow the last look. */
  allowed: number;
};

/** The status call is its template 0. A look that shows too little waits for the organization's reset. */
export function looker(options: LookerOptions): Behaviour<LookerRecord> {
  const mistakes = new Mistakes();
  mistakes.options("looker", options, ["calls", "leave", "callsPerLook", "think"]);
  const choice = choiceOf("looker.calls", options.calls, mistakes);
  for (const [index, call] of choice.calls.entries())
    if (call?.scope === "graphql") mistakes.add(`looker.calls.${index}.call`, call.name, "a REST call");
  const leave = mistakes.whole("looker.leave", options.leave ?? 0, 0, Number.MAX_SAFE_INTEGER);
  const callsPerLook = mistakes.whole("looker.callsPerLook", options.callsPerLook ?? 1, 1, 1_000_000);
  const think = parseSpread("looker.think", options.think ?? 0, mistakes);
  mistakes.finish("this client cannot be made");
  return {
    name: "looker",
    calls: [status(), ...choice.calls],
    inFlightMost: 1,
    start: () => ({ allowed: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) return out.send(0, event.nowMs);
      const pause = thinkMs(record, think);
      const atMs = event.nowMs + pause;
      if (event.template === 0) {
        const { remaining, reset } = event;
        const spent = remaining !== ABSENT && remaining <= leave;
        if (spent) return out.send(0, event.nowMs + Math.max(1, reset) * 1000);
        record.allowed = callsPerLook;
      }
      if (record.allowed === 0) return out.send(0, atMs);
      record.allowed -= 1;
      out.send(1 + choice.choose(record), atMs);
    },
  };
}
