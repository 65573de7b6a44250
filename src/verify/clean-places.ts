// The screen of windows that are judged by places (`judgePlaces`): places follow each other without overlap or gap, and
// no answer came before the sending of a call with a lower place.

import { Order } from "./mark-order.ts";
import { CLAMPED } from "./mark-rows.ts";
import { type Letting, lettableOf, type ScreenInput } from "./screen-input.ts";
import { firstHolding, type Screened } from "./screened.ts";

const byPlace = new Order();

export function screenPlaces(input: ScreenInput, before: Screened, letting: Letting | null): number | null {
  const { fromZero, complete, time } = input;
  const { size, sent, received, count, least, roles } = input.marks;
  if (!placesOf(input) || (byPlace.keys[0] as number) < before.place) return null;
  const until = letting === null ? size : lettableOf(size);
  let top = Math.max(before.top, fromZero ? 0 : -1);
  let latest = before.latest;
  for (let place = 0; place < until; place++) {
    const mark = byPlace.marks[place] as number;
    const to = count[mark] as number;
    const from = to - (least[mark] as number);
    if (from < 0 || from < top || (from > top && top >= 0 && complete)) return null;
    if (time.before(received[mark] as number, latest)) return null;
    top = to;
    latest = Math.max(latest, sent[mark] as number);
    if (letting !== null) letting.gone[mark] = 1;
  }
  if (letting !== null) {
    const { sums } = letting;
    sums.place = byPlace.keys[until - 1] as number;
    sums.top = top;
    sums.latest = latest;
    sums.note(firstHolding(input.marks), fromZero);
  }
  return roles.size;
}

/** Sorts marks by place. Returns false if a mark has no certain place, or if sorting takes too long. */
function placesOf({ marks: columns, limit, certainFrom, binding }: ScreenInput): boolean {
  const { size, sent, count, least, most, held, bits } = columns;
  byPlace.fit(size);
  const { keys, marks } = byPlace;
  for (let mark = 0; mark < size; mark++) {
    const isCertain = least[mark] === most[mark] && (sent[mark] as number) >= certainFrom;
    if (!isCertain && held[mark] !== 0) return false;
    const shown = count[mark] as number;
    if (binding ? shown > limit : ((bits[mark] as number) & CLAMPED) !== 0) return false;
    // The charge stands first among equal counts, as in `judgePlaces`; of two charges one overlaps the other.
    keys[mark] = 2 * shown + ((least[mark] as number) > 0 ? 0 : 1);
    marks[mark] = mark;
  }
  return byPlace.sort(size);
}
