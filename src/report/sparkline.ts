// A window's counts as one line of text.
import type { Point } from "../summary/series.ts";

const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/**
 * Draws a step line in block characters, each the highest count of its span of time. A space stands for 0.
 * @param counts counts that each hold until the next point
 * @param most count of a full block; a greater count is drawn as full
 * @param width number of characters
 */
export function sparkline(counts: readonly Point[], lengthMs: number, most: number, width: number): string {
  const highest = Array.from({ length: width }, () => 0);
  for (const [index, [atMs, value]] of counts.entries()) {
    const untilMs = counts[index + 1]?.[0] ?? lengthMs;
    const from = Math.min(width - 1, Math.floor((atMs / lengthMs) * width));
    const to = Math.min(width - 1, Math.max(from, Math.ceil((untilMs / lengthMs) * width) - 1));
    for (let slot = from; slot <= to; slot++) highest[slot] = Math.max(highest[slot] as number, value);
  }
  return highest.map((value) => barOf(value, most)).join("");
}

function barOf(value: number, most: number): string {
  if (value <= 0) return " ";
  const step = Math.ceil((Math.min(value, most) / most) * bars.length);
  return bars[step - 1] ?? bars[0];
}
