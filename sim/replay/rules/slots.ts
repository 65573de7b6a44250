// Calls over time in a bounded number of spans, though how long the log is shows only at its end: where there are too
// many, spans are joined to the next width, of which each is a multiple of the one before.
import {
  ADMITTED,
  type Outcome,
  REFUSED_BY_ORGANIZATION,
  REFUSED_BY_USER,
} from "../../../src/engine/core.ts";
import { type ReplaySlot, replaySlotsMost } from "../../../src/summary/replay-result.ts";

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

/** Counters a span, by outcome. */
const COUNTERS = 3;

export class RulesSlots {
  #widthMs = second;
  /** The first span's number: its start by its width. */
  #first = -1;
  #used = 0;
  #counts = new Float64Array(COUNTERS * replaySlotsMost);
  // The span of the call before, since most calls share it with the next: where it begins and ends, and its counters.
  #fromMs = 0;
  #untilMs = 0;
  #at = 0;

  get widthMs(): number {
    return this.#widthMs;
  }

  /** @param atMs no earlier than the first call that was added */
  add(atMs: number, outcome: Outcome): void {
    if (atMs < this.#fromMs || atMs >= this.#untilMs) this.#move(atMs);
    const at = this.#at + outcome;
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
    this.#at = slot * COUNTERS;
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
      for (let counter = 0; counter < COUNTERS; counter++) {
        const at = wider * COUNTERS + counter;
        counts[at] = (counts[at] as number) + (this.#counts[slot * COUNTERS + counter] as number);
      }
    }
    this.#widthMs = widthMs;
    this.#first = first;
    this.#used = used;
    this.#counts = counts;
  }

  finish(): ReplaySlot[] {
    const of = (slot: number, outcome: Outcome): number => this.#counts[slot * COUNTERS + outcome] as number;
    return Array.from({ length: this.#used }, (_, slot) => {
      const refusedByOrganization = of(slot, REFUSED_BY_ORGANIZATION);
      const refusedByUser = of(slot, REFUSED_BY_USER);
      return {
        atMs: (this.#first + slot) * this.#widthMs,
        calls: of(slot, ADMITTED) + refusedByOrganization + refusedByUser,
        refusedByOrganization,
        refusedByUser,
      };
    });
  }
}
