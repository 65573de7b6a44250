// Calls over time in a bounded number of spans, although the log's length shows only at its end. Too many spans are
// joined to the next width, which is a multiple of the one before.
import type { QuotaSlot } from "../../src/summary/quota-replay-result.ts";
import { replaySlotsMost } from "../../src/summary/replay-result.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const widthsMs: readonly number[] = [
  ...[1, 5, 10, 30].map((seconds) => seconds * second),
  ...[1, 5, 10, 30].map((minutes) => minutes * minute),
  ...[1, 2, 6, 12].map((hours) => hours * hour),
  day,
];

export class ReplaySlots {
  #widthMs = second;
  /** Number of the first span: its start divided by its width. */
  #first = -1;
  #used = 0;
  /** Number of counters of a span: one for admitted calls, and one for each quota's refusals. */
  readonly #width: number;
  #counts: Float64Array;
  // Span of the previous call, which most calls share: where it begins and ends, and its counters.
  #fromMs = 0;
  #untilMs = 0;
  #at = 0;

  constructor(quotas: number) {
    this.#width = quotas + 1;
    this.#counts = new Float64Array(this.#width * replaySlotsMost);
  }

  get widthMs(): number {
    return this.#widthMs;
  }

  /**
   * @param atMs no earlier than the first call that was added
   * @param refusing place of the quota that refused, or `NONE_REFUSED`
   */
  add(atMs: number, refusing: number): void {
    if (atMs < this.#fromMs || atMs >= this.#untilMs) this.#move(atMs);
    const at = this.#at + refusing + 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
  }

  #move(atMs: number): void {
    if (this.#first < 0) this.#first = Math.floor(atMs / this.#widthMs);
    while (Math.floor(atMs / this.#widthMs) - this.#first >= replaySlotsMost) this.#widen();
    const number = Math.floor(atMs / this.#widthMs);
    const slot = number - this.#first;
    this.#used = Math.max(this.#used, slot + 1);
    this.#fromMs = number * this.#widthMs;
    this.#untilMs = this.#fromMs + this.#widthMs;
    this.#at = slot * this.#width;
  }

  #widen(): void {
    const widthMs = widthsMs.find((width) => width > this.#widthMs) ?? 2 * this.#widthMs;
    const startMs = this.#first * this.#widthMs;
    const first = Math.floor(startMs / widthMs);
    const counts = new Float64Array(this.#counts.length);
    let used = 0;
    for (let slot = 0; slot < this.#used; slot++) {
      const wider = Math.floor((startMs + slot * this.#widthMs) / widthMs) - first;
      used = wider + 1;
      for (let counter = 0; counter < this.#width; counter++) {
        const at = wider * this.#width + counter;
        counts[at] = (counts[at] as number) + (this.#counts[slot * this.#width + counter] as number);
      }
    }
    this.#widthMs = widthMs;
    this.#first = first;
    this.#used = used;
    this.#counts = counts;
  }

  finish(): QuotaSlot[] {
    return Array.from({ length: this.#used }, (_, slot) => {
      const counts = this.#counts.subarray(slot * this.#width, (slot + 1) * this.#width);
      const calls = counts.reduce((sum, count) => sum + count, 0);
      return { atMs: (this.#first + slot) * this.#widthMs, calls, refusedBy: [...counts.subarray(1)] };
    });
  }
}
