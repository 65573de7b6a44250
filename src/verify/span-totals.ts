// `twice-at-most` (SPEC.md §7): any span of a window's length holds at most twice the limit, whatever windows the
// headers show. Spans are looked at that begin at every quarter of a length: a call belongs to those that hold
// all of it, from its sending to its receipt.

import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import type { QuotaName } from "./quota-setting.ts";
import { shortest } from "./window.ts";

const spansPerLength = 4;
/** The target counts whole milliseconds of its own. */
const grainMs = 2;

interface Total {
  points: number;
  firstLine: number;
  lastLine: number;
}

export class SpanTotals {
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #limit: number;
  readonly #lengthMs: number;
  readonly #stepMs: number;
  /** By which step the span begins at. */
  readonly #open = new Map<number, Total>();
  readonly #excessive: { readonly from: number; readonly total: Total }[] = [];
  readonly #always: boolean;
  #isUsed = false;

  /** @param always whether this quota's limit holds even where the organization's is not enforced */
  constructor(name: QuotaName, time: TraceTime, limit: number, windowMs: number, always: boolean) {
    this.#name = name;
    this.#time = time;
    this.#limit = limit;
    this.#lengthMs = shortest(windowMs) - grainMs;
    this.#stepMs = windowMs / spansPerLength;
    this.#always = always;
  }

  /** @param points what an admitted call surely left charged */
  add(line: number, sent: number, received: number, points: number): void {
    this.#isUsed = true;
    const { from, to } = this.#time.within(sent, received);
    const first = Math.ceil((to - this.#lengthMs) / this.#stepMs);
    for (let step = first; step * this.#stepMs <= from; step++) {
      const total = this.#open.get(step);
      if (total === undefined) this.#open.set(step, { points, firstLine: line, lastLine: line });
      else {
        total.points += points;
        total.lastLine = line;
      }
    }
  }

  /** Closes the spans that end before `watermark`. */
  close(watermark: number): void {
    for (const [step, total] of this.#open) {
      if (step * this.#stepMs + this.#lengthMs >= watermark) continue;
      if (total.points > 2 * this.#limit) this.#excessive.push({ from: step * this.#stepMs, total });
      this.#open.delete(step);
    }
  }

  finish(enforcement: Enforcement, docket: Docket): void {
    this.close(Number.POSITIVE_INFINITY);
    if (!this.#isUsed || (!this.#always && !enforcement.wasOn)) return;
    docket.judged("twice-at-most");
    const { org, user, scope } = this.#name;
    for (const { from, total } of this.#excessive) {
      const to = from + this.#lengthMs;
      if (!this.#always && enforcement.throughout(from - this.#lengthMs, to) !== true) continue;
      docket.accuse({
        law: "twice-at-most",
        breach: "total",
        suspects: [
          ...(scope === "graphql" ? ["cost-ignored"] : []),
          "per-instance-counters",
          "race-read-then-write",
          "double-roll",
          "skewed-nodes",
        ],
        org,
        user,
        scope,
        window: null,
        lines: [total.firstLine, total.lastLine],
        explanation:
          `within ${(this.#lengthMs / 1000).toFixed(1)} s, from line ${total.firstLine} to line ${total.lastLine}, ` +
          `${total.points} were admitted, which is more than twice the limit of ${this.#limit}`,
      });
    }
  }
}
