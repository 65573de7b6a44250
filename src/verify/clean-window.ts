// The screen before the judging of counts: whether a window is clean, from its rows alone, without an object a mark.
// It may only ever say "clean" of what `judgeWindow` finds nothing in, and says "not known" whenever in doubt; that
// one then judges, and explains.
import {
  BITS,
  CLAMPED,
  COUNT,
  HELD,
  LEAST,
  type MarkRows,
  MOST,
  RECEIVED,
  ROW,
  SENT,
} from "./mark-rows.ts";
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

/** Marks to be put in order, used again for each window. */
class Scratch {
  keys = new Float64Array(256);
  order = new Int32Array(256);
  /** Sums over the marks before each one, in some order. */
  leasts = new Float64Array(257);
  givenBack = new Float64Array(257);
  helds = new Float64Array(257);
  /** By mark: how many others were surely answered before it was sent. */
  before = new Int32Array(256);

  fit(size: number): void {
    if (size <= this.keys.length) return;
    const length = 2 * size;
    this.keys = new Float64Array(length);
    this.order = new Int32Array(length);
    this.leasts = new Float64Array(length + 1);
    this.givenBack = new Float64Array(length + 1);
    this.helds = new Float64Array(length + 1);
    this.before = new Int32Array(length);
  }

  /** Puts `order` in the order of `keys`, which it nearly is in; equals stay as they are. Gives up if it is not. */
  sort(size: number): boolean {
    const { keys, order } = this;
    let moves = 16 * size + 256;
    for (let next = 1; next < size; next++) {
      const key = keys[next] ?? 0;
      if (key >= (keys[next - 1] ?? 0)) continue;
      const mark = order[next] ?? 0;
      let at = next;
      for (; at > 0 && (keys[at - 1] ?? 0) > key; at--) {
        keys[at] = keys[at - 1] ?? 0;
        order[at] = order[at - 1] ?? 0;
      }
      keys[at] = key;
      order[at] = mark;
      moves -= next - at;
      if (moves < 0) return false;
    }
    return true;
  }
}

const scratch = new Scratch();

/** By places (`judgePlaces`): one after the other without overlap or gap, and no answer before what stands under it. */
function screenPlaces({ rows, limit, fromZero, complete, certainFrom, binding, orderMs }: ScreenInput): number | null {
  const { numbers, size } = rows;
  scratch.fit(size);
  const { keys, order } = scratch;
  for (let mark = 0, row = 0; mark < size; mark++, row += ROW) {
    const count = numbers[row + COUNT] ?? 0;
    const least = numbers[row + LEAST] ?? 0;
    const isCertain = least === numbers[row + MOST] && (numbers[row + SENT] ?? 0) >= certainFrom;
    if (!isCertain && numbers[row + HELD] !== 0) return null;
    if (!binding && ((numbers[row + BITS] ?? 0) & CLAMPED) !== 0) return null;
    if (binding && count > limit) return null;
    // Of equal counts the charge stands first, as in `judgePlaces`; of two such charges one overlaps the other.
    keys[mark] = 2 * count + (least > 0 ? 0 : 1);
    order[mark] = mark;
  }
  if (!scratch.sort(size)) return null;
  let top = fromZero ? 0 : -1;
  let latest = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < size; place++) {
    const row = (order[place] ?? 0) * ROW;
    const to = numbers[row + COUNT] ?? 0;
    const from = to - (numbers[row + LEAST] ?? 0);
    if (from < 0 || from < top || (from > top && top >= 0 && complete)) return null;
    const received = numbers[row + RECEIVED] ?? 0;
    if (received < latest && received + orderMs <= latest) return null;
    top = to;
    latest = Math.max(latest, numbers[row + SENT] ?? 0);
  }
  return size;
}

/** By bounds (`judgeBounds`, the same sums): each count lies between what must and what may have been charged by then. */
function screenBounds(input: ScreenInput): number | null {
  const { rows, limit, fromZero, complete, binding } = input;
  const { numbers, size } = rows;
  if (!sumUp(input)) return null;
  const { order, leasts, givenBack, helds, before } = scratch;
  const accountable = fromZero && complete;
  let pinned = 0;
  let begun = 0;
  // In the order of `received`: those sent after this one's answer are fewer and fewer.
  for (let place = 0; place < size; place++) {
    const mark = order[place] ?? 0;
    const row = mark * ROW;
    const received = numbers[row + RECEIVED] ?? 0;
    while (begun < size && !isBefore(received, bySent[begun] ?? 0, input.orderMs)) begun += 1;
    const count = numbers[row + COUNT] ?? 0;
    const exact = binding || ((numbers[row + BITS] ?? 0) & CLAMPED) === 0;
    const over = before[mark] ?? 0;
    const least = (leasts[over] ?? 0) + surely(numbers, row, input.certainFrom);
    const own = (numbers[row + HELD] ?? 0) - (numbers[row + MOST] ?? 0);
    const most = (helds[begun] ?? 0) - (givenBack[over] ?? 0) - own;
    if (exact && count < least) return null;
    if (accountable && count > most) return null;
    if (binding && fromZero && count > limit) return null;
    if (accountable && exact && least === most) pinned += 1;
  }
  return pinned;
}

/** When the marks were sent, in order. */
let bySent = new Float64Array(256);

/** Leaves the sums in `scratch`, and its order that of `received`. */
function sumUp({ rows, certainFrom, orderMs }: ScreenInput): boolean {
  const { numbers, size } = rows;
  scratch.fit(size);
  if (bySent.length < size) bySent = new Float64Array(2 * size);
  const { keys, order, leasts, givenBack, helds, before } = scratch;
  if (!inOrderOf(numbers, size, SENT)) return false;
  for (let place = 0; place < size; place++) {
    const row = (order[place] ?? 0) * ROW;
    bySent[place] = keys[place] ?? 0;
    helds[place + 1] = (helds[place] ?? 0) + (numbers[row + HELD] ?? 0);
    before[place] = order[place] ?? 0;
  }
  const sentOrder = before.slice(0, size);
  if (!inOrderOf(numbers, size, RECEIVED)) return false;
  for (let place = 0; place < size; place++) {
    const row = (order[place] ?? 0) * ROW;
    leasts[place + 1] = (leasts[place] ?? 0) + surely(numbers, row, certainFrom);
    givenBack[place + 1] = (givenBack[place] ?? 0) + (numbers[row + HELD] ?? 0) - (numbers[row + MOST] ?? 0);
  }
  let over = 0;
  for (let place = 0; place < size; place++) {
    while (over < size && isBefore(keys[over] ?? 0, bySent[place] ?? 0, orderMs)) over += 1;
    before[sentOrder[place] ?? 0] = over;
  }
  return true;
}

function inOrderOf(numbers: readonly number[], size: number, column: number): boolean {
  const { keys, order } = scratch;
  for (let mark = 0; mark < size; mark++) {
    keys[mark] = numbers[mark * ROW + column] ?? 0;
    order[mark] = mark;
  }
  return scratch.sort(size);
}

const isBefore = (received: number, sent: number, orderMs: number): boolean =>
  received < sent && received + orderMs <= sent;

function surely(numbers: readonly number[], row: number, certainFrom: number): number {
  return (numbers[row + SENT] ?? 0) >= certainFrom ? (numbers[row + LEAST] ?? 0) : 0;
}
