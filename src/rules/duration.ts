// Durations as people write them, read in one place: scenarios, expected bounds and the command line take the same
// words.
const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Returns a reader of amounts with units behind them, such as `1m30s`.
 * @param more milliseconds of further units than `ms`, `s`, `m` and `h`
 * @param gap pattern of what may stand behind an amount and behind a unit
 * @returns milliseconds, to the nearest millionth; `null` if the text is no duration
 */
export function durationReader(
  more: Readonly<Record<string, number>> = {},
  gap = "",
): (text: string) => number | null {
  const ofUnit = { ...msOfUnit, ...more };
  const units = Object.keys(ofUnit)
    .sort((a, b) => b.length - a.length)
    .join("|");
  const syntax = new RegExp(`^(?:\\d+(?:\\.\\d+)?${gap}(?:${units})${gap})+$`);
  const part = new RegExp(`([\\d.]+)${gap}(${units})`, "g");
  return (text) => {
    if (!syntax.test(text)) return null;
    let ms = 0;
    for (const [, amount = "", unit = ""] of text.matchAll(part))
      ms += Number(amount) * (ofUnit[unit] as number);
    // Removes rounding errors: 1.1 * 1000 is 1100.0000000000002.
    return Math.round(ms * 1_000_000) / 1_000_000;
  };
}

/**
 * Reads `"5m"`, `"1m30s"`, `"0.25s"`, `"250ms"`.
 * @returns milliseconds, to the nearest millionth; `null` if the text is no duration
 */
export const parseDuration = durationReader();

const readWords = durationReader({ min: 60_000 }, " ?");

/** Returns the text of a duration if it is exact, as `2.5 min` may be; else all its digits, in seconds. */
export const exactDuration = (ms: number, text: string): string =>
  readWords(text) === ms ? text : `${ms / 1000} s`;
