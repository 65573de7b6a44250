// The windows of one quota, judged one after the other: by the screen if a window is clean by its rows alone, otherwise
// by its counts under each hypothesis.
import { screenFirst, screenWindow } from "./clean-window.ts";
import { keptFrom, methodOf, underWayMsMost } from "./counts-input.ts";
import type { Deferrals } from "./deferrals.ts";
import type { Hypothesis } from "./hypotheses.ts";
import type { Mark } from "./mark.ts";
import { NONE, RoleCounts } from "./mark-rows.ts";
import type { QuotaSetting } from "./quota-setting.ts";
import type { ScreenInput } from "./screen-input.ts";
import { Screened } from "./screened.ts";
import { longest, shortest, Window } from "./window.ts";
import { windowOf } from "./window-accusations.ts";
import { noteClues } from "./window-clues.ts";
import { bindingOf, judgeWindow } from "./window-counts.ts";
import { noteTested } from "./window-evidence.ts";

export interface QuotaSoFar {
  /** Index of the quota among those that have windows. */
  readonly number: number;
  /** Window judged last, its highest count, and whether it began with the count of the one before. */
  previous: number;
  previousCount: number;
  previousCarried: boolean;
  /** Answers that show an idle first-request window (SPEC.md §3). */
  idle: Mark[];
  /** Longest reset that was shown, ms: no window is shorter. */
  longestMs: number;
  /** True if every call that may have been charged is known. */
  complete: boolean;
  /** True if a call was admitted in a judged window. */
  isCharged: boolean;
}

export class WindowJudge {
  readonly #setting: QuotaSetting;
  readonly #deferrals: Deferrals;
  readonly #known: QuotaSoFar;

  constructor(setting: QuotaSetting, deferrals: Deferrals, known: QuotaSoFar) {
    this.#setting = setting;
    this.#deferrals = deferrals;
    this.#known = known;
  }

  window(window: number): Window {
    return new Window(this.#setting.open, window);
  }

  /** Returns the open windows, by their ends. */
  opened(): Window[] {
    const { open } = this.#setting;
    const all: Window[] = [];
    for (let window = open.first(this.#known.number); window !== NONE; window = open.later(window))
      all.push(this.window(window));
    return all;
  }

  /** Least distance between ends of windows, ms. */
  get apartMs(): number {
    return this.#setting.windowMs ?? this.#known.longestMs;
  }

  /** True if an answer may show a later window than its call was charged to (FORMAT.md, "Readings"). */
  get mayShowLater(): boolean {
    const { charging } = this.#setting.terms;
    return charging === "reserved" || charging === null;
  }

  /**
   * Returns the sending from which on no earlier window was surely open: after this window's opening. If no window fits
   * between, after the end of the previous one.
   */
  #openedBy(to: number): number {
    const { windowMs, time, terms, open } = this.#setting;
    const before = this.#known.previous;
    const opened = to + time.slackMs;
    if (before === NONE || windowMs === null || terms.anchor === "epoch") return opened;
    return to < open.endFrom(before) + shortest(windowMs)
      ? Math.min(opened, open.endTo(before) + time.slackMs)
      : opened;
  }

  /** Judges a window's counts, and keeps the findings until the end. */
  judgeCounts(window: Window): void {
    const setting = this.#setting;
    const { end } = window;
    const opened = { from: this.#openedFrom(end.from), to: this.#openedTo(end.to) };
    const { hypotheses, docket } = setting;
    const earlierSent = (later: Window): readonly Mark[] => later.sentBefore(end.to + setting.time.slackMs);
    const fromZero = this.#isFromZero(opened.from);
    const input = {
      setting,
      // Marks are not changed if the terms are known.
      marks: [...(hypotheses.isGiven ? window.views : window.marks), ...this.#takeIdle(opened.to, end.from)],
      others: this.mayShowLater ? this.opened().flatMap(earlierSent) : [],
      limit: window.limit,
      fromZero,
      complete: this.#known.complete,
      settled: this.#isSettled(opened.from),
      openedBy: this.#openedBy(opened.to),
      previous:
        this.#known.previous === NONE
          ? null
          : { count: this.#known.previousCount, carried: this.#known.previousCarried },
    };
    const found = judgeWindow(input, hypotheses.left);
    docket.tallyMethods(found.values(), window.size);
    noteClues(this.#setting, window, this.apartMs, found);
    const span = { from: opened.from, to: end.to };
    const deferral = { span, window: windowOf(this.apartMs, end), limit: window.limit, found };
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
    if (roles.admitted > 0) this.#known.isCharged = true;
    noteTested({
      setting: this.#setting,
      roles,
      from,
      to,
      fromZero,
      complete: this.#known.complete && (this.#isSettled(from) || hypotheses.left.every(isChargedAtOnce)),
      isNext: this.#known.previous !== NONE,
      isFull: columns.highest >= limit,
      left: hypotheses.left,
    });
  }

  /**
   * Tells whether the judged window held nothing when the trace began: it opened later, or an answer shows it.
   * @param opened earliest instant at which it can have opened
   */
  #isFromZero(opened: number): boolean {
    const { startedBy, time, columns } = this.#setting;
    return opened >= startedBy || columns.showsFirstCharge(startedBy + time.slackMs);
  }

  /** Tells whether no call that was under way when the trace began can have been charged here on completion. */
  #isSettled(opened: number): boolean {
    return opened >= this.#setting.startedBy + underWayMsMost;
  }

  /** Tells whether a window's rows alone show that its counts are clean; if so, notes its evidence. */
  isClean(number: number): boolean {
    const { docket, time, name, columns, open } = this.#setting;
    if (!this.#canScreen) return false;
    const to = open.endTo(number);
    if (this.mayShowLater && !this.#addOthers(to + time.slackMs)) return false;
    const input = this.#screenInput(number);
    const pinned = screenWindow(input);
    if (pinned === null) return false;
    const from = this.#openedFrom(open.endFrom(number));
    const { roles } = columns;
    this.#noteTested(input.limit, from, to, roles, input.fromZero);
    docket.tallyMethod(input.method, Math.min(pinned, roles.size), roles.size);
    docket.clues.counts(name);
    return true;
  }

  /** Lets rows of an open window go that the screen has passed and no later call can change. */
  letGo(number: number): void {
    const { columns, open, totals } = this.#setting;
    if (this.#canScreen && totals?.looks !== true && !open.isMixed(number)) {
      columns.load(open, number);
      const input = this.#screenInput(number);
      const sums = input.screened ?? new Screened();
      const gone = screenFirst(input, sums);
      if (gone !== null) open.letGo(this.#known.number, number, columns, gone, sums);
    }
    open.held.lookAgain(number, 2 * open.size(number));
  }

  /** True if the screen may judge a window by its rows alone. */
  get #canScreen(): boolean {
    const { hypotheses, terms } = this.#setting;
    // More than the limit may have been admitted if counts are hidden.
    const mayHide = terms.charging === "reserved" && terms.refused === "counted";
    return hypotheses.isGiven && this.#known.idle.length === 0 && !mayHide;
  }

  /** Returns a window, whose columns are loaded, as the screen takes it. */
  #screenInput(number: number): ScreenInput {
    const { terms, time, name, columns, open, startedBy } = this.#setting;
    const fromZero = this.#isFromZero(this.#openedFrom(open.endFrom(number)));
    return {
      marks: columns,
      method: methodOf(terms),
      limit: open.limit(number),
      fromZero,
      // If calls may have been under way when the trace began, this is stricter than it need be.
      complete: this.#known.complete,
      startedBy,
      keptFrom: keptFrom(this.#setting, this.#known.complete),
      certainFrom:
        terms.charging === "at-decision"
          ? Number.NEGATIVE_INFINITY
          : this.#openedBy(this.#openedTo(open.endTo(number))),
      binding: fromZero && bindingOf(terms, name) !== "never",
      time,
      screened: open.held.of(number) ?? null,
    };
  }

  /** Adds calls sent before an instant that show a later window. @returns `false` if some of them are unknown */
  #addOthers(instant: number): boolean {
    const { open, columns } = this.#setting;
    for (let later = open.first(this.#known.number); later !== NONE; later = open.later(later)) {
      if (open.firstSent(later) >= instant) continue;
      const screened = open.held.of(later);
      if (screened === undefined)
        for (const { sent, received, most, held } of this.window(later).sentBefore(instant))
          columns.addOther(sent, received, most, held);
      else if (!this.#addOpening(screened, instant)) return false;
    }
    return true;
  }

  /** Adds those calls of a window that let marks go, from its opening. @returns `false` if it may lack some */
  #addOpening({ opening, certainFrom }: Screened, instant: number): boolean {
    if (opening === null || instant > certainFrom) return false;
    const { size, sent, received, most, held } = opening.marks;
    for (let mark = 0; mark < size; mark++)
      if ((sent[mark] as number) < instant)
        this.#setting.columns.addOther(
          sent[mark] as number,
          received[mark] as number,
          most[mark] as number,
          held[mark] as number,
        );
    return true;
  }

  /** Returns the earliest opening of a window: its length before its end; without a known length, the previous end. */
  #openedFrom(endFrom: number): number {
    const { windowMs, windowMsMost, open } = this.#setting;
    if (windowMs !== null) return endFrom - longest(windowMsMost ?? windowMs);
    return this.#known.previous === NONE ? Number.NEGATIVE_INFINITY : open.endFrom(this.#known.previous);
  }

  /** Returns the latest opening of a window. */
  #openedTo(endTo: number): number {
    return endTo - shortest(this.#setting.windowMs ?? this.#known.longestMs);
  }

  /**
   * Takes the answers that showed an idle window, a count of 0, while this one was surely open: they are its readings.
   * Earlier ones belong to no window.
   */
  #takeIdle(from: number, to: number): readonly Mark[] {
    const { time } = this.#setting;
    const within = this.#known.idle.filter((mark) => {
      const read = time.within(mark.sent, mark.received);
      return read.from >= from && read.to <= to;
    });
    this.#known.idle = this.#known.idle.filter((mark) => mark.received >= to);
    return within;
  }
}

const isChargedAtOnce = ({ terms }: Hypothesis): boolean => terms.charging !== "postpaid";
