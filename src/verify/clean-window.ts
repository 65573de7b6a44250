// The screen before the judging of counts: whether a window is clean, from its rows alone, without an object a mark.
// It may only ever say "clean" of what `judgeWindow` finds nothing in, and says "not known" whenever in doubt; that
// one then judges, and explains.
import { screenBounds } from "./clean-bounds.ts";
import { screenPlaces } from "./clean-places.ts";
import { CLAMPED, NOT_ADMITTED } from "./mark-rows.ts";
import { type Letting, nothingScreened, type ScreenInput, surely } from "./screen-input.ts";
import type { Screened } from "./screened.ts";

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
  const gone = new Uint8Array(input.marks.size);
  return screen(input, { sums, gone }) === null ? null : gone;
}

/** @param letting takes what can change no more, which alone is screened; all is where it is `null` */
function screen(input: ScreenInput, letting: Letting | null): number | null {
  const { marks, screened } = input;
  if (screened !== null && !screened.fits(input.certainFrom, input.fromZero)) return null;
  // The screen does not say whether a clamped count of a window that was open before is the limit.
  const { charged } = marks;
  if (input.fromZero ? charged > input.limit && admitted(input) > input.limit : hasClamped(input))
    return null;
  const way = input.method === "places" ? screenPlaces : screenBounds;
  return way(input, screened ?? nothingScreened, letting);
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
