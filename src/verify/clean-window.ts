// The screen before the judging of counts: whether a window is clean, from its rows alone, without an object a mark.
// It may only ever say "clean" of what `judgeWindow` finds nothing in, and says "not known" whenever in doubt; that
// one then judges, and explains.

import type { TraceTime } from "./clock.ts";
import type { Method } from "./counts-input.ts";
import { CLAMPED, NOT_ADMITTED } from "./mark-rows.ts";
import type { WindowColumns } from "./window-columns.ts";

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
}

/** @returns how many of its readings could have had one value alone, where the window is clean; `null` if not known */
export function screenWindow(input: ScreenInput): number | null {
  makeRoom(input.marks.size);
  // The screen does not say whether a clamped count of a window that was open before is the limit.
  const { charged } = input.marks;
  if (input.fromZero ? charged > input.limit && admitted(input) > input.limit : hasClamped(input))
    return null;
  if (input.method === "places") return screenPlaces(input);
  // Readings of a window that was open before are held to each other.
  return input.complete && !input.fromZero ? null : screenBounds(input);
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
function admitted({ marks, certainFrom }: ScreenInput): number {
  let sum = 0;
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
function screenPlaces(input: ScreenInput): number | null {
  const { fromZero, complete, time } = input;
  const { size, sent, received, count, least } = input.marks;
  if (!placesOf(input)) return null;
  let top = fromZero ? 0 : -1;
  let latest = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < size; place++) {
    const mark = byPlace.marks[place] ?? 0;
    const to = count[mark] ?? 0;
    const from = to - (least[mark] ?? 0);
    if (from < 0 || from < top || (from > top && top >= 0 && complete)) return null;
    if (time.before(received[mark] ?? 0, latest)) return null;
    top = to;
    latest = Math.max(latest, sent[mark] ?? 0);
  }
  return size;
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

/** By bounds (`judgeBounds`, the same sums): each count lies between what must and what may have been charged by then. */
function screenBounds(input: ScreenInput): number | null {
  const { limit, fromZero, complete, certainFrom, binding, time } = input;
  const { marks } = input;
  const { size, count, bits } = marks;
  if (!bySent.by(marks.sent, size) || !byReceived.by(marks.received, size)) return null;
  sumUp(marks, certainFrom, time);
  const accountable = fromZero && complete;
  let pinned = 0;
  let over = 0;
  // In the order of `sent`, those that were surely answered before are more and more.
  for (let place = 0; place < size; place++) {
    const mark = bySent.marks[place] ?? 0;
    while (over < size && time.before(byReceived.keys[over] ?? 0, bySent.keys[place] ?? 0)) over += 1;
    const shown = count[mark] ?? 0;
    const exact = binding || ((bits[mark] ?? 0) & CLAMPED) === 0;
    const least = (leasts[over] ?? 0) + surely(marks, mark, certainFrom);
    const most = (begun[mark] ?? 0) - (givenBack[over] ?? 0) - back(marks, mark);
    if ((exact && shown < least) || (accountable && shown > most)) return null;
    if (binding && fromZero && shown > limit) return null;
    if (accountable && exact && least === most) pinned += 1;
  }
  return pinned;
}

function sumUp(marks: WindowColumns, certainFrom: number, time: TraceTime): void {
  const { size, held } = marks;
  for (let place = 0; place < size; place++) {
    const answered = byReceived.marks[place] ?? 0;
    leasts[place + 1] = (leasts[place] ?? 0) + surely(marks, answered, certainFrom);
    givenBack[place + 1] = (givenBack[place] ?? 0) + back(marks, answered);
    helds[place + 1] = (helds[place] ?? 0) + (held[bySent.marks[place] ?? 0] ?? 0);
  }
  let until = 0;
  for (let place = 0; place < size; place++) {
    while (until < size && !time.before(byReceived.keys[place] ?? 0, bySent.keys[until] ?? 0)) until += 1;
    begun[byReceived.marks[place] ?? 0] = helds[until] ?? 0;
  }
}

/** Returns the charge that a call surely left to this window: nothing, if it was sent before it opened. */
const surely = ({ sent, least }: WindowColumns, mark: number, certainFrom: number): number =>
  (sent[mark] ?? 0) >= certainFrom ? (least[mark] ?? 0) : 0;

/** Returns the points that a call has given back by its answer. */
const back = ({ held, most }: WindowColumns, mark: number): number => (held[mark] ?? 0) - (most[mark] ?? 0);
