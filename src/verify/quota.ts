// One quota: an organization's or a user's windows of one scope, while they are open. Answers come in about the
// order of `received`; a window is judged once no answer in order can belong to it any more, and forgotten but for
// what was found. What comes later still only explains gaps.
import { type ScreenInput, screenWindow } from "./clean-window.ts";
import { type Span, TraceTime } from "./clock.ts";
import type { LastWindow } from "./common-grid.ts";
import { methodOf } from "./counts-input.ts";
import { Deferrals } from "./deferrals.ts";
import type { Enforcement } from "./enforcement.ts";
import { addWindow } from "./evidence.ts";
import type { Hypothesis } from "./hypotheses.ts";
import type { Mark } from "./mark.ts";
import { NONE, RoleCounts } from "./mark-rows.ts";
import { takes } from "./open-windows.ts";
import { accuseEarlyOpening } from "./openings.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { Standing } from "./standing.ts";
import type { Length } from "./suspects.ts";
import type { Unexplained } from "./unknowns.ts";
import { conflict, isNarrow, longest, shortest, Window } from "./window.ts";
import { accuseConflict, accuseMixedLimits, accuseMovingEnd, windowOf } from "./window-accusations.ts";
import { noteClues } from "./window-clues.ts";
import { WindowColumns } from "./window-columns.ts";
import { bindingOf, judgeWindow } from "./window-counts.ts";
import { noteTested } from "./window-evidence.ts";
import { QuotaShape } from "./window-shapes.ts";

/** Longest time, ms, that a call may have been under way when the trace began: k6 gives up after it. */
const underWayMsMost = 60_000;

export class JudgedQuota {
  readonly #setting: QuotaSetting;
  /** Its number among the quotas that have windows. */
  readonly number: number;
  readonly #deferrals: Deferrals;
  /** Answers that show an idle first-request window (SPEC.md §3). */
  #idle: Mark[] = [];
  /** The longest reset that was shown: no window is shorter. */
  #longestMs = 0;
  #closedUntil = Number.NEGATIVE_INFINITY;
  /** The window that was judged last. */
  #previous: number = NONE;
  #previousCount = 0;
  #previousCarried = false;
  #closed = 0;
  #resets = 0;
  #isCharged = false;
  #hasConflict = false;
  readonly #shape = new QuotaShape();
  #complete: boolean;

  constructor(setting: QuotaSetting) {
    this.#setting = setting;
    this.#complete = setting.complete;
    this.#deferrals = new Deferrals(setting);
    this.number = setting.open.addQuota();
    this.#allow();
  }

  /** Says which marks need no look here (`add`). */
  #allow(): void {
    const { windowMs, phase, shapes, terms, open } = this.#setting;
    const isKnown = windowMs !== null && phase === null && shapes === null;
    const which = !isKnown ? takes.none : terms.anchor === "epoch" ? takes.all : takes.counting;
    open.allow(this.number, which, shortest(windowMs ?? 0) / 2);
  }

  /** Number of windows that were judged. */
  get closed(): number {
    return this.#closed;
  }

  /** Number of them that followed another. */
  get resets(): number {
    return this.#resets;
  }

  /** True if a call was let through in a window that was judged. */
  get isCharged(): boolean {
    return this.#isCharged;
  }

  /** The last window on the epoch's grid; `null` where there was none, or where windows contradict each other. */
  get lastOnGrid(): LastWindow | null {
    const { name, windowMs, terms } = this.#setting;
    if (this.#previous === NONE || windowMs === null || terms.anchor !== "epoch" || this.#hasConflict)
      return null;
    const { toMark, fromMark, end } = this.#window(this.#previous);
    return { name, lengthMs: windowMs, end, lines: [...new Set([toMark.line, fromMark.line])] };
  }

  /** From now on, calls that are not known to be this quota's may have been charged to it. */
  becomeIncomplete(): void {
    this.#complete = false;
    this.#deferrals.excuseGaps();
  }

  /**
   * A call that may have been charged here, nobody knows when or whether.
   * @param answered when its answer came, after which it is charged no more; `null` where none came
   */
  addUnknown(sent: number, answered: number | null, points: number): void {
    if (points <= 0) return;
    const { from, to } = this.#setting.time.within(sent, answered ?? sent);
    this.#deferrals.unknowns.add(from, answered === null ? null : to, points);
  }

  /** A charge whose answer shows no window of this quota. */
  addCharge(line: number, sent: number, received: number, points: number): void {
    const { totals, open } = this.#setting;
    if (points > 0) totals?.outside(line, sent, received, points, open, this.#previous);
  }

  add(shown: Mark): void {
    const { terms, phase } = this.#setting;
    const mark = phase === null ? shown : { ...shown, end: phase.narrow(shown.end, shown.received) };
    this.#longestMs = Math.max(this.#longestMs, mark.reset * 1000);
    this.#setting.shapes?.observe(this.#setting.name, this.#shape, mark);
    if (!Number.isFinite(mark.held)) {
      this.#addVague(mark);
      this.add({ ...mark, asked: 0, most: mark.least, held: mark.least });
      return;
    }
    const keepsAll = mark.least > 0 && mark.least === mark.held;
    const counted = keepsAll && (terms.charging === "at-decision" || this.#isBetweenEnds(mark));
    const isIdle = mark.count === 0 && terms.anchor !== "epoch" && !counted;
    if (!isIdle && isNarrow(mark.end, this.#apartMs) && mark.end.from > this.#closedUntil) {
      this.#place(mark);
      return;
    }
    this.#addVague(mark);
    if (mark.role === "admitted") this.addCharge(mark.line, mark.sent, mark.received, mark.least);
    if (isIdle && mark.least === 0) this.#idle.push(mark);
  }

  /**
   * Tells whether no window can have ended while a call was under way: the last one had ended before, and the next one,
   * which the call's own charge opened at the latest, lasts longer. So the call cannot have been shown an idle window.
   */
  #isBetweenEnds({ sent, received }: Mark): boolean {
    const { windowMs, time } = this.#setting;
    const ended = this.#all().findLast(({ end }) => end.to + time.slackMs < sent);
    if (ended === undefined || windowMs === null) return false;
    return received + time.slackMs < ended.end.from + shortest(windowMs);
  }

  #window(window: number): Window {
    return new Window(this.#setting.open, window);
  }

  /** The windows that are open, by where they end. */
  #opened(): Window[] {
    const { open } = this.#setting;
    const all: Window[] = [];
    for (let window = open.first(this.number); window !== NONE; window = open.later(window))
      all.push(this.#window(window));
    return all;
  }

  /** The same, with the one that was judged last. */
  #all(): Window[] {
    return this.#previous === NONE ? this.#opened() : [this.#window(this.#previous), ...this.#opened()];
  }

  /** The end of the window before the next one to be judged. */
  get #previousEnd(): Span | null {
    return this.#previous === NONE ? null : this.#setting.open.end(this.#previous);
  }

  /**
   * From when on a call was surely sent while no earlier window was open: once this one had opened; or, where no other
   * one fits between, once the one before had ended.
   */
  #openedBy(to: number): number {
    const { windowMs, time, terms, open } = this.#setting;
    const before = this.#previous;
    const opened = to + time.slackMs;
    if (before === NONE || windowMs === null || terms.anchor === "epoch") return opened;
    return to < open.endFrom(before) + shortest(windowMs)
      ? Math.min(opened, open.endTo(before) + time.slackMs)
      : opened;
  }

  get #apartMs(): number {
    return this.#setting.windowMs ?? this.#longestMs;
  }

  get #length(): Length {
    return { ms: this.#apartMs, known: this.#setting.windowMs !== null };
  }

  /** True if an answer may show a later window than its call was charged to (FORMAT.md, "Readings"). */
  get #mayShowLater(): boolean {
    const { charging } = this.#setting.terms;
    return charging === "reserved" || charging === null;
  }

  /** The earliest that a call can have been sent, by the clocks that window ends are told by. */
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
      const window = this.#window(known);
      const { dated } = window;
      open.add(known, mark);
      if (mark.limit !== window.limit) accuseMixedLimits(this.#setting, window, mark);
      if (mark.resetAt !== null && dated !== null && mark.resetAt !== dated.resetAt)
        accuseMovingEnd(this.#setting, dated, mark, this.#length);
    }
    if (this.#sentFrom(mark) < this.#closedUntil && this.#mayShowLater) this.#addVague(mark);
  }

  /** Judges the windows that no answer received from `watermark` on can belong to. */
  close(watermark: number): void {
    this.#closeWindows(watermark);
    this.#setting.totals?.close(watermark);
  }

  #closeWindows(watermark: number): void {
    const { open } = this.#setting;
    const graceMs = this.#apartMs / 2;
    for (let first = open.first(this.number); first !== NONE; first = open.first(this.number)) {
      if (open.endTo(first) + graceMs >= watermark) return;
      this.#judge(open.shift(this.number), watermark);
    }
    if (this.#idle.length > 0)
      this.#idle = this.#idle.filter((mark) => mark.received + this.#apartMs + graceMs >= watermark);
  }

  /** Judges all windows. */
  finish(): void {
    this.close(Number.POSITIVE_INFINITY);
    const { totals, enforcement, docket } = this.#setting;
    totals?.finish(enforcement, docket, { windows: this.#closed, resets: this.#resets });
  }

  #judge(number: number, watermark: number): void {
    const { docket, windowMs, name, open, columns, totals } = this.#setting;
    const isNext = this.#previous !== NONE;
    columns.load(open, number);
    const { size, roles, highest, lowest } = columns;
    totals?.judge(open, number, this.#previous, open.first(this.number), columns, watermark);
    if (this.#setting.shapes !== null) this.#noteShape(number);
    addWindow(docket.evidence["reset-agrees"], 0, 0, isNext);
    // Without rules, the answers of one window are held to each other.
    if (windowMs === null && size > 1)
      addWindow(docket.evidence["limit-agrees"], size, roles.refused, isNext);
    if (isNext && this.#problem(open.end(this.#previous), open.end(number)) !== null) this.#conflict(number);
    else if (!open.isMixed(number)) {
      if (this.#setting.terms.anchor === "first-request")
        accuseEarlyOpening(this.#setting, this.#window(number), this.#previousEnd, this.#idle);
      if (!this.#isClean(number)) this.#judgeCounts(this.#window(number));
    }
    this.#closed += 1;
    if (isNext) this.#resets += 1;
    this.#closedUntil = Math.max(this.#closedUntil, open.endTo(number));
    open.closeUntil(this.number, this.#closedUntil);
    const before = this.#previousCount;
    const carried = isNext && before > 0 && lowest >= 0.9 * before;
    if (isNext && before > 1) docket.clues.window(name, carried, this.#previousCarried);
    if (isNext) open.release(this.#previous);
    this.#previous = number;
    this.#previousCount = highest;
    this.#previousCarried = carried;
  }

  #noteShape(number: number): void {
    const { name, shapes } = this.#setting;
    const [next = null] = this.#opened();
    const previous = this.#previous === NONE ? null : this.#window(this.#previous);
    shapes?.close(name, this.#shape, this.#window(number), previous, next);
  }

  /** The reason why two windows cannot both be; `null` where they can. */
  #problem(earlier: Span, later: Span): string | null {
    const { windowMs, terms } = this.#setting;
    return conflict(earlier, later, this.#apartMs, windowMs !== null && terms.anchor === "epoch");
  }

  #conflict(number: number): void {
    this.#hasConflict = true;
    const problem = (earlier: Span, later: Span): string | null => this.#problem(earlier, later);
    accuseConflict(this.#setting, this.#window(this.#previous), this.#window(number), this.#length, problem);
  }

  #judgeCounts(window: Window): void {
    const setting = this.#setting;
    const { end } = window;
    const opened = { from: this.#openedFrom(end.from), to: this.#openedTo(end.to) };
    const { hypotheses, docket } = setting;
    const earlierSent = (later: Window): readonly Mark[] => later.sentBefore(end.to + setting.time.slackMs);
    const fromZero = this.#isFromZero(opened.from);
    const input = {
      setting,
      marks: [...window.marks, ...this.#takeIdle(opened.to, end.from)],
      others: this.#mayShowLater ? this.#opened().flatMap(earlierSent) : [],
      limit: window.limit,
      fromZero,
      complete: this.#complete,
      settled: this.#isSettled(opened.from),
      openedBy: this.#openedBy(opened.to),
      previous:
        this.#previous === NONE ? null : { count: this.#previousCount, carried: this.#previousCarried },
    };
    const found = judgeWindow(input, hypotheses.left);
    docket.tallyMethods(found.values(), window.size);
    noteClues(this.#setting, window, this.#apartMs, found);
    const span = { from: opened.from, to: end.to };
    const deferral = { span, window: windowOf(this.#apartMs, end), limit: window.limit, found };
    this.#deferrals.add(deferral, hypotheses);
    let { roles } = setting.columns;
    if (input.marks.length > window.size) {
      roles = new RoleCounts();
      for (const mark of input.marks) roles.add(mark);
    }
    this.#noteTested(window.limit, opened.from, end.to, roles, fromZero);
  }

  #noteTested(limit: number, from: number, to: number, roles: RoleCounts, fromZero: boolean): void {
    const { hypotheses, columns } = this.#setting;
    if (roles.admitted > 0) this.#isCharged = true;
    noteTested({
      setting: this.#setting,
      roles,
      from,
      to,
      fromZero,
      complete: this.#complete && (this.#isSettled(from) || hypotheses.left.every(isChargedAtOnce)),
      isNext: this.#previous !== NONE,
      isFull: columns.highest >= limit,
      left: hypotheses.left,
    });
  }

  /**
   * Tells whether the window that is judged held nothing when the trace began: it opened later, or an answer shows it.
   * @param opened the earliest that it can have opened
   */
  #isFromZero(opened: number): boolean {
    const { startedBy, time, columns } = this.#setting;
    return opened >= startedBy || columns.showsFirstCharge(startedBy + time.slackMs);
  }

  /** Tells whether nothing that was under way when the trace began can have been charged on completion. */
  #isSettled(opened: number): boolean {
    return opened >= this.#setting.startedBy + underWayMsMost;
  }

  /** Tells whether nothing speaks against a window's counts, as far as its rows tell at once; notes it then. */
  #isClean(number: number): boolean {
    const { hypotheses, docket, terms, time, name, columns, open } = this.#setting;
    if (!hypotheses.isGiven || this.#idle.length > 0) return false;
    // Behind hidden counts more may have been let through than fits.
    if (terms.charging === "reserved" && terms.refused === "counted") return false;
    const to = open.endTo(number);
    if (this.#mayShowLater && this.#isLaterSentBefore(to + time.slackMs)) return false;
    const from = this.#openedFrom(open.endFrom(number));
    const fromZero = this.#isFromZero(from);
    const limit = open.limit(number);
    screen.marks = columns;
    screen.method = methodOf(terms);
    screen.limit = limit;
    screen.fromZero = fromZero;
    // Calls may have been under way when the trace began. This asks for more than it must then.
    screen.complete = this.#complete;
    screen.certainFrom =
      terms.charging === "at-decision" ? Number.NEGATIVE_INFINITY : this.#openedBy(this.#openedTo(to));
    screen.binding = fromZero && bindingOf(terms, name) !== "never";
    screen.time = time;
    const pinned = screenWindow(screen);
    if (pinned === null) return false;
    this.#noteTested(limit, from, to, columns.roles, fromZero);
    docket.tallyMethod(screen.method, Math.min(pinned, columns.size), columns.size);
    docket.clues.counts(name);
    return true;
  }

  /** Tells whether a call that shows a later window was sent before an instant. */
  #isLaterSentBefore(instant: number): boolean {
    const { open } = this.#setting;
    for (let later = open.first(this.number); later !== NONE; later = open.later(later))
      if (open.firstSent(later) < instant) return true;
    return false;
  }

  /** Returns the earliest that a window can have opened: its length before its end; where that is unknown, the previous end. */
  #openedFrom(endFrom: number): number {
    const { windowMs, windowMsMost, open } = this.#setting;
    if (windowMs !== null) return endFrom - longest(windowMsMost ?? windowMs);
    return this.#previous === NONE ? Number.NEGATIVE_INFINITY : open.endFrom(this.#previous);
  }

  /** Returns the latest. */
  #openedTo(endTo: number): number {
    return endTo - shortest(this.#setting.windowMs ?? this.#longestMs);
  }

  /**
   * Answers that showed an idle window, a count of 0, while this one was surely open: they are readings of it.
   * Earlier ones belong to no window.
   */
  #takeIdle(from: number, to: number): readonly Mark[] {
    const { time } = this.#setting;
    const within = this.#idle.filter((mark) => {
      const read = time.within(mark.sent, mark.received);
      return read.from >= from && read.to <= to;
    });
    this.#idle = this.#idle.filter((mark) => mark.received >= to);
    return within;
  }

  /** Returns the windows that stand under a hypothesis, once all is known. */
  standing(hypothesis: Hypothesis, enforcement: Enforcement, lost: Unexplained): readonly Standing[] {
    return this.#deferrals.standing(hypothesis, enforcement, lost);
  }

  /** Accuses what stands. */
  accuse(standing: readonly Standing[]): void {
    const { docket, name } = this.#setting;
    for (const window of standing) {
      for (const accusation of this.#deferrals.accusations(window)) docket.accuse(accusation);
      docket.amounts.add(name, window);
      if (window.suspicions.some(({ unexplained }) => unexplained !== null)) docket.clues.unexplained(name);
    }
  }
}

/** The task of the screen, made once: there is one for each window. */
const screen: { -readonly [Member in keyof ScreenInput]: ScreenInput[Member] } = {
  marks: new WindowColumns(),
  method: "places",
  limit: 0,
  fromZero: false,
  complete: false,
  certainFrom: 0,
  binding: false,
  time: new TraceTime({ kind: "wall", resolutionMs: 1, errorMs: 0 }),
};

const isChargedAtOnce = ({ terms }: Hypothesis): boolean => terms.charging !== "postpaid";
