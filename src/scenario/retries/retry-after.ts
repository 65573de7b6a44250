// Waiting as long as `Retry-After` says, as HTTP libraries do.
import { GIVE_UP, type RefusalPolicy } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type SpreadInput } from "../spread.ts";
import { type BoundsInput, bounded, boundMembers } from "./bounds.ts";

export interface RetryAfterOptions extends BoundsInput {
  /** Waited where the header did not come, or is no whole number of seconds; given up where it is left out. */
  readonly fallback?: Duration;
  /** No wait is longer, the jitter aside; no bound where it is left out. */
  readonly most?: Duration;
  /** Waited on top, the same each time or at random, whole milliseconds; none where it is left out. */
  readonly jitter?: SpreadInput;
}

/** Waits `Retry-After` seconds from the answer, which a deployment may never send (SPEC.md §8 `retryAfter`). */
export function retryAfter(options: RetryAfterOptions = {}): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.options("retryAfter", options, ["fallback", "most", "jitter", ...boundMembers]);
  const { fallback } = options;
  const fallbackMs = fallback === undefined ? GIVE_UP : mistakes.duration("retryAfter.fallback", fallback, 0);
  const mostMs =
    options.most === undefined
      ? Number.POSITIVE_INFINITY
      : mistakes.duration("retryAfter.most", options.most, 0);
  const jitter = parseSpread("retryAfter.jitter", options.jitter ?? 0, mistakes);
  return bounded("retry-after", "retryAfter", options, mistakes, (record, event) => {
    const waitMs = event.retryAfter < 0 ? fallbackMs : event.retryAfter * 1000;
    return waitMs === GIVE_UP ? GIVE_UP : Math.min(mostMs, waitMs) + drawSpread(record, jitter);
  });
}
