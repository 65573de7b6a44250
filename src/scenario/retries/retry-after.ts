// Waiting as long as `Retry-After` says, as HTTP libraries do.
import { GIVE_UP, type RefusalPolicy } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { drawSpread, parseSpread, type SpreadInput } from "../spread.ts";
import { type BoundsInput, bounded, boundMembers } from "./bounds.ts";

export interface RetryAfterOptions extends BoundsInput {
  /** Wait if the header did not come, or is no whole number of seconds. Default: the call is given up. */
  readonly fallback?: Duration;
  /** Longest wait, without the jitter. Default: no bound. */
  readonly most?: Duration;
  /** Extra wait, constant or at random, whole milliseconds. Default: none. */
  readonly jitter?: SpreadInput;
}

/** Waits `Retry-After` seconds from the answer. A deployment may never send that header (SPEC.md §8 `retryAfter`). */
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
