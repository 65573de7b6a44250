// Waiting for the window to reset, as the headers of the refusal show it.
import { ABSENT, type ClientEvent, GIVE_UP, type RefusalPolicy } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type SpreadInput } from "../spread.ts";
import { type BoundsInput, bounded, boundMembers } from "./bounds.ts";

export interface WaitResetOptions extends BoundsInput {
  /**
   * Whose reset to wait for. `organization`: the organization's, whichever window refused; a client that knows
   * no better. `both`: of the windows that lack room for the call, the one that resets last.
   */
  readonly of: "organization" | "both";
  /**
   * Instant that the seconds are counted from; `answer` where it is left out. `second`: from the whole second that the
   * answer fell in, as programs count that add seconds to a clock of seconds. Windows end on whole seconds
   * (SPEC.md §3), so all that were refused by one window wake up in one millisecond: its end.
   */
  readonly from?: "answer" | "second";
  /** Waited on top, the same each time or at random, whole milliseconds; none where it is left out. */
  readonly jitter?: SpreadInput;
  /** No wait is shorter or longer, the jitter aside; as long as the reset where they are left out. */
  readonly least?: Duration;
  readonly most?: Duration;
  /** Waited where no reset is shown; given up where it is left out. */
  readonly fallback?: Duration;
}

/**
 * Waits `reset` seconds from the answer, and the jitter. Under `reset: "ceil"` (SPEC.md §3) that is never
 * before the window's end: `reset` was rounded up when the call was decided, and the answer came later.
 *
 * The headers of a 429 do not say which window refused. A window is taken to lack room where it shows less
 * remaining than the call costs, or does not show it; where neither does, both are waited for.
 *
 * It gives up
 * - after `attempts`, or where the wait would pass the `deadline`;
 * - where no reset is shown to wait for, and there is no `fallback`;
 * - where waiting is hopeless (SPEC.md §2.7): a limit below the call's cost. That is certain only while
 *   neither window is used up, since a deployment that charges afterwards refuses at 0 remaining alone and
 *   lets the same call through after the reset. So a hopeless call may wait once for a used-up window.
 */
export function waitReset(options: WaitResetOptions): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.options("waitReset", options, [
    "of",
    "from",
    "jitter",
    "least",
    "most",
    "fallback",
    ...boundMembers,
  ]);
  const of = mistakes.oneOf("waitReset.of", options.of, ["organization", "both"]);
  const from = mistakes.oneOf("waitReset.from", options.from ?? "answer", ["answer", "second"]);
  const jitter = parseSpread("waitReset.jitter", options.jitter ?? 0, mistakes);
  const ms = (name: "least" | "most" | "fallback", otherwise: number): number => {
    const value = options[name];
    return value === undefined ? otherwise : mistakes.duration(`waitReset.${name}`, value, 0);
  };
  const least = ms("least", 0);
  const most = ms("most", Number.POSITIVE_INFINITY);
  const fallback = ms("fallback", GIVE_UP);
  if (most < least) mistakes.add("waitReset.most", options.most, "no less than waitReset.least");
  return bounded(`wait-reset-${of}`, "waitReset", options, mistakes, (record, event) => {
    if (isHopeless(event)) return GIVE_UP;
    const reset = of === "organization" ? event.reset : laterReset(event);
    const waitMs = reset < 0 ? fallback : Math.min(most, Math.max(least, reset * 1000));
    if (waitMs === GIVE_UP) return GIVE_UP;
    const sinceMs = from === "second" ? event.nowMs % 1000 : 0;
    return Math.max(0, waitMs - sinceMs) + drawSpread(record, jitter);
  });
}

function isHopeless({ cost, limit, remaining, userLimit, userRemaining }: ClientEvent): boolean {
  const usedUp = remaining <= 0 || userRemaining <= 0;
  const tooSmall = (limit !== ABSENT && limit < cost) || (userLimit !== ABSENT && userLimit < cost);
  return tooSmall && !usedUp;
}

/** Seconds; `ABSENT` where no reset is shown. */
function laterReset({ cost, remaining, reset, userRemaining, userReset }: ClientEvent): number {
  const organizationLacks = remaining < cost;
  const userLacks = userRemaining < cost;
  if (organizationLacks === userLacks) return Math.max(reset, userReset);
  return organizationLacks ? reset : userReset;
}
