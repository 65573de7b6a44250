// `twice-at-most` (SPEC.md §7): any span of a window's length holds at most twice the limit, whatever windows the
// headers show. Spans are looked at that begin at every quarter of a length: a call belongs to those that hold
// all of it, from its sending to its receipt.

import type { TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll } from "./evidence.ts";
import type { QuotaName } from "./quota-name.ts";
import { shortest } from "./window.ts";

const spansPerLength = 4;
/** The target counts whole milliseconds of its own. */
const grainMs = 2;

/** Places of a span's total in its four numbers. */
const STEP = 0;
const POINTS = 1;
const FIRST = 2;
const LAST = 3;
const TOTAL = 4;

interface Total {
  readonly from: number;
  readonly points: number;
  readonly firstLine: number;
  readonly lastLine: number;
}

export class SpanTotals {
  readonly #name: QuotaName;
  readonly #time: TraceTime;
  readonly #limit: number;
  readonly #lengthMs: number;
  readonly #stepMs: number;
  /** The spans that are open, `TOTAL` numbers each, by the step that they begin at; flat, since every call is added to several. */
  readonly #open: number[] = [];
  readonly #excessive: Total[] = [];
  readonly #always: boolean;
  #calls = 0;

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
    this.#calls += 1;
    const { from, to } = this.#time.within(Math.min(sent, received), Math.max(sent, received));
    const first = Math.ceil((to - this.#lengthMs) / this.#stepMs);
    const last = Math.floor(from / this.#stepMs);
    const open = this.#open;
    let at = open.length;
    while (at > 0 && (open[at - TOTAL + STEP] ?? 0) >= first) at -= TOTAL;
    for (let step = first; step <= last; step++, at += TOTAL) {
      if (at === open.length) open.push(step, points, line, line);
      else if (open[at + STEP] !== step) open.splice(at, 0, step, points, line, line);
      else {
        open[at + POINTS] = (open[at + POINTS] ?? 0) + points;
        open[at + LAST] = line;
      }
    }
  }

  /** Closes the spans that end before `watermark`. */
  close(watermark: number): void {
    const open = this.#open;
    let closed = 0;
    while (closed < open.length && this.#fromOf(closed) + this.#lengthMs < watermark) {
      const points = open[closed + POINTS] ?? 0;
      if (points > 2 * this.#limit) {
        const [firstLine = 0, lastLine = 0] = [open[closed + FIRST], open[closed + LAST]];
        this.#excessive.push({ from: this.#fromOf(closed), points, firstLine, lastLine });
      }
      closed += TOTAL;
    }
    if (closed > 0) open.splice(0, closed);
  }

  #fromOf(at: number): number {
    return (this.#open[at + STEP] ?? 0) * this.#stepMs;
  }

  /** @param seen the windows of this quota, and those of them that followed another */
  finish(
    enforcement: Enforcement,
    docket: Docket,
    seen: { readonly windows: number; readonly resets: number },
  ): void {
    this.close(Number.POSITIVE_INFINITY);
    if (this.#calls === 0 || (!this.#always && !enforcement.wasOn)) return;
    addAll(docket.evidence["twice-at-most"], { readings: this.#calls, refusals: 0, ...seen });
    const { told, scope } = this.#name;
    for (const { from, points, firstLine, lastLine } of this.#excessive) {
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
        ...told,
        window: null,
        lines: [firstLine, lastLine],
        explanation:
          `within ${(this.#lengthMs / 1000).toFixed(1)} s, from line ${firstLine} to line ${lastLine}, ` +
          `${points} were admitted, which is more than twice the limit of ${this.#limit}`,
      });
    }
  }
}
