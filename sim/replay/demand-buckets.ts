// The use of a quota's buckets if nothing had been refused, and the capacities that this would have needed. The lack of
// a bucket comes back at a rate that does not depend on its capacity. The smallest capacity is therefore the highest
// sum of lack and a call's cost. A bucket's window lasts from its first call after it was full until it is full again.
import type { CompiledQuota } from "../../src/engine/compiled-policy.ts";
import { type CountProfile, NOT_OPEN } from "../../src/engine/count-table.ts";
import type { Demand, OnWindow } from "./demand.ts";

/** A bucket, whose lack is counted in parts as in the engine. */
interface Bucket {
  readonly profile: CountProfile;
  parts: number;
  seenMs: number;
  peak: number;
  needed: number;
  /** Highest peak of windows that are over; below 0 if there is none. */
  peakMost: number;
}

export class DemandBuckets implements Demand {
  readonly #buckets: (Bucket | undefined)[] = [];
  readonly #quota: CompiledQuota;
  readonly #profileOf: (row: number) => CountProfile;
  readonly #onWindow: OnWindow;

  constructor(quota: CompiledQuota, profileOf: (row: number) => CountProfile, onWindow: OnWindow) {
    this.#quota = quota;
    this.#profileOf = profileOf;
    this.#onWindow = onWindow;
  }

  decide(row: number, cost: number, nowMs: number): void {
    const bucket = this.#at(row, nowMs);
    const needed = lacking(bucket) + (this.#quota.isWhole ? cost : 1);
    if (needed > bucket.needed) bucket.needed = needed;
    if (!this.#quota.isLate) charge(bucket, cost);
  }

  windowOf(): number {
    return NOT_OPEN;
  }

  settle(row: number, requested: number, actual: number, _window: number, nowMs: number): void {
    const bucket = this.#at(row, nowMs);
    if (this.#quota.isHeld)
      bucket.parts = Math.max(0, bucket.parts - (requested - actual) * bucket.profile.second);
    if (this.#quota.isLate) charge(bucket, actual);
  }

  useMax(row: number): number | null {
    const bucket = this.#buckets[row];
    return bucket === undefined || bucket.peakMost < 0 ? null : bucket.peakMost / bucket.profile.limit;
  }

  finish(): void {
    for (const [row, bucket] of this.#buckets.entries()) if (bucket !== undefined) this.#close(row, bucket);
  }

  /** Returns a bucket at an instant, with the parts put back that came back since. */
  #at(row: number, nowMs: number): Bucket {
    const known = this.#buckets[row];
    if (known === undefined) {
      const profile = this.#profileOf(row);
      const made = { profile, parts: 0, seenMs: nowMs, peak: 0, needed: 0, peakMost: -1 };
      this.#buckets[row] = made;
      return made;
    }
    const back = (nowMs - known.seenMs) * known.profile.first;
    if (back >= known.parts && back > 0) this.#close(row, known);
    known.parts = Math.max(0, known.parts - back);
    known.seenMs = nowMs;
    return known;
  }

  #close(row: number, bucket: Bucket): void {
    const { needed, peak, parts, seenMs, profile } = bucket;
    if (needed === 0) return;
    if (peak > bucket.peakMost) bucket.peakMost = peak;
    bucket.peak = 0;
    bucket.needed = 0;
    this.#onWindow(row, seenMs + Math.ceil(parts / profile.first), peak, needed, profile.limit);
  }
}

const lacking = ({ parts, profile }: Bucket): number => Math.ceil(parts / profile.second);

function charge(bucket: Bucket, cost: number): void {
  bucket.parts = Math.min(bucket.parts + cost * bucket.profile.second, Number.MAX_SAFE_INTEGER);
  bucket.peak = Math.max(bucket.peak, lacking(bucket));
}
