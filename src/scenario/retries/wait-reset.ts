// Waiting for the window to reset, as the headers of the refusal show it.
import { ABSENT, type ClientEvent, type ClientRecord, GIVE_UP, type RefusalPolicy } from "../client.ts";
import { type DurationSpan, Mistakes, type Span } from "../mistakes.ts";
import { between } from "../random.ts";

export interface WaitResetOptions {
  /**
   * Whose reset to wait for. `organization`: the organization's, whichever window refused; a client that knows
   * no better. `both`: of the windows that lack room for the call, the one that resets last.
   */
  readonly of: "organization" | "both";
  /** Waited on top, uniform over whole milliseconds; none where it is left out. */
  readonly jitter?: DurationSpan;
  /** How often a call is made in all, the first time included; no bound where it is left out. */
  readonly attempts?: number;
}

/**
 * Waits `reset` seconds from the answer, and the jitter. Under `reset: "ceil"` (SPEC.md §3) that is never
 * before the window's end: `reset` was rounded up when the call was decided, and the answer came later.
 *
 * The headers of a 429 do not say which window refused. A window is taken to lack room where it shows less
 * remaining than the call costs, or does not show it; where neither does, both are waited for.
 *
 * It gives up
 * - after `attempts`;
 * - where no reset is shown to wait for;
 * - where waiting is hopeless (SPEC.md §2.7): a limit below the call's cost. That is certain only while
 *   neither window is used up, since a deployment that charges afterwards refuses at 0 remaining alone and
 *   lets the same call through after the reset. So a hopeless call may wait once for a used-up window.
 */
export function waitReset(options: WaitResetOptions): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.members("waitReset", options, ["of", "jitter", "attempts"]);
  const of = mistakes.oneOf("waitReset.of", options.of, ["organization", "both"]);
  const jitter = mistakes.span("waitReset.jitter", options.jitter ?? 0);
  const attempts = mistakes.whole(
    "waitReset.attempts",
    options.attempts ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
  mistakes.finish("this policy cannot be used");
  return {
    name: `wait-reset-${of}`,
    retryAt(record, event) {
      if (event.attempt + 1 >= attempts || isHopeless(event)) return GIVE_UP;
      const reset = of === "organization" ? event.reset : laterReset(event);
      return reset < 0 ? GIVE_UP : event.nowMs + reset * 1000 + draw(record, jitter);
    },
  };
}

function draw(record: ClientRecord, { least, most }: Span): number {
  return most === 0 ? 0 : between(record, least, most);
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
