// The screen before the judging of counts: whether a window is clean, from its rows alone, without an object a mark.
// It may only ever say "clean" of what `judgeWindow` finds nothing in, and says "not known" whenever in doubt; that
// one then judges, and explains.
import { BITS, CLAMPED, COUNT, HELD, LEAST, type MarkRows, MOST, RECEIVED, ROW, SENT } from "./mark-rows.ts";
import type { Method } from "./window-counts.ts";

export interface ScreenInput {
  readonly rows: MarkRows;
  readonly method: Method;
  readonly limit: number;
  readonly fromZero: boolean;
  readonly complete: boolean;
  readonly certainFrom: number;
  /** Whether counts are bound by the limit as long as it is enforced. */
  readonly binding: boolean;
  /** `TraceTime.before(a, b)` is `a < b && a + orderMs <= b`. */
  readonly orderMs: number;
}

/** @returns how many of its readings could have had one value alone, where the window is clean; `null` if not known */
export function screenWindow(input: ScreenInput): number | null {
  return input.method === "places" ? screenPlaces(input) : screenBounds(input);
}

/** Marks in the order of a key, used again for each window. */
class Order {
  keys = new Float64Array(256);
  marks = new Int32Array(256);

  fit(size: number): void {
    if (size <= this.keys.length) return;
    this.keys = new Float64Array(2 * size);
    this.marks = new Int32Array(2 * size);
  }

  /** Orders a window's marks by a column. @returns `false` where they are too far from it */
  by({ numbers, size }: MarkRows, column: number): boolean {
    this.fit(size);
    for (let mark = 0; mark < size; mark++) {
      this.keys[mark] = numbers[mark * ROW + column] ?? 0;
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
  const { rows, fromZero, complete, orderMs } = input;
  const { numbers, size } = rows;
  if (!placesOf(input)) return null;
  const { marks } = byPlace;
  let top = fromZero ? 0 : -1;
  let latest = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < size; place++) {
    const row = (marks[place] ?? 0) * ROW;
    const to = numbers[row + COUNT] ?? 0;
    const from = to - (numbers[row + LEAST] ?? 0);
    if (from < 0 || from < top || (from > top && top >= 0 && complete)) return null;
    if (isBefore(numbers[row + RECEIVED] ?? 0, latest, orderMs)) return null;
    top = to;
    latest = Math.max(latest, numbers[row + SENT] ?? 0);
  }
  return size;
}

/** Puts marks in the order of their places, if each has one. */
function placesOf({ rows, limit, certainFrom, binding }: ScreenInput): boolean {
  const { numbers, size } = rows;
  byPlace.fit(size);
  const { keys, marks } = byPlace;
  for (let mark = 0, row = 0; mark < size; mark++, row += ROW) {
    const count = numbers[row + COUNT] ?? 0;
    const least = numbers[row + LEAST] ?? 0;
    const isCertain = least === numbers[row + MOST] && (numbers[row + SENT] ?? 0) >= certainFrom;
    if (!isCertain && numbers[row + HELD] !== 0) return false;
    if (binding ? count > limit : ((numbers[row + BITS] ?? 0) & CLAMPED) !== 0) return false;
    // Of equal counts the charge stands first, as in `judgePlaces`; of two such charges one overlaps the other.
    keys[mark] = 2 * count + (least > 0 ? 0 : 1);
    marks[mark] = mark;
  }
  return byPlace.sort(size);
}

/** Sums over the marks before each one: of `least` and of what was given back by `received`, of `held` by `sent`. */
let leasts = new Float64Array(257);
let givenBack = new Float64Array(257);
let helds = new Float64Array(257);
/** By mark: what all calls hold that may have begun by its answer. */
let begun = new Float64Array(256);

/** By bounds (`judgeBounds`, the same sums): each count lies between what must and what may have been charged by then. */
function screenBounds(input: ScreenInput): number | null {
  const { rows, limit, fromZero, complete, certainFrom, binding, orderMs } = input;
  const { numbers, size } = rows;
  if (!bySent.by(rows, SENT) || !byReceived.by(rows, RECEIVED)) return null;
  sumUp(input);
  const accountable = fromZero && complete;
  let pinned = 0;
  let over = 0;
  // In the order of `sent`, those that were surely answered before are more and more.
  for (let place = 0; place < size; place++) {
    const mark = bySent.marks[place] ?? 0;
    const row = mark * ROW;
    while (over < size && isBefore(byReceived.keys[over] ?? 0, bySent.keys[place] ?? 0, orderMs)) over += 1;
    const count = numbers[row + COUNT] ?? 0;
    const exact = binding || ((numbers[row + BITS] ?? 0) & CLAMPED) === 0;
    const least = (leasts[over] ?? 0) + surely(numbers, row, certainFrom);
    const most = (begun[mark] ?? 0) - (givenBack[over] ?? 0) - back(numbers, row);
    if ((exact && count < least) || (accountable && count > most)) return null;
    if (binding && fromZero && count > limit) return null;
    if (accountable && exact && least === most) pinned += 1;
  }
  return pinned;
}

function sumUp({ rows, certainFrom, orderMs }: ScreenInput): void {
  const { numbers, size } = rows;
  if (size > begun.length) {
    leasts = new Float64Array(2 * size + 1);
    givenBack = new Float64Array(2 * size + 1);
    helds = new Float64Array(2 * size + 1);
    begun = new Float64Array(2 * size);
  }
  for (let place = 0; place < size; place++) {
    const received = (byReceived.marks[place] ?? 0) * ROW;
    leasts[place + 1] = (leasts[place] ?? 0) + surely(numbers, received, certainFrom);
    givenBack[place + 1] = (givenBack[place] ?? 0) + back(numbers, received);
    const sent = (bySent.marks[place] ?? 0) * ROW;
    helds[place + 1] = (helds[place] ?? 0) + (numbers[sent + HELD] ?? 0);
  }
  let until = 0;
  for (let place = 0; place < size; place++) {
    while (until < size && !isBefore(byReceived.keys[place] ?? 0, bySent.keys[until] ?? 0, orderMs))
      until += 1;
    begun[byReceived.marks[place] ?? 0] = helds[until] ?? 0;
  }
}

const isBefore = (received: number, sent: number, orderMs: number): boolean =>
  received < sent && received + orderMs <= sent;

/** What a call surely left charged to this window: nothing, if it was sent before it opened. */
const surely = (numbers: readonly number[], row: number, certainFrom: number): number =>
  (numbers[row + SENT] ?? 0) >= certainFrom ? (numbers[row + LEAST] ?? 0) : 0;

/** What a call has given back by its answer. */
const back = (numbers: readonly number[], row: number): number =>
  (numbers[row + HELD] ?? 0) - (numbers[row + MOST] ?? 0);
