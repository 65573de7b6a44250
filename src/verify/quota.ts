// One count with its windows while they are open. Answers come in about the order of `received`. A window is judged
// once no answer in that order can belong to it any more. Then only its findings are kept. Later answers can only
// explain gaps.
import type { Span } from "./clock.ts";
import type { LastWindow } from "./common-grid.ts";
import { Deferrals } from "./deferrals.ts";
import { addWindow } from "./evidence.ts";
import type { Mark } from "./mark.ts";
import { NONE } from "./mark-rows.ts";
import { takes } from "./open-windows.ts";
import { accuseEarlyOpening } from "./openings.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { Length } from "./suspects.ts";
import { conflict, isNarrow, shortest, type Window } from "./window.ts";
import { accuseConflict, accuseMixedLimits, accuseMovingEnd } from "./window-accusations.ts";
import { type QuotaSoFar, WindowJudge } from "./window-judge.ts";
import { QuotaShape } from "./window-shapes.ts";

export class JudgedQuota {
  readonly #setting: QuotaSetting;
  /** Index of this quota among those that have windows. */
  readonly number: number;
  /** Findings that wait for the end of the trace. */
  readonly deferrals: Deferrals;
  readonly #judge: WindowJudge;
  readonly #known: QuotaSoFar;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #closed = 0;
  #wide = 0;
  #resets = 0;
  #hasConflict = false;
  /** End of the window before the one that was judged last. */
  #endBefore: Span | null = null;
  readonly #shape = new QuotaShape();

  constructor(setting: QuotaSetting) {
    this.#setting = setting;
    this.deferrals = new Deferrals(setting);
    this.number = setting.open.addQuota();
    this.#known = {
      number: this.number,
      ...{ previous: NONE, previousCount: 0, previousCarried: false },
      ...{ idle: [], longestMs: 0, complete: setting.complete, isCharged: false },
    };
    this.#judge = new WindowJudge(setting, this.deferrals, this.#known);
    this.#allow();
  }

  /** Tells `OpenWindows` which marks it may take without `add`. */
  #allow(): void {
    const { windowMs, phase, shapes, terms, open } = this.#setting;
    const isKnown = windowMs !== null && phase === null && shapes === null;
    const which = !isKnown ? takes.none : terms.anchor === "epoch" ? takes.all : takes.counting;
    open.allow(this.number, which, shortest(windowMs ?? 0) / 2);
  }

  get closed(): number {
    return this.#closed;
  }

  /** Number of answers that showed a window whose end they told too loosely to tell it from its neighbours. */
  get wide(): number {
    return this.#wide;
  }

  /** Number of judged windows that followed another. */
  get resets(): number {
    return this.#resets;
  }

  /** True if a call was admitted in a judged window. */
  get isCharged(): boolean {
    return this.#known.isCharged;
  }

  /** Last window on the epoch's grid; `null` if there is none, or if windows contradict each other. */
  get lastOnGrid(): LastWindow | null {
    const { name, windowMs, terms } = this.#setting;
    if (this.#known.previous === NONE || windowMs === null || terms.anchor !== "epoch" || this.#hasConflict)
      return null;
    const { toMark, fromMark, end } = this.#judge.window(this.#known.previous);
    return { name, lengthMs: windowMs, end, lines: [...new Set([toMark.line, fromMark.line])] };
  }

  /** Notes that calls of unknown keys may have been charged to this quota from now on. */
  becomeIncomplete(): void {
    this.#known.complete = false;
    this.deferrals.excuseGaps();
  }

  /**
   * Adds a call that may have been charged here, at an unknown time.
   * @param answered receipt of its answer, after which it is not charged any more; `null` if none came
   */
  addUnknown(sent: number, answered: number | null, points: number): void {
    if (points <= 0) return;
    const { from, to } = this.#setting.time.within(sent, answered ?? sent);
    this.deferrals.unknowns.add(from, answered === null ? null : to, points);
  }

  /** Adds a charge whose answer shows no window of this quota. */
  addCharge(line: number, sent: number, received: number, points: number): void {
    const { totals, open } = this.#setting;
    if (points > 0) totals?.outside(line, sent, received, points, open, this.#known.previous);
  }

  add(shown: Mark): void {
    const { terms, phase } = this.#setting;
    const mark = phase === null ? shown : { ...shown, end: phase.narrow(shown.end, shown.received) };
    this.#known.longestMs = Math.max(this.#known.longestMs, mark.reset * 1000);
    this.#setting.shapes?.observe(this.#setting.name, this.#shape, mark);
    if (!Number.isFinite(mark.held)) {
      this.#addVague(mark);
      this.add({ ...mark, asked: 0, most: mark.least, held: mark.least });
      return;
    }
    const keepsAll = mark.least > 0 && mark.least === mark.held;
    const counted = keepsAll && (terms.charging === "at-decision" || this.#isBetweenEnds(mark));
    const isIdle = mark.count === 0 && terms.anchor !== "epoch" && !counted;
    const isTold = isNarrow(mark.end, this.#judge.apartMs);
    if (!isIdle && isTold && mark.end.from > this.#closedUntil) {
      this.#place(mark);
      return;
    }
    if (!isTold && mark.count > 0) this.#wide += 1;
    this.#addVague(mark);
    if (mark.role === "admitted") this.addCharge(mark.line, mark.sent, mark.received, mark.least);
    if (isIdle && mark.least === 0) this.#known.idle.push(mark);
  }

  /**
   * Tells whether no window can have ended while a call was under way: the last window had ended before. The next one,
   * which this call's charge opened at the latest, lasts longer. So no idle window can have been shown to the call.
   */
  #isBetweenEnds({ sent, received }: Mark): boolean {
    const { windowMs, time } = this.#setting;
    const ended = this.#all().findLast(({ end }) => end.to + time.slackMs < sent);
    if (ended === undefined || windowMs === null) return false;
    return received + time.slackMs < ended.end.from + shortest(windowMs);
  }

  /** Returns the open windows, after the one that was judged last. */
  #all(): Window[] {
    return this.#known.previous === NONE
      ? this.#judge.opened()
      : [this.#judge.window(this.#known.previous), ...this.#judge.opened()];
  }

  /** End of the window before the next one to be judged. */
  get #previousEnd(): Span | null {
    return this.#known.previous === NONE ? null : this.#setting.open.end(this.#known.previous);
  }

  get #length(): Length {
    return { ms: this.#judge.apartMs, known: this.#setting.windowMs !== null };
  }

  /** Returns the earliest time at which a call can have been sent, by the clocks that tell window ends. */
  #sentFrom({ sent }: Mark): number {
    return sent - this.#setting.time.slackMs;
  }

  #addVague(mark: Mark): void {
    this.addUnknown(mark.sent, mark.received, mark.held);
  }

  #place(mark: Mark): void {
    const { open } = this.#setting;
    const known = open.meeting(this.number, mark.end.from, mark.end.to);
    if (known === NONE) open.open(this.number, mark);
    else {
      const window = this.#judge.window(known);
      const { dated } = window;
      open.add(known, mark);
      if (mark.limit !== window.limit) accuseMixedLimits(this.#setting, window, mark);
      if (mark.resetAt !== null && dated !== null && mark.resetAt !== dated.resetAt)
        accuseMovingEnd(this.#setting, dated, mark, this.#length);
    }
    if (this.#sentFrom(mark) < this.#closedUntil && this.#judge.mayShowLater) this.#addVague(mark);
  }

  /** Judges the windows that no answer received from `watermark` on can belong to. */
  close(watermark: number): void {
    this.#closeWindows(watermark);
    this.#letGo();
    this.#setting.totals?.close(watermark);
  }

  #letGo(): void {
    const { open } = this.#setting;
    for (let window = open.first(this.number); window !== NONE; window = open.later(window))
      if (open.held.isMany(this.number, window, open.size(window))) this.#judge.letGo(window);
  }

  #closeWindows(watermark: number): void {
    const { open } = this.#setting;
    const graceMs = this.#judge.apartMs / 2;
    for (let first = open.first(this.number); first !== NONE; first = open.first(this.number)) {
      if (open.endTo(first) + graceMs >= watermark) return;
      this.#judgeWindow(open.shift(this.number), watermark);
    }
    this.#known.idle = this.#known.idle.filter(
      (mark) => mark.received + this.#judge.apartMs + graceMs >= watermark,
    );
  }

  /** Judges all windows. */
  finish(): void {
    this.close(Number.POSITIVE_INFINITY);
    const { totals, enforcement, docket } = this.#setting;
    totals?.finish(enforcement, docket, { windows: this.#closed, resets: this.#resets });
  }

  #judgeWindow(number: number, watermark: number): void {
    const { docket, windowMs, name, open, columns, totals } = this.#setting;
    const isNext = this.#known.previous !== NONE;
    columns.load(open, number);
    const { size, roles, highest, lowest } = columns;
    totals?.judge(open, number, this.#known.previous, open.first(this.number), columns, watermark);
    if (this.#setting.shapes !== null) this.#noteShape(number);
    addWindow(docket.evidence["reset-agrees"], 0, 0, isNext);
    // Without rules, the answers of one window are compared with each other.
    if (windowMs === null && size > 1)
      addWindow(docket.evidence["limit-agrees"], size, roles.refused, isNext);
    if (isNext && this.#problem(open.end(this.#known.previous), open.end(number)) !== null)
      this.#conflict(number);
    else if (!open.isMixed(number)) {
      if (this.#setting.terms.anchor === "first-request")
        accuseEarlyOpening(this.#setting, this.#judge.window(number), this.#previousEnd, this.#known.idle);
      if (!this.#judge.isClean(number)) this.#judge.judgeCounts(this.#judge.window(number));
    }
    this.#closed += 1;
    if (isNext) this.#resets += 1;
    this.#closedUntil = Math.max(this.#closedUntil, open.endTo(number));
    open.closeUntil(this.number, this.#closedUntil);
    const before = this.#known.previousCount;
    const carried = before > 0 && lowest >= 0.9 * before;
    if (before > 1) docket.clues.window(name, carried, this.#known.previousCarried);
    this.#endBefore = this.#previousEnd;
    if (isNext) open.release(this.#known.previous);
    this.#known.previous = number;
    this.#known.previousCount = highest;
    this.#known.previousCarried = carried;
  }

  #noteShape(number: number): void {
    const { name, shapes } = this.#setting;
    const [next = null] = this.#judge.opened();
    const previous = this.#known.previous === NONE ? null : this.#judge.window(this.#known.previous);
    shapes?.close(name, this.#shape, this.#judge.window(number), previous, next);
  }

  /** Returns why two windows contradict each other; `null` if they do not. */
  #problem(earlier: Span, later: Span): string | null {
    const { windowMs, terms } = this.#setting;
    return conflict(earlier, later, this.#judge.apartMs, windowMs !== null && terms.anchor === "epoch");
  }

  #conflict(number: number): void {
    this.#hasConflict = true;
    const { open, docket, terms } = this.#setting;
    const [before, lengthMs] = [this.#endBefore, shortest(this.#judge.apartMs)];
    // On a grid two clocks show no three ends within a length.
    if (terms.anchor === "epoch" && before !== null && open.end(number).to - before.from < lengthMs)
      docket.clues.ruledIn.add("window-slides");
    const problem = (earlier: Span, later: Span): string | null => this.#problem(earlier, later);
    accuseConflict(
      this.#setting,
      this.#judge.window(this.#known.previous),
      this.#judge.window(number),
      this.#length,
      problem,
    );
  }
}
