// Waiting for the window's reset, as the headers of the refusal show it.
import { ABSENT, type ClientEvent, GIVE_UP, type RefusalPolicy } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type SpreadInput } from "../spread.ts";
import { type BoundsInput, bounded, boundMembers } from "./bounds.ts";

export interface WaitResetOptions extends BoundsInput {
  /**
   * Window whose reset to wait for. `organization`: the organization's, whichever window refused, as simple clients do.
   * `both`: among the windows that lack room for the call, the one that resets last.
   */
  readonly of: "organization" | "both";
  /**
   * Instant that the seconds are counted from. Default: `answer`. `second`: the start of the answer's whole second, as
   * in programs that add seconds to a clock of seconds. Windows end on whole seconds (SPEC.md §3). All calls that one
   * window refused are then retried in the same millisecond, its end.
   */
  readonly from?: "answer" | "second";
  /** Extra wait, constant or at random, whole milliseconds. Default: none. */
  readonly jitter?: SpreadInput;
  /** Bounds of the wait, without the jitter. Default: no bounds. */
  readonly least?: Duration;
  readonly most?: Duration;
  /** Wait if no reset is shown. Default: the call is given up. */
  readonly fallback?: Duration;
}

/**
 * Waits `reset` seconds from the answer, and the jitter. Under `reset: "ceil"` (SPEC.md §3) that is never before the
 * window's end: `reset` was rounded up when the call was decided, and the answer came later.
 *
 * The headers of a 429 do not say which window refused. A window is taken to lack room if it shows less remaining than
 * the call asks of it, or shows nothing. If neither window lacks room, the client waits for both.
 *
 * It gives up
 * - after `attempts`, or if the wait would pass the `deadline`;
 * - if no reset is shown, and there is no `fallback`;
 * - if waiting is hopeless (SPEC.md §2.7), because a limit is below the call's cost. That is certain only while
 *   neither window is used up. A deployment that charges afterwards refuses at 0 remaining only, and admits the same
 *   call after the reset. So a hopeless call may wait once for a used-up window.
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

function isHopeless(event: ClientEvent): boolean {
  const { cost, limit, remaining, userCost, userLimit, userRemaining } = event;
  const usedUp = remaining <= 0 || userRemaining <= 0;
  const tooSmall = (limit !== ABSENT && limit < cost) || (userLimit !== ABSENT && userLimit < userCost);
  return tooSmall && !usedUp;
}

/** Returns the reset to wait for under `both`, seconds; `ABSENT` if no reset is shown. */
export function laterReset({
  cost,
  remaining,
  reset,
  userCost,
  userRemaining,
  userReset,
}: Readonly<
  Pick<ClientEvent, "cost" | "remaining" | "reset" | "userCost" | "userRemaining" | "userReset">
>): number {
  const organizationLacks = remaining < cost;
  const userLacks = userRemaining < userCost;
  if (organizationLacks === userLacks) return Math.max(reset, userReset);
  return organizationLacks ? reset : userReset;
}
