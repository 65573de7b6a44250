// A picture's words at each of its points, which the page's script shows under the pointer. Without scripts, the page's
// tables have the same.

export interface ReadingPoint {
  /** Distance from the left, of `across`; `null` if it does not matter. */
  readonly x: number | null;
  /** Distance from the top, 0 to 1; `null` if it does not matter. */
  readonly y: number | null;
  /** Text for each of `names`; `null` is left out. */
  readonly cells: readonly (string | null)[];
}

export interface PictureReadings {
  /** Greatest `x`, at the right end. */
  readonly across: number;
  /** True if `x` is ms since the start of the picture. It can then be zoomed, and a point shows its time. */
  readonly time: boolean;
  /** `before`: a point holds until the next one, as in a step line. `nearest`: the nearest point is shown. */
  readonly snap: "before" | "nearest";
  readonly names: readonly string[];
  readonly points: readonly ReadingPoint[];
}

/** Number of parts that the page divides a height into. */
const heights = 1000;

/**
 * Returns readings as text for the page. Most texts occur again, so each is written once. A point is x, y, and for each
 * name the place of its text in `words`, or -1 for none. `flat` points have no y, and no point ends in -1.
 */
export function encodeReadings({ across, time, snap, names, points }: PictureReadings): string {
  const places = new Map<string, number>();
  const place = (word: string | null): number => {
    if (word === null) return -1;
    const known = places.get(word) ?? places.size;
    places.set(word, known);
    return known;
  };
  const flat = points.every(({ y }) => y === null);
  const rows = points.map(({ x, y, cells }) => {
    const last = cells.findLastIndex((cell) => cell !== null);
    return [
      x === null ? null : Math.round(x * 100) / 100,
      ...(flat ? [] : [y === null ? null : Math.round(y * heights)]),
      ...cells.slice(0, last + 1).map(place),
    ];
  });
  return JSON.stringify({ across, time, snap, names, words: [...places.keys()], flat, points: rows });
}
