// Exponential backoff, which looks at no header.
import { GIVE_UP, type RefusalPolicy } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { between } from "../random.ts";

export interface ExponentialOptions {
  /** Waited after the first refusal. */
  readonly first: Duration;
  /** Each wait is so many times the one before; 2 where it is left out. From 1 to 100. */
  readonly factor?: number;
  /** No wait is longer. */
  readonly most: Duration;
  /** How often a call is made in all, the first time included; no bound where it is left out. */
  readonly attempts?: number;
  /** `none`, or `full`: uniform over the whole milliseconds from 0 to the wait. `none` where it is left out. */
  readonly jitter?: "none" | "full";
}

/**
 * After the n-th refusal of a call (n from 1) waits `min(most, first * factor^(n - 1))`, cut off to whole
 * milliseconds, counted from the answer.
 */
export function exponential(options: ExponentialOptions): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.members("exponential", options, ["first", "factor", "most", "attempts", "jitter"]);
  const first = mistakes.duration("exponential.first", options.first, 1);
  const most = mistakes.duration("exponential.most", options.most, 1);
  const { factor = 2 } = options;
  if (!(factor >= 1 && factor <= 100)) mistakes.add("exponential.factor", factor, "a number from 1 to 100");
  const attempts = mistakes.whole(
    "exponential.attempts",
    options.attempts ?? Number.MAX_SAFE_INTEGER,
    1,
    Number.MAX_SAFE_INTEGER,
  );
  const jitter = mistakes.oneOf("exponential.jitter", options.jitter ?? "none", ["none", "full"]);
  mistakes.finish("this policy cannot be used");
  return {
    name: "exponential",
    retryAt(record, event) {
      if (event.attempt + 1 >= attempts) return GIVE_UP;
      const waitMs = Math.floor(grown(first, factor, most, event.attempt));
      return event.nowMs + (jitter === "full" ? between(record, 0, waitMs) : waitMs);
    },
  };
}

/** `min(most, first * factor^times)` by multiplication alone: powers differ between JavaScript engines. */
function grown(first: number, factor: number, most: number, times: number): number {
  let wait = first;
  for (let step = 0; step < times && wait < most && factor > 1; step++) wait *= factor;
  return Math.min(most, wait);
}
