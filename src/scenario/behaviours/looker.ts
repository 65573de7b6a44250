// Looks at the free status endpoint before it calls, and waits while too little is left. Other clients may use up what
// it saw before it calls, so this is polite but no guarantee.

import { status } from "../calls.ts";
import { ABSENT, type Behaviour, STARTED } from "../client.ts";
import { Mistakes } from "../mistakes.ts";
import { parseSpread, type SpreadInput } from "../spread.ts";
import { thinkMs } from "./think.ts";
import { type Calls, choiceOf } from "./weighted-calls.ts";

export interface LookerOptions {
  /** REST calls only: the headers of the status response show REST's windows alone (SPEC.md §5). */
  readonly calls: Calls;
  /** Requests to leave: it calls only while the organization's window has more than this left. Default: 0. */
  readonly leave?: number;
  /** Number of calls after one look. Default: 1. */
  readonly callsPerLook?: number;
  /** Time from an answer to the next look or call. Default: none. */
  readonly think?: SpreadInput;
}

type LookerRecord = {
  /** Number of calls that may still follow the last look. */
  allowed: number;
};

/** Makes a status call (template 0) first. If a look shows too little, it waits for the organization's reset. */
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
