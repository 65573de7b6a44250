// The screen before the judging of counts: whether a window is clean, from its rows alone, without an object a mark.
// It may only ever say "clean" of what `judgeWindow` finds nothing in, and says "not known" whenever in doubt; that
// one then judges, and explains.

import type { TraceTime } from "./clock.ts";
import type { Method } from "./counts-input.ts";
import { CLAMPED, NOT_ADMITTED } from "./mark-rows.ts";
import { firstHolding, leastWithin, type Opening, openingOf, Screened } from "./screened.ts";
import type { WindowColumns } from "./window-columns.ts";
import type { MarkColumns } from "./window-sums.ts";

export interface ScreenInput {
  readonly marks: WindowColumns;
  readonly method: Method;
  readonly limit: number;
  readonly fromZero: boolean;
  readonly complete: boolean;
  readonly certainFrom: number;
  /** True if counts are bound by the limit as long as it is enforced, from the window's start on. */
  readonly binding: boolean;
  readonly time: TraceTime;
  /** Sums over what was screened before, and is held no more; `null` where all marks are held. */
  readonly screened: Screened | null;
}

/** @returns how many of its readings could have had one value alone, where the window is clean; `null` if not known */
export function screenWindow(input: ScreenInput): number | null {
  return screen(input, null);
}

/**
 * Screens the marks that can change no more, and sums them up. Marks that come later may go with them, or not: the window is
 * "not known" then.
 * @param sums is added to, if those marks are clean
 * @returns by mark, 1 where it need not be held any more; `null` where it is not known whether they are clean
 */
export function screenFirst(input: ScreenInput, sums: Screened): Uint8Array | null {
  gone = new Uint8Array(input.marks.size);
  return screen(input, sums) === null ? null : gone;
}

/** Number of the first marks that are let go at once: with those behind them, calls that overlap stay together. */
const lettableOf = (size: number): number => size - Math.max(1, size >> 2);

let gone = new Uint8Array(0);
const nothingScreened = new Screened();

/** @param sums is added to where only what can change no more is screened; `null` where all is */
function screen(input: ScreenInput, sums: Screened | null): number | null {
  const { marks, screened } = input;
  if (screened !== null && !screened.fits(input.certainFrom, input.fromZero)) return null;
  makeRoom(marks.all);
  // The screen does not say whether a clamped count of a window that was open before is the limit.
  const { charged } = marks;
  if (input.fromZero ? charged > input.limit && admitted(input) > input.limit : hasClamped(input))
    return null;
  // Readings of a window that was open before are held to each other.
  if (input.method === "bounds" && input.complete && !input.fromZero) return null;
  return input.method === "places"
    ? screenPlaces(input, screened ?? nothingScreened, sums)
    : screenBounds(input, screened ?? nothingScreened, sums);
}

/**
 * Sums over the marks before each one, of one window at a time: of `least` and of what was given back by `received`, of
 * `held` by `sent`; and by mark what all calls hold that may have begun by its answer.
 */
let room = 0;
let leasts = new Float64Array(room);
let givenBack = new Float64Array(room);
let helds = new Float64Array(room);
let begun = new Float64Array(room);

function makeRoom(size: number): void {
  if (size < room) return;
  room = 2 * size + 256;
  leasts = new Float64Array(room);
  givenBack = new Float64Array(room);
  helds = new Float64Array(room);
  begun = new Float64Array(room);
}

/** Points that were surely let through together, whatever counts were shown. */
function admitted({ marks, certainFrom, screened }: ScreenInput): number {
  let sum = screened?.charged ?? 0;
  for (let mark = 0; mark < marks.size; mark++)
    if (((marks.bits[mark] ?? 0) & NOT_ADMITTED) === 0) sum += surely(marks, mark, certainFrom);
  return sum;
}

function hasClamped({ marks: { size, bits } }: ScreenInput): boolean {
  for (let mark = 0; mark < size; mark++) if (((bits[mark] ?? 0) & CLAMPED) !== 0) return true;
  return false;
}

/** Marks in the order of a key, used again for each window. */
class Order {
  keys = new Float64Array(room);
  marks = new Int32Array(room);

  fit(size: number): void {
    if (size <= this.keys.length) return;
    this.keys = new Float64Array(2 * size);
    this.marks = new Int32Array(2 * size);
  }

  /** Orders marks by a column. @returns `false` where they are too far from it */
  by(column: Float64Array, size: number): boolean {
    this.fit(size);
    for (let mark = 0; mark < size; mark++) {
      this.keys[mark] = column[mark] ?? 0;
      this.marks[mark] = mark;
    }
    return this.sort(size);
  }

  /** By insertion, since answers come nearly in order; equals stay as they are. */
  sort(size: number): boolean {
    const { keys, marks } = this;
    let moves = 16 * size + 256;
    for (let next = 1; next < size; next++) {
      const key = keys[next] ?? 0;
      if (key >= (keys[next - 1] ?? 0)) continue;
      const mark = marks[next] ?? 0;
      let at = next;
      for (; at > 0 && (keys[at - 1] ?? 0) > key; at--) {
        keys[at] = keys[at - 1] ?? 0;
        marks[at] = marks[at - 1] ?? 0;
      }
      keys[at] = key;
      marks[at] = mark;
      moves -= next - at;
      if (moves < 0) return false;
    }
    return true;
  }
}

const byPlace = new Order();
const bySent = new Order();
const byReceived = new Order();

/** By places (`judgePlaces`): one after the other without overlap or gap, and no answer before what stands under it. */
function screenPlaces(input: ScreenInput, before: Screened, sums: Screened | null): number | null {
  const { fromZero, complete, time } = input;
  const { size, sent, received, count, least, roles } = input.marks;
  if (!placesOf(input) || (byPlace.keys[0] ?? 0) < before.place) return null;
  const until = sums === null ? size : lettableOf(size);
  let top = Math.max(before.top, fromZero ? 0 : -1);
  let latest = before.latest;
  for (let place = 0; place < until; place++) {
    const mark = byPlace.marks[place] ?? 0;
    const to = count[mark] ?? 0;
    const from = to - (least[mark] ?? 0);
    if (from < 0 || from < top || (from > top && top >= 0 && complete)) return null;
    if (time.before(received[mark] ?? 0, latest)) return null;
    top = to;
    latest = Math.max(latest, sent[mark] ?? 0);
    if (sums !== null) gone[mark] = 1;
  }
  if (sums !== null) {
    sums.place = byPlace.keys[until - 1] ?? 0;
    sums.top = top;
    sums.latest = latest;
    sums.note(firstHolding(input.marks), fromZero);
  }
  return roles.size;
}

/** Puts marks in the order of their places, if each has one. */
function placesOf({ marks: columns, limit, certainFrom, binding }: ScreenInput): boolean {
  const { size, sent, count, least, most, held, bits } = columns;
  byPlace.fit(size);
  const { keys, marks } = byPlace;
  for (let mark = 0; mark < size; mark++) {
    const isCertain = least[mark] === most[mark] && (sent[mark] ?? 0) >= certainFrom;
    if (!isCertain && held[mark] !== 0) return false;
    const shown = count[mark] ?? 0;
    if (binding ? shown > limit : ((bits[mark] ?? 0) & CLAMPED) !== 0) return false;
    // Of equal counts the charge stands first, as in `judgePlaces`; of two such charges one overlaps the other.
    keys[mark] = 2 * shown + ((least[mark] ?? 0) > 0 ? 0 : 1);
    marks[mark] = mark;
  }
  return byPlace.sort(size);
}

/**
 * By bounds (`judgeBounds`, the same sums): each count lies between what must and what may have been charged by then. Which
 * of a window's first calls are its own is known at its end. Until then they count as nothing that must have been charged,
 * and those that came after all of them are held to that; so what they turn out to be raises the least of each alike.
 */
function screenBounds(input: ScreenInput, before: Screened, sums: Screened | null): number | null {
  const { fromZero, complete, certainFrom, time, marks } = input;
  const { opening } = before;
  const all: Readings = {
    marks,
    certainFrom,
    raised: 0,
    after: before.answered,
    until: Number.POSITIVE_INFINITY,
  };
  const first = opening === null ? 0 : screenOpening(input, opening);
  if (first === null || !inOrder(marks) || !comesAfter(marks, before, time)) return null;
  if (sums !== null) return screenSettled(input, before, sums, all) ? 0 : null;
  if (before !== nothingScreened) all.certainFrom = before.certainFrom;
  if (opening !== null) all.raised = leastWithin(opening.marks, certainFrom, before.certainFrom);
  if (all.raised > before.slack) return null;
  sumUp(marks, all.certainFrom, time, before);
  const pinned = screenReadings(input, all);
  if (pinned === null || !fromZero || !complete) return pinned;
  return first + (before.spreads.get(all.raised) ?? 0) + pinned;
}

/** Screens a window's first calls, as they turned out. */
function screenOpening(input: ScreenInput, { marks, until }: Opening): number | null {
  const { certainFrom, time } = input;
  makeRoom(marks.all);
  if (!inOrder(marks)) return null;
  sumUp(marks, certainFrom, time, nothingScreened);
  const [after, end] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isAsked = (sent: number): boolean => !time.before(until, sent);
  const pinned = screenReadings(input, { marks, certainFrom, raised: 0, after, until: end, isAsked });
  makeRoom(input.marks.all);
  return pinned;
}

/** Screens and sums up those that no later call can change. @returns `false` where it is not known whether they are clean */
function screenSettled(input: ScreenInput, before: Screened, sums: Screened, all: Readings): boolean {
  const { marks, certainFrom, fromZero, time } = input;
  const isFirst = before === nothingScreened;
  const opening = isFirst ? openingOf(marks, certainFrom, time) : before.opening;
  all.certainFrom = isFirst ? certainFrom : before.certainFrom;
  all.until = byReceived.keys[lettableOf(marks.size)] ?? 0;
  if (isFirst && opening !== null) {
    if (opening.last >= all.until) return false;
    all.isAsked = (sent) => time.before(opening.until, sent);
  }
  const seen = { slack: sums.slack, spreads: new Map<number, number>() };
  sumUp(marks, all.certainFrom, time, before);
  if (screenReadings(input, all, seen) === null) return false;
  sums.opening = opening;
  sums.certainFrom = all.certainFrom;
  sums.slack = seen.slack;
  for (const [spread, readings] of seen.spreads)
    sums.spreads.set(spread, (sums.spreads.get(spread) ?? 0) + readings);
  letGo(marks, all.until, time, sums);
  sums.note(certainFrom, fromZero);
  return true;
}

/** Those readings of a window that are screened. */
interface Readings {
  readonly marks: MarkColumns;
  certainFrom: number;
  /** Points by which the least of each is raised. */
  raised: number;
  /** Answered after this, and before this. */
  readonly after: number;
  until: number;
  /** By their sending; all where it is left out. */
  isAsked?: (sent: number) => boolean;
}

/** @param seen takes how much is between a count, its least and its most, in place of how many are pinned */
function screenReadings(
  { limit, fromZero, complete, binding, time }: ScreenInput,
  { marks, certainFrom, raised, after, until, isAsked }: Readings,
  seen: Pick<Screened, "slack" | "spreads"> | null = null,
): number | null {
  const { size, all, count, bits, received } = marks;
  const accountable = fromZero && complete;
  let pinned = 0;
  let over = 0;
  // In the order of `sent`, those that were surely answered before are more and more.
  for (let place = 0; place < all; place++) {
    const mark = bySent.marks[place] ?? 0;
    const sent = bySent.keys[place] ?? 0;
    while (over < all && time.before(byReceived.keys[over] ?? 0, sent)) over += 1;
    const answered = received[mark] ?? 0;
    if (mark >= size || answered >= until || answered <= after || isAsked?.(sent) === false) continue;
    const shown = count[mark] ?? 0;
    const exact = binding || ((bits[mark] ?? 0) & CLAMPED) === 0;
    const least = (leasts[over] ?? 0) + raised + surely(marks, mark, certainFrom);
    const most = (begun[mark] ?? 0) - (givenBack[over] ?? 0) - back(marks, mark);
    if ((exact && shown < least) || (accountable && shown > most)) return null;
    if (binding && fromZero && shown > limit) return null;
    if (!exact) continue;
    if (accountable && least === most) pinned += 1;
    if (seen === null) continue;
    seen.slack = Math.min(seen.slack, shown - least);
    seen.spreads.set(most - least, (seen.spreads.get(most - least) ?? 0) + 1);
  }
  return pinned;
}

const inOrder = ({ sent, received, all }: MarkColumns): boolean =>
  bySent.by(sent, all) && byReceived.by(received, all);

/** Tells whether the marks that came since were sent after all answers that are screened. */
function comesAfter({ size, all, sent }: MarkColumns, before: Screened, time: TraceTime): boolean {
  const { held, answered, certainFrom } = before;
  for (let mark = held; mark < all; mark++) {
    const at = sent[mark] ?? 0;
    if (!time.before(answered, at) || (mark < size && at < certainFrom)) return false;
  }
  return true;
}

/** Sums up the marks that were answered before any that is not screened yet was sent. */
function letGo(marks: MarkColumns, until: number, time: TraceTime, sums: Screened): void {
  const { size, sent, held } = marks;
  let first = Number.POSITIVE_INFINITY;
  let answered = 0;
  for (; (byReceived.keys[answered] ?? until) < until; answered++)
    sums.answered = Math.max(sums.answered, byReceived.keys[answered] ?? 0);
  for (let place = answered; place < size; place++)
    first = Math.min(first, sent[byReceived.marks[place] ?? 0] ?? 0);
  let place = 0;
  for (; place < answered && time.before(byReceived.keys[place] ?? 0, first); place++) {
    const mark = byReceived.marks[place] ?? 0;
    gone[mark] = 1;
    sums.helds += held[mark] ?? 0;
  }
  sums.leasts = leasts[place] ?? 0;
  sums.givenBack = givenBack[place] ?? 0;
  sums.held = size - place;
}

function sumUp(marks: MarkColumns, certainFrom: number, time: TraceTime, before: Screened): void {
  const { size, all, held } = marks;
  leasts[0] = before.leasts;
  givenBack[0] = before.givenBack;
  helds[0] = before.helds;
  for (let place = 0; place < all; place++) {
    const answered = byReceived.marks[place] ?? 0;
    const least = answered < size ? surely(marks, answered, certainFrom) : 0;
    leasts[place + 1] = (leasts[place] ?? 0) + least;
    givenBack[place + 1] = (givenBack[place] ?? 0) + back(marks, answered);
    helds[place + 1] = (helds[place] ?? 0) + (held[bySent.marks[place] ?? 0] ?? 0);
  }
  let until = 0;
  for (let place = 0; place < all; place++) {
    while (until < all && !time.before(byReceived.keys[place] ?? 0, bySent.keys[until] ?? 0)) until += 1;
    begun[byReceived.marks[place] ?? 0] = helds[until] ?? 0;
  }
}

/** Returns the charge that a call surely left to this window: nothing, if it was sent before it opened. */
const surely = ({ sent, least }: MarkColumns, mark: number, certainFrom: number): number =>
  (sent[mark] ?? 0) >= certainFrom ? (least[mark] ?? 0) : 0;

/** Returns the points that a call has given back by its answer. */
const back = ({ held, most }: MarkColumns, mark: number): number => (held[mark] ?? 0) - (most[mark] ?? 0);
