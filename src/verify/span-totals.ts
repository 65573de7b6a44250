// `twice-at-most` (SPEC.md §7): any span of a window's length holds at most twice the limit, whatever windows the
// headers show. Spans begin at every quarter of a length. A call belongs to the spans that hold it from its sending
// to its receipt.
//
// A span holds at most twice the limit if two conditions hold: all calls show windows that hold no more than the
// limit, and no span reaches calls of two windows that are no neighbours. Until one fails, no span is summed. From
// then on all charges are added, with those of the window before. Earlier windows share no span with later ones.

import { outOfOrderMsMost } from "../trace/read.ts";
import { grainMs, type TraceTime } from "./clock.ts";
import type { Docket } from "./docket.ts";
import type { Enforcement } from "./enforcement.ts";
import { addAll } from "./evidence.ts";
import { NONE } from "./mark-rows.ts";
import type { OpenWindows } from "./open-windows.ts";
import type { QuotaName } from "./quota-name.ts";
import { shortest } from "./window.ts";
import type { WindowColumns } from "./window-columns.ts";

const spansPerLength = 4;

/** Places of the four numbers of a span's total. */
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
  /** Open spans, `TOTAL` numbers each, by the step at which they begin. Flat, since every call is added to several. */
  readonly #open: number[] = [];
  readonly #excessive: Total[] = [];
  readonly #always: boolean;
  #calls = 0;
  #looks = false;
  /** Sending of the last charge in the window judged last. */
  #lastSent = Number.NEGATIVE_INFINITY;

  /** @param always true if this quota's limit holds even while the organization's is not enforced */
  constructor(name: QuotaName, time: TraceTime, limit: number, windowMs: number, always: boolean) {
    this.#name = name;
    this.#time = time;
    this.#limit = limit;
    this.#lengthMs = shortest(windowMs) - grainMs;
    this.#stepMs = windowMs / spansPerLength;
    this.#always = always;
  }

  /** True once charges are added to spans. */
  get looks(): boolean {
    return this.#looks;
  }

  /**
   * Takes the charges of a window that is judged.
   * @param previous the window judged before; `NONE` if there is none
   * @param later the first open window
   * @param watermark earliest receipt of later answers
   */
  judge(
    open: OpenWindows,
    window: number,
    previous: number,
    later: number,
    { charges, charged, lastSent }: WindowColumns,
    watermark: number,
  ): void {
    this.#calls += charges;
    if (charged > this.#limit || this.#reaches(open, later, watermark)) this.#look(open, previous);
    if (this.#looks) this.#addWindow(open, window);
    this.#lastSent = lastSent;
  }

  /** Takes a charge whose answer shows no window. */
  outside(
    line: number,
    sent: number,
    received: number,
    points: number,
    open: OpenWindows,
    previous: number,
  ): void {
    this.#calls += 1;
    this.#look(open, previous);
    this.#add(line, sent, received, points);
  }

  /** Tells whether a span may hold calls of the window judged before, and of one behind the next window. */
  #reaches(open: OpenWindows, first: number, watermark: number): boolean {
    const until = this.#lastSent + this.#lengthMs;
    if (watermark <= until) return true;
    for (let later = first; later !== NONE; later = open.later(later))
      if (open.firstSent(later) <= until && open.firstReceived(later) <= until) return true;
    return false;
  }

  #look(open: OpenWindows, previous: number): void {
    if (this.#looks) return;
    this.#looks = true;
    if (previous !== NONE) this.#addWindow(open, previous);
  }

  #addWindow(open: OpenWindows, window: number): void {
    open.held.ask(window);
    open.eachHeld(window, (row) => {
      const { role, line, sent, received, least } = open.rows.at(row);
      if (role === "admitted" && least > 0) this.#add(line, sent, received, least);
    });
  }

  /** @param points points that an admitted call surely left charged */
  #add(line: number, sent: number, received: number, points: number): void {
    const { from, to } = this.#time.within(Math.min(sent, received), Math.max(sent, received));
    const first = Math.ceil((to - this.#lengthMs) / this.#stepMs);
    const last = Math.floor(from / this.#stepMs);
    const open = this.#open;
    let at = open.length;
    while (at > 0 && (open[at - TOTAL + STEP] as number) >= first) at -= TOTAL;
    for (let step = first; step <= last; step++, at += TOTAL) {
      if (at === open.length) open.push(step, points, line, line);
      else if (open[at + STEP] !== step) open.splice(at, 0, step, points, line, line);
      else {
        open[at + POINTS] = (open[at + POINTS] as number) + points;
        open[at + FIRST] = Math.min(open[at + FIRST] as number, line);
        open[at + LAST] = Math.max(open[at + LAST] as number, line);
      }
    }
  }

  /** Closes spans that end before all calls to come. Windows are judged up to half a length after their end. */
  close(watermark: number): void {
    const open = this.#open;
    const until = watermark - 2 * spansPerLength * this.#stepMs - outOfOrderMsMost;
    let closed = 0;
    while (closed < open.length && this.#fromOf(closed) + this.#lengthMs < until) {
      const points = open[closed + POINTS] as number;
      if (points > 2 * this.#limit) {
        const [firstLine = 0, lastLine = 0] = [open[closed + FIRST], open[closed + LAST]];
        this.#excessive.push({ from: this.#fromOf(closed), points, firstLine, lastLine });
      }
      closed += TOTAL;
    }
    if (closed > 0) open.splice(0, closed);
  }

  #fromOf(at: number): number {
    return (this.#open[at + STEP] as number) * this.#stepMs;
  }

  /** @param seen number of this quota's windows, and of those that followed another */
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
