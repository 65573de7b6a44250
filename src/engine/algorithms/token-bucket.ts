// A token bucket over a record of the table (POLICY.md §3). It counts what it lacks, in parts of `1 / everyMs` of a
// unit; `amount` parts come back each ms. All numbers are integers, so that no time rounds anything.
import { lowestTerms } from "../../policy/checks.ts";
import type { TokenBucket } from "../../policy/policy.ts";
import { COUNT, type CountProfile, SEEN } from "../count-table.ts";

/** Returns a bucket's profile: `first` is the parts that come back in a ms, `second` the parts of a unit. */
export function bucketProfile({ capacity, refill }: TokenBucket): CountProfile {
  const { amount, everyMs } = lowestTerms(refill);
  return { limit: capacity, first: amount, second: everyMs };
}

/** Returns the parts lacking after `passedMs`. A product too large to be exact is greater than any count. */
const partsAfter = (parts: number, passedMs: number, amount: number): number =>
  Math.max(0, parts - passedMs * amount);

/** Moves the clock to `nowMs`, never back, and adds what came back since: `amount` parts a ms. */
export function advanceBucket(doubles: Float64Array, at: number, amount: number, nowMs: number): void {
  const seen = doubles[at + SEEN] as number;
  if (nowMs <= seen) return;
  doubles[at + COUNT] = partsAfter(doubles[at + COUNT] as number, nowMs - seen, amount);
  doubles[at + SEEN] = nowMs;
}

/** Returns the whole units that are lacking, of `unit` parts each. */
export const bucketUsed = (doubles: Float64Array, at: number, unit: number): number =>
  Math.ceil((doubles[at + COUNT] as number) / unit);

export function chargeBucket(doubles: Float64Array, at: number, parts: number): void {
  doubles[at + COUNT] = Math.min((doubles[at + COUNT] as number) + parts, Number.MAX_SAFE_INTEGER);
}

/** Gives parts back at any time, never above the capacity. */
export function giveBackBucket(doubles: Float64Array, at: number, parts: number): void {
  doubles[at + COUNT] = Math.max(0, (doubles[at + COUNT] as number) - parts);
}

/** Returns the instant, from the clock's time on, at which at most `parts` parts are lacking. */
export function bucketHasAt(doubles: Float64Array, at: number, parts: number, amount: number): number {
  const tooMany = (doubles[at + COUNT] as number) - parts;
  return (doubles[at + SEEN] as number) + Math.max(0, Math.ceil(tooMany / amount));
}

/** Reads a bucket. It is reset when it is full. */
export function readBucket(
  doubles: Float64Array,
  at: number,
  amount: number,
  unit: number,
  now: number,
  out: { used: number; resetAtMs: number },
): void {
  const parts = partsAfter(doubles[at + COUNT] as number, now - (doubles[at + SEEN] as number), amount);
  out.used = Math.ceil(parts / unit);
  out.resetAtMs = now + Math.ceil(parts / amount);
}
