// Exponential backoff, which looks at no header.
import type { ClientRecord, RefusalPolicy } from "../client.ts";
import { type Duration, Mistakes } from "../mistakes.ts";
import { between } from "../random.ts";
import { type BoundsInput, bounded, boundMembers } from "./bounds.ts";

const jitters = ["none", "full", "equal", "half", "decorrelated"] as const;

export interface ExponentialOptions extends BoundsInput {
  /** Wait after the first refusal. */
  readonly first: Duration;
  /** Factor by which each wait exceeds the previous one, from 1 to 100. Default: 2. */
  readonly factor?: number;
  /** Longest wait. */
  readonly most: Duration;
  /**
   * Draw of a wait of w ms, uniform over whole milliseconds. Default: `none`. `full`: from 0 to w. `equal`: from
   * w/2 to w. `half`: from w/2 to 3w/2, at most `most`. `decorrelated`: from `first` to three times the previous wait,
   * at most `most`, whatever `factor` is. (The names are those of the AWS Architecture Blog, "Exponential Backoff And
   * Jitter". `half` is the Go package backoff's RandomizationFactor of 0.5.)
   */
  readonly jitter?: (typeof jitters)[number];
}

/**
 * Waits `min(most, first * factor^(n - 1))` after the n-th refusal of a call (n from 1). The wait is rounded down to
 * whole milliseconds, and counts from the answer.
 */
export function exponential(options: ExponentialOptions): RefusalPolicy {
  const mistakes = new Mistakes();
  mistakes.options("exponential", options, ["first", "factor", "most", "jitter", ...boundMembers]);
  const first = mistakes.duration("exponential.first", options.first, 1);
  const most = mistakes.duration("exponential.most", options.most, 1);
  const factor = mistakes.number(
    "exponential.factor",
    options.factor ?? 2,
    (times) => times >= 1 && times <= 100,
    "a number from 1 to 100",
  );
  const jitter = mistakes.oneOf("exponential.jitter", options.jitter ?? "none", jitters) ?? "none";
  const draw = draws[jitter];
  return bounded("exponential", "exponential", options, mistakes, (record, event) => {
    const waitMs = Math.floor(grown(first, factor, most, event.attempt));
    return draw(record, { waitMs, beforeMs: event.delayMs, first, most });
  });
}

interface Wait {
  /** Wait without jitter, ms. */
  readonly waitMs: number;
  /** Last wait for this call, ms; 0 at first. */
  readonly beforeMs: number;
  readonly first: number;
  readonly most: number;
}

type Draw = (record: ClientRecord, wait: Wait) => number;

const draws: Readonly<Record<(typeof jitters)[number], Draw>> = {
  none: (_, { waitMs }) => waitMs,
  full: (record, { waitMs }) => between(record, 0, waitMs),
  equal: (record, { waitMs }) => between(record, Math.ceil(waitMs / 2), waitMs),
  half: (record, { waitMs, most }) =>
    Math.min(most, between(record, Math.ceil(waitMs / 2), Math.floor((waitMs * 3) / 2))),
  decorrelated: (record, { beforeMs, first, most }) =>
    Math.min(most, between(record, first, Math.max(first, beforeMs * 3))),
};

/** Returns `min(most, first * factor^times)` by multiplication alone: powers differ between JavaScript engines. */
function grown(first: number, factor: number, most: number, times: number): number {
  let wait = first;
  for (let step = 0; step < times && wait < most && factor > 1; step++) wait *= factor;
  return Math.min(most, wait);
}
