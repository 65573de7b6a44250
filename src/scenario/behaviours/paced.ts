// Spreads its calls over the rest of the window, by the headers of the last answer. Alone, such a client is never
// refused. Among others it leaves them their part, if it is told how many clients there are.
import { ABSENT, type Behaviour, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { type Calls, choiceOf } from "./weighted-calls.ts";

export interface PacedOptions {
  readonly calls: Calls;
  /** Number of clients that share the organization's window, this one included. Default: 1. */
  readonly sharedBy?: number;
  /** Number of clients that share the user's window. Default: 1. */
  readonly userSharedBy?: number;
  /** Least time from an answer to the next call. Default: none. */
  readonly least?: Duration;
  /** Number of calls that the client makes. Default: no bound. */
  readonly jobs?: number;
}

/**
 * Makes one call at a time. After each answer (or refusal given up) it computes `reset / (remaining / sharedBy)` for
 * the organization's and the user's window. It waits the longer of the two, rounded up to whole milliseconds. If a
 * window has too little left, it waits for its reset. A window that shows nothing needs no wait.
 */
export function paced(options: PacedOptions): Behaviour<{ done: number }> {
  const mistakes = new Mistakes();
  mistakes.options("paced", options, ["calls", "sharedBy", "userSharedBy", "least", "jobs"]);
  const { calls, choose } = choiceOf("paced.calls", options.calls, mistakes);
  const sharedBy = mistakes.whole("paced.sharedBy", options.sharedBy ?? 1, 1, 1_000_000);
  const userSharedBy = mistakes.whole("paced.userSharedBy", options.userSharedBy ?? 1, 1, 1_000_000);
  const leastMs = mistakes.duration("paced.least", options.least ?? 0, 0);
  const jobs = mistakes.most("paced.jobs", options.jobs);
  mistakes.finish("this client cannot be made");
  return {
    name: "paced",
    calls,
    inFlightMost: 1,
    start: () => ({ done: 0 }),
    next(record, event, out) {
      if (event.kind === STARTED) return out.send(choose(record), event.nowMs);
      record.done += 1;
      if (record.done >= jobs) return out.stop();
      const { cost, remaining, reset, userCost, userRemaining, userReset } = event;
      const pauseMs = Math.max(
        leastMs,
        spacingMs(cost * sharedBy, remaining, reset),
        spacingMs(userCost * userSharedBy, userRemaining, userReset),
      );
      out.send(choose(record), event.nowMs + pauseMs);
    },
  };
}

/** Returns the smallest gap in ms between calls of this cost that makes `remaining` last until the reset; 0 for free ones. */
function spacingMs(cost: number, remaining: number, reset: number): number {
  if (cost === 0 || remaining === ABSENT || reset === ABSENT) return 0;
  const resetMs = reset * 1000;
  return remaining < cost ? resetMs : Math.ceil((resetMs * cost) / remaining);
}
