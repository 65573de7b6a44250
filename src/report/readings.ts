// A picture's words at each of its points: what the page's script shows under the pointer. A page without scripts
// has the same in its tables.

/** One point of a picture. */
export interface ReadingPoint {
  /** Distance from the left, of `across`; `null` where it does not matter. */
  readonly x: number | null;
  /** Distance from the top, 0 to 1; `null` where it does not matter. */
  readonly y: number | null;
  /** A text for each of `names`; `null` is left out. */
  readonly cells: readonly (string | null)[];
}

export interface PictureReadings {
  /** Number that `x` counts to. */
  readonly across: number;
  /** `x` is milliseconds since the start of the picture: it can be zoomed, and a point's time is shown. */
  readonly time: boolean;
  /** `before`: a point holds until the next one, as in a step line; `nearest`: the nearest one is meant. */
  readonly snap: "before" | "nearest";
  readonly names: readonly string[];
  readonly points: readonly ReadingPoint[];
}

/** Heights are written in thousandths. */
const heights = 1000;

/**
 * As text for the page: texts that come again, which most do, are written once. A point is x, y, and then for each
 * name the place of its text in `words`, -1 where there is none; `flat` points have no y, and none ends in -1.
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
