// Durations as people write and read them, in one place: scenarios, expected bounds and the command line take the same
// words.
export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: minuteMs, h: hourMs };

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

const readWords = durationReader({ min: minuteMs }, " ?");

/** Returns `350 ms`, `1.24 s`, `12.4 s`, `2 min 5 s`, `3 h 20 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${Math.round(ms / (ms < 9995 ? 10 : 100)) / (ms < 9995 ? 100 : 10)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return joined(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  return joined(Math.floor(minutes / 60), "h", minutes % 60, "min");
}

function joined(most: number, mostUnit: string, least: number, leastUnit: string): string {
  return least === 0 ? `${most} ${mostUnit}` : `${most} ${mostUnit} ${least} ${leastUnit}`;
}

/** Returns a duration in words if they are exact, as `2 min 5 s` may be; else all its digits, in seconds. */
export function exactDuration(ms: number): string {
  const text = duration(ms);
  return readWords(text) === ms ? text : `${ms / 1000} s`;
}
