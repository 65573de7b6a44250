// Durations as people write them, read in one place: scenarios, expected bounds and the command line take the same
// words.
const syntax = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const msOfUnit: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * Reads `"5m"`, `"1m30s"`, `"0.25s"`, `"250ms"`.
 * @returns milliseconds, to the nearest millionth; `null` if the text is no duration
 */
export function parseDuration(text: string): number | null {
  if (!syntax.test(text)) return null;
  let ms = 0;
  for (const [, amount = "", unit = ""] of text.matchAll(/([\d.]+)(ms|s|m|h)/g))
    ms += Number(amount) * (msOfUnit[unit] as number);
  // Removes rounding errors: 1.1 * 1000 is 1100.0000000000002.
  return Math.round(ms * 1_000_000) / 1_000_000;
}
