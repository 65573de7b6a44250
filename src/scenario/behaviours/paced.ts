// Spreads its calls over what is left of the window, by the headers of the last answer: a client that is never
// refused where it is alone, and that leaves the others their part where it is told how many they are.
import { ABSENT, type Behaviour, STARTED } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { type Calls, choiceOf } from "./weighted-calls.ts";

export interface PacedOptions {
  readonly calls: Calls;
  /** Number of clients that share the organization's window, this one included; 1 where it is left out. */
  readonly sharedBy?: number;
  /** Number of clients that share the user's window; 1 where it is left out. */
  readonly userSharedBy?: number;
  /** From an answer to the next call at least; none where it is left out. */
  readonly least?: Duration;
  /** Number of calls that it makes; no bound where it is left out. */
  readonly jobs?: number;
}

/**
 * One call at a time. After each answer waits the longer of `reset / (remaining / sharedBy)` of the organization's
 * window and the same of the user's, in whole milliseconds, rounded up; a window with too little left is waited
 * for to its reset; one that shows nothing is not waited for. A refusal that was given up is no exception.
 */
export function paced(options: PacedOptions): Behaviour<{ done: number }> {
  const mistakes = new Mistakes();
  mistakes.options("paced", options, ["calls", "sharedBy", "userSharedBy", "least", "jobs"]);
  const { calls, choose } = choiceOf("paced.calls", options.calls, mistakes);
  const sharedBy = mistakes.whole("paced.sharedBy", options.sharedBy ?? 1, 1, 1_000_000);
  const userSharedBy = mistakes.whole("paced.userSharedBy", options.userSharedBy ?? 1, 1, 1_000_000);
  const leastMs = mistakes.duration("paced.least", options.least ?? 0, 0);
  const jobs = mistakes.whole(
    "paced.jobs",
    options.jobs ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
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
      const { cost, remaining, reset, userRemaining, userReset } = event;
      const pauseMs = Math.max(
        leastMs,
        spacingMs(cost * sharedBy, remaining, reset),
        spacingMs(cost * userSharedBy, userRemaining, userReset),
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
