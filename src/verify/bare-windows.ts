// `bounded` (SPEC.md §7) for a limiter that shows no window. On the epoch's grid (SPEC.md §3), and with one clock (the
// simulator's), its windows are known all the same. A call belongs to the window that holds it from sending to receipt.
// A call across an edge belongs to none.
import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll } from "./evidence.ts";
import type { QuotaName } from "./quota-name.ts";

interface BareWindow {
  points: number;
  readonly firstLine: number;
  lastLine: number;
}

export class BareWindows {
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #always: boolean;
  /** Open windows, by their index on the grid. */
  readonly #open = new Map<number, BareWindow>();
  readonly #excessive: (BareWindow & { readonly endsAt: number })[] = [];
  #calls = 0;
  #windows = 0;

  /** @param always true if this quota's limit holds even while the organization's is not enforced */
  constructor(name: QuotaName, time: TraceTime, limit: number, windowMs: number, always: boolean) {
    this.#name = name;
    this.#time = time;
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#always = always;
  }

  /** Adds an admitted call whose answer shows no window. @param points points that it surely left charged */
  add(line: number, sent: number, received: number, points: number): void {
    this.#calls += 1;
    const { from, to } = this.#time.within(sent, received);
    const place = Math.floor(from / this.#windowMs);
    if (Math.floor(to / this.#windowMs) !== place) return;
    const window = this.#open.get(place);
    if (window === undefined) this.#open.set(place, { points, firstLine: line, lastLine: line });
    else {
      window.points += points;
      window.lastLine = line;
    }
  }

  /** Closes the windows that end before `watermark`. */
  close(watermark: number): void {
    for (const [place, window] of this.#open) {
      const endsAt = (place + 1) * this.#windowMs;
      if (endsAt >= watermark) continue;
      this.#open.delete(place);
      this.#windows += 1;
      if (window.points > this.#limit) this.#excessive.push({ ...window, endsAt });
    }
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    this.close(Number.POSITIVE_INFINITY);
    if (this.#calls === 0 || (!this.#always && !enforcement.wasOn)) return;
    addAll(docket.evidence.bounded, {
      readings: this.#calls,
      refusals: 0,
      windows: this.#windows,
      resets: Math.max(0, this.#windows - 1),
    });
    for (const { points, firstLine, lastLine, endsAt } of this.#excessive) {
      const opensAt = endsAt - this.#windowMs;
      if (!this.#always && enforcement.throughout(opensAt, endsAt) !== true) continue;
      docket.accuse({
        law: "bounded",
        breach: "bare",
        suspects: [
          "one-extra",
          "race-read-then-write",
          "boundary-inclusive",
          "per-instance-counters",
          "cost-ignored",
        ],
        ...this.#name.told,
        window: { opensAt, endsAt },
        lines: [firstLine, lastLine],
        explanation:
          `in the window from ${new Date(opensAt).toISOString()} to ${new Date(endsAt).toISOString()}, from line ${firstLine} ` +
          `to line ${lastLine}, ${points} were admitted, which is above the limit of ${this.#limit}`,
      });
    }
  }
}
