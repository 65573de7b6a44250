// The screen of windows that are judged by bounds, with the sums of `judgeBounds`: each count lies between what must
// and what may have been charged by then. Until a window ends, nobody knows which of its first calls are its own. Until
// then they count 0 in what must have been charged. Later calls come after all of them, so that their charges raise all
// later bounds alike.
import type { TraceTime } from "./clock.ts";
import { returnedOf } from "./mark.ts";
import { Order } from "./mark-order.ts";
import { CLAMPED, NOT_ADMITTED } from "./mark-rows.ts";
import { type Letting, lettableOf, nothingScreened, type ScreenInput, surely } from "./screen-input.ts";
import { leastWithin, type Opening, openingOf, type Screened } from "./screened.ts";
import type { MarkColumns } from "./window-sums.ts";

const bySent = new Order();
const byReceived = new Order();

/**
 * Sums over the marks before each one, in one window: `least` and points given back by `received`, `held` by `sent`.
 * `begun` holds, by mark, the points of all calls that may have begun by its answer.
 */
let room = 0;
let leasts = new Float64Array(room);
let givenBack = new Float64Array(room);
let helds = new Float64Array(room);
let begun = new Float64Array(room);
/** Least and most, by mark, that the window can have held beside all marks by then (`judgeBounds`). */
let leastApart = new Float64Array(room);
let mostApart = new Float64Array(room);

function makeRoom(size: number): void {
  if (size < room) return;
  room = 2 * size + 256;
  leasts = new Float64Array(room);
  givenBack = new Float64Array(room);
  helds = new Float64Array(room);
  begun = new Float64Array(room);
  leastApart = new Float64Array(room);
  mostApart = new Float64Array(room);
}

export function screenBounds(input: ScreenInput, before: Screened, letting: Letting | null): number | null {
  const { fromZero, complete, certainFrom, time, marks } = input;
  const { opening } = before;
  makeRoom(marks.all);
  const all: Readings = {
    marks,
    certainFrom,
    raised: 0,
    before,
    until: Number.POSITIVE_INFINITY,
  };
  const first = opening === null ? 0 : screenOpening(input, opening);
  if (first === null || !inOrder(marks) || !comesAfter(marks, before, time)) return null;
  if (letting !== null) return screenSettled(input, letting, all) ? 0 : null;
  if (before !== nothingScreened) all.certainFrom = before.certainFrom;
  if (opening !== null) all.raised = leastWithin(opening.marks, certainFrom, before.certainFrom);
  if (all.raised > before.slack) return null;
  sumUp(marks, all.certainFrom, time, before);
  const pinned = screenReadings(input, all);
  if (pinned === null || !fromZero || !complete) return pinned;
  return first + (before.spreads.get(all.raised) ?? 0) + pinned;
}

/** Screens a window's first calls, once it is known which of them are its own. */
function screenOpening(input: ScreenInput, { marks, until }: Opening): number | null {
  const { certainFrom, time } = input;
  makeRoom(marks.all);
  if (!inOrder(marks)) return null;
  sumUp(marks, certainFrom, time, nothingScreened);
  const isAsked = (sent: number): boolean => !time.before(until, sent);
  const all = { marks, certainFrom, raised: 0, before: nothingScreened, until: Number.POSITIVE_INFINITY };
  const pinned = screenReadings(input, { ...all, isAsked });
  makeRoom(input.marks.all);
  return pinned;
}

/** Screens and sums up the marks that no later call can change. @returns `false` if they may not be clean */
function screenSettled(input: ScreenInput, { sums, gone }: Letting, all: Readings): boolean {
  const { marks, certainFrom, fromZero, time } = input;
  const { before } = all;
  const isFirst = before === nothingScreened;
  const opening = isFirst ? openingOf(marks, certainFrom, time) : before.opening;
  all.certainFrom = isFirst ? certainFrom : before.certainFrom;
  all.until = byReceived.keys[lettableOf(marks.size)] as number;
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
  letGo(marks, all.until, time, { sums, gone });
  sums.note(certainFrom, fromZero);
  return true;
}

interface Readings {
  readonly marks: MarkColumns;
  certainFrom: number;
  /** Points by which every lower bound is raised. */
  raised: number;
  /** Sums over earlier marks, whose readings are not screened again. */
  readonly before: Screened;
  /** Receipt before which readings are screened. */
  until: number;
  /** Selects readings by their sending. Default: all. */
  isAsked?: (sent: number) => boolean;
}

/** Screens readings. @param seen receives distances from counts to bounds, in place of the number of pinned ones */
function screenReadings(
  { limit, fromZero, complete, startedBy, keptFrom, binding, time }: ScreenInput,
  { marks, certainFrom, raised, before, until, isAsked }: Readings,
  seen: Pick<Screened, "slack" | "spreads"> | null = null,
): number | null {
  const { size, all, count, bits, received } = marks;
  const accountable = fromZero && complete;
  const risesFrom = complete && !fromZero ? startedBy : Number.POSITIVE_INFINITY;
  const fallsFrom = accountable ? Number.POSITIVE_INFINITY : keptFrom;
  let pinned = 0;
  let over = 0;
  let apartLeast = before.apartLeast;
  let apartMost = before.apartMost - raised;
  // In the order of `sent`, the set of marks that were surely answered before only grows.
  for (let place = 0; place < all; place++) {
    const mark = bySent.marks[place] as number;
    const sent = bySent.keys[place] as number;
    for (; over < all && time.before(byReceived.keys[over] as number, sent); over++) {
      const earlier = byReceived.marks[over] as number;
      if (earlier >= size) continue;
      apartLeast = Math.max(apartLeast, leastApart[earlier] as number);
      apartMost = Math.min(apartMost, mostApart[earlier] as number);
    }
    if (mark >= size) continue;
    const shown = count[mark] as number;
    const exact = binding || ((bits[mark] as number) & CLAMPED) === 0;
    const least = (leasts[over] as number) + raised + surely(marks, mark, certainFrom);
    const most = (begun[mark] as number) - (givenBack[over] as number) - back(marks, mark);
    leastApart[mark] = sent >= fallsFrom ? shown - most : Number.NEGATIVE_INFINITY;
    mostApart[mark] = exact && sent >= risesFrom ? shown - least : Number.POSITIVE_INFINITY;
    const answered = received[mark] as number;
    if (answered >= until || answered <= before.answered || isAsked?.(sent) === false) continue;
    const above = exact ? shown - Math.max(least, least + apartLeast) : Number.POSITIVE_INFINITY;
    const below = apartMost - (shown - most);
    if (above < 0 || below < 0 || (accountable && shown > most)) return null;
    if (binding && fromZero && shown > limit) return null;
    // A counted refusal with room, by its own points, too (`isPast`).
    if (accountable && shown >= limit && most <= limit && isCountedRefusal(marks, mark)) return null;
    if (seen !== null) seen.slack = Math.min(seen.slack, above, below);
    if (!exact) continue;
    if (accountable && least === most) pinned += 1;
    seen?.spreads.set(most - least, (seen.spreads.get(most - least) ?? 0) + 1);
  }
  return pinned;
}

const isCountedRefusal = ({ bits, held }: MarkColumns, mark: number): boolean =>
  ((bits[mark] as number) & NOT_ADMITTED) !== 0 && (held[mark] as number) > 0;

const inOrder = ({ sent, received, all }: MarkColumns): boolean =>
  bySent.by(sent, all) && byReceived.by(received, all);

/** Tells whether all newer marks were sent after every screened answer. */
function comesAfter({ size, all, sent }: MarkColumns, before: Screened, time: TraceTime): boolean {
  const { held, answered, certainFrom } = before;
  for (let mark = held; mark < all; mark++) {
    const at = sent[mark] as number;
    if (!time.before(answered, at) || (mark < size && at < certainFrom)) return false;
  }
  return true;
}

/** Sums up the marks that were answered before any unscreened one was sent. */
function letGo(marks: MarkColumns, until: number, time: TraceTime, { sums, gone }: Letting): void {
  const { size, sent, held } = marks;
  let first = Number.POSITIVE_INFINITY;
  let answered = 0;
  for (; (byReceived.keys[answered] ?? until) < until; answered++)
    sums.answered = Math.max(sums.answered, byReceived.keys[answered] as number);
  for (let place = answered; place < size; place++)
    first = Math.min(first, sent[byReceived.marks[place] as number] as number);
  let place = 0;
  for (; place < answered && time.before(byReceived.keys[place] as number, first); place++) {
    const mark = byReceived.marks[place] as number;
    gone[mark] = 1;
    sums.helds += held[mark] as number;
    sums.apartLeast = Math.max(sums.apartLeast, leastApart[mark] as number);
    sums.apartMost = Math.min(sums.apartMost, mostApart[mark] as number);
  }
  sums.leasts = leasts[place] as number;
  sums.givenBack = givenBack[place] as number;
  sums.held = size - place;
}

function sumUp(marks: MarkColumns, certainFrom: number, time: TraceTime, before: Screened): void {
  const { size, all, held } = marks;
  leasts[0] = before.leasts;
  givenBack[0] = before.givenBack;
  helds[0] = before.helds;
  for (let place = 0; place < all; place++) {
    const answered = byReceived.marks[place] as number;
    const least = answered < size ? surely(marks, answered, certainFrom) : 0;
    leasts[place + 1] = (leasts[place] as number) + least;
    givenBack[place + 1] = (givenBack[place] as number) + back(marks, answered);
    helds[place + 1] = (helds[place] as number) + (held[bySent.marks[place] as number] as number);
  }
  let until = 0;
  for (let place = 0; place < all; place++) {
    while (until < all && !time.before(byReceived.keys[place] as number, bySent.keys[until] as number))
      until += 1;
    begun[byReceived.marks[place] as number] = helds[until] as number;
  }
}

const back = ({ held, most }: MarkColumns, mark: number): number =>
  returnedOf(held[mark] as number, most[mark] as number);
