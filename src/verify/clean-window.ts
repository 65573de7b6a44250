// The screen: tells from a window's rows alone whether it is clean, without an object for each mark. It may say "clean"
// only if `judgeWindow` finds nothing. In doubt it says "not known"; then `judgeWindow` judges and explains.
import { screenBounds } from "./clean-bounds.ts";
import { screenPlaces } from "./clean-places.ts";
import { CLAMPED } from "./mark-rows.ts";
import { type Letting, nothingScreened, type ScreenInput } from "./screen-input.ts";
import type { Screened } from "./screened.ts";

/** Screens a window. @returns number of readings with one possible value, if the window is clean; `null` if not known */
export function screenWindow(input: ScreenInput): number | null {
  return screen(input, null);
}

/**
 * Screens the marks that can change no more, and sums them up.
 * @param sums receives the sums if the marks are clean
 * @returns by mark, 1 if it need not be held any more; `null` if it is unknown whether the marks are clean
 */
export function screenFirst(input: ScreenInput, sums: Screened): Uint8Array | null {
  const gone = new Uint8Array(input.marks.size);
  return screen(input, { sums, gone }) === null ? null : gone;
}

/** @param letting receives the marks that can change no more, and only they are screened; `null` screens all marks */
function screen(input: ScreenInput, letting: Letting | null): number | null {
  const { marks, screened } = input;
  if (screened !== null && !screened.fits(input.certainFrom, input.fromZero)) return null;
  // If a window was open at the start, the screen cannot tell whether a clamped count is the limit.
  if (input.fromZero ? marks.charged > input.limit : hasClamped(input)) return null;
  const way = input.method === "places" ? screenPlaces : screenBounds;
  return way(input, screened ?? nothingScreened, letting);
}

function hasClamped({ marks: { size, bits } }: ScreenInput): boolean {
  for (let mark = 0; mark < size; mark++) if (((bits[mark] as number) & CLAMPED) !== 0) return true;
  return false;
}
