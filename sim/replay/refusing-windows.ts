// The windows that refused most, among any number.
import type { PolicyCore } from "../../src/engine/policy-core.ts";
import { emptyCountReading } from "../../src/engine/policy-core.ts";
import type { QuotaRefusingWindow } from "../../src/summary/quota-replay-result.ts";
import { replayWindowsMost } from "../../src/summary/replay-result.ts";
import { opensAt, type ReplayCallers } from "./callers.ts";

/** Number of doubles for each open window that has refused: its end, its refusals, and the first one's time. */
const REFUSALS = 3;
const END = 0;
const COUNT = 1;
const SINCE = 2;

/** Counts refusals of each count's open window. */
export class RefusingWindows {
  readonly #callers: ReplayCallers;
  readonly #core: PolicyCore;
  readonly #isBucket: readonly boolean[];
  readonly #numbers: Float64Array[];
  readonly #reading = emptyCountReading();
  #windows: QuotaRefusingWindow[] = [];
  #seen = 0;

  constructor(callers: ReplayCallers) {
    this.#callers = callers;
    this.#core = callers.core;
    this.#isBucket = callers.core.quotas.map(({ grid }) => grid === null);
    this.#numbers = callers.names.map(() => new Float64Array(64 * REFUSALS));
  }

  /** Adds a refusal. A window that is not open (its first call is refused) is left out: only its limit refused. */
  add(handle: number, quota: number, nowMs: number): void {
    const row = this.#callers.rowOf(handle, quota);
    const isBucket = this.#isBucket[quota] as boolean;
    const endsAtMs = isBucket ? this.#fullAt(quota, row, nowMs) : this.#core.windowOf(handle, quota);
    if (endsAtMs === 0 || endsAtMs === nowMs) return;
    const at = row * REFUSALS;
    const numbers = this.#numbersFor(quota, at);
    const known = numbers[at + END] as number;
    // A bucket's window lasts until the bucket is full again; each charge delays that.
    if (isBucket ? nowMs >= known : known !== endsAtMs) {
      this.#flush(quota, row);
      numbers[at + COUNT] = 0;
      numbers[at + SINCE] = nowMs;
    }
    numbers[at + END] = endsAtMs;
    numbers[at + COUNT] = (numbers[at + COUNT] as number) + 1;
  }

  #fullAt(quota: number, row: number, nowMs: number): number {
    this.#core.read(quota, row, nowMs, this.#reading);
    return this.#reading.resetAtMs;
  }

  #numbersFor(quota: number, at: number): Float64Array {
    const numbers = this.#numbers[quota] as Float64Array;
    if (at < numbers.length) return numbers;
    const larger = new Float64Array(2 * (at + REFUSALS));
    larger.set(numbers);
    this.#numbers[quota] = larger;
    return larger;
  }

  #flush(quota: number, row: number): void {
    const at = row * REFUSALS;
    const numbers = this.#numbers[quota] as Float64Array;
    const refused = numbers[at + COUNT] ?? 0;
    if (refused === 0) return;
    const [endsAt, firstRefusedAt] = [numbers[at + END] as number, numbers[at + SINCE] as number];
    const { key, limit, algorithm } = this.#callers.count(quota, row);
    const name = this.#callers.names[quota] as string;
    const opened = opensAt(algorithm, endsAt) ?? firstRefusedAt;
    this.#seen += 1;
    this.#windows.push({ quota: name, key, opensAt: opened, endsAt, limit, refused, firstRefusedAt });
    numbers[at + COUNT] = 0;
    if (this.#windows.length >= 4 * replayWindowsMost) this.#cut();
  }

  #cut(): void {
    this.#windows.sort((a, b) => b.refused - a.refused || a.firstRefusedAt - b.firstRefusedAt);
    this.#windows = this.#windows.slice(0, replayWindowsMost);
  }

  /** Returns the windows that refused most, first, and the number of all. */
  finish(): { readonly windows: readonly QuotaRefusingWindow[]; readonly seen: number } {
    for (const [quota, numbers] of this.#numbers.entries())
      for (let row = 0; row * REFUSALS < numbers.length; row++) this.#flush(quota, row);
    this.#cut();
    return { windows: this.#windows, seen: this.#seen };
  }
}
