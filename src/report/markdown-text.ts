// Markdown that is safe from injection: names from a run, a log or a scenario may be anything.
import { printable, printableLines } from "../rules/printable.ts";

/** Returns text that is harmless in a table cell: no markup, no mention of people, no new line. */
export function plain(text: string): string {
  return printable(text)
    .replace(/[\\`*_[\]<>#!|~@&]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/\s+/g, " ");
}

/** Returns text in backticks that the text itself cannot close. */
export const code = (text: string): string => `\`${printable(text).replace(/[`|]/g, "'")}\``;

/** Returns text in a block of its own, unchanged. The fence is longer than any within. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}sh\n${printableLines(text)}\n${fence}`;
}

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = titles.map((_, index) => (index === 0 ? "---" : "---:"));
  return [row(titles), row(rule), ...rows.map(row)].join("\n");
}

export const marks = { good: "✅", bad: "❌", none: "➖" } as const;
