// The retry policies that a fit may find, as in src/scenario/retries. Each policy gives a span of time after a refusal;
// the next attempt comes at a uniformly drawn instant of that span.
import { laterReset } from "../../src/scenario/retries/wait-reset.ts";
import type { RetrySample } from "./jobs.ts";
import type { FittedSpan } from "./spread.ts";

export type Jitter = "none" | "full" | "equal" | "half" | "decorrelated";

export type FittedRetry =
  | { readonly kind: "unknown" }
  | { readonly kind: "none" }
  | {
      readonly kind: "waitReset";
      readonly of: "organization" | "both";
      readonly from: "answer" | "second";
      readonly jitter: FittedSpan;
    }
  | { readonly kind: "retryAfter"; readonly jitter: FittedSpan }
  | { readonly kind: "fixed"; readonly wait: FittedSpan }
  | {
      readonly kind: "exponential";
      readonly first: number;
      readonly factor: number;
      readonly most: number;
      readonly jitter: Jitter;
    };

/** Returns the span of the next attempt, ms from the refusal's arrival; `null` if the policy expects none. */
export function expectedSpan(retry: FittedRetry, sample: RetrySample): FittedSpan | null {
  switch (retry.kind) {
    case "waitReset":
    case "retryAfter": {
      const fromMs = announcedWaitMs(retry, sample);
      const { least, most } = retry.jitter;
      return fromMs === null ? null : { least: fromMs + least, most: fromMs + most };
    }
    case "fixed":
      return retry.wait;
    case "exponential":
      return exponentialSpan(retry, sample);
    default:
      return null;
  }
}

/** A policy that looks at no header. */
export type PlainRetry = FittedRetry & { readonly kind: "fixed" | "exponential" };

/** Returns the span of the next attempt after that of a number, from 0, ms from its refusal's arrival. */
export const plainSpan = (retry: PlainRetry, attempt: number): FittedSpan =>
  retry.kind === "fixed" ? retry.wait : exponentialSpan(retry, { attempt, beforeMs: 0 });

/** Returns the wait that the refusal itself asks for, ms, without jitter; `null` if it asks for none. */
export function announcedWaitMs(
  retry: Pick<FittedRetry & { kind: "waitReset" }, "kind" | "of" | "from"> | { readonly kind: "retryAfter" },
  sample: RetrySample,
): number | null {
  if (retry.kind === "retryAfter") return sample.retryAfter < 0 ? null : sample.retryAfter * 1000;
  const seconds = retry.of === "both" ? laterReset(sample) : sample.reset;
  const sinceMs = retry.from === "second" ? sample.nowMs % 1000 : 0;
  return seconds < 0 ? null : Math.max(0, seconds * 1000 - sinceMs);
}

function exponentialSpan(
  { first, factor, most, jitter }: FittedRetry & { kind: "exponential" },
  { attempt, beforeMs }: Pick<RetrySample, "attempt" | "beforeMs">,
): FittedSpan {
  let wait = first;
  for (let step = 0; step < attempt && wait < most; step++) wait *= factor;
  wait = Math.min(most, wait);
  switch (jitter) {
    case "none":
      return { least: wait, most: wait };
    case "full":
      return { least: 0, most: wait };
    case "equal":
      return { least: wait / 2, most: wait };
    case "half":
      return { least: wait / 2, most: Math.min(most, wait * 1.5) };
    case "decorrelated":
      return { least: first, most: Math.min(most, Math.max(first, beforeMs * 3)) };
  }
}
