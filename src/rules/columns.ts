// Columns of text on a terminal, which draws some letters twice as wide as others and some not at all.

/** Letters that take two columns: East Asian wide and full-width ones (UAX #11), and emoji. */
const wide =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18d08}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
/** Marks upon other letters, joiners, and other characters that take no column. */
const unseen = /[\p{Mn}\p{Me}\p{Cf}]/gu;

/** Text whose letters take a column each. */
const plain = /^[\x20-\x7e]*$/;
/** Parts text into letters. It takes milliseconds to make, so that only text that needs it makes it. */
let letters: Intl.Segmenter | undefined;

/** Returns the number of a terminal's columns that text takes. */
export function displayWidth(text: string): number {
  if (plain.test(text)) return text.length;
  letters ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let width = 0;
  for (const { segment } of letters.segment(text))
    width += wide.test(segment) ? 2 : [...segment.replace(unseen, "")].length;
  return width;
}

/** Returns text with as many spaces after it as its column has room. */
export const padAfter = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - displayWidth(text)));

interface Alignment {
  /** Columns whose text stands at their right end. */
  readonly right?: readonly number[];
  /** Returns a cell as it is drawn, without codes that take no room. Default: the cell. */
  readonly bare?: (cell: string) => string;
}

/** Aligns rows of cells, each column as wide as its widest cell, with two spaces between them. */
export function columns(
  rows: readonly (readonly string[])[],
  { right = [], bare = (cell) => cell }: Alignment = {},
): string[] {
  const sizes = rows.map((row) => row.map((cell) => displayWidth(bare(cell))));
  const widths: number[] = [];
  for (const size of sizes)
    for (const [at, width] of size.entries()) widths[at] = Math.max(widths[at] ?? 0, width);
  return rows.map((row, place) =>
    row
      .map((cell, at) => {
        const room = " ".repeat((widths[at] ?? 0) - (sizes[place]?.[at] ?? 0));
        return right.includes(at) ? room + cell : cell + room;
      })
      .join("  ")
      .trimEnd(),
  );
}
