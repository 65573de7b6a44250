// Rows of CSV: fields between commas, semicolons, tabs or bars, in quotes if they hold one of these, or a line's end. A
// quote that no line behind it closes makes only its own line unreadable.
import { counted } from "../rules/words.ts";
import { newline } from "../trace/blocks.ts";
import { type Cells, NO_ROLE, roles } from "./cells.ts";
import { ColumnRoles, type LineFormat, NOT_SCANNED, type ParsedLine } from "./line-format.ts";

const [quoteMark, carriageReturn] = [0x22, 0x0d] as const;

const [PLAIN, SEPARATOR, LINE_END, CARRIAGE_RETURN, QUOTE] = [0, 1, 2, 3, 4] as const;

/** Reason why a line is no row, or not yet: a field in quotes may go on behind it. */
export const unclosedQuote = "a quote is not closed on its line";
/** Greatest number of lines of one row. */
export const linesOfRowMost = 100;

export const separators = [",", ";", "\t", "|"] as const;
export type Separator = (typeof separators)[number];

export class CsvFormat implements LineFormat {
  readonly isRow = true;
  /** Meaning of each byte. */
  readonly #marks = new Uint8Array(256);
  readonly #skip: WordSkip;
  readonly #separatorText: Separator;
  readonly #roles: ColumnRoles;

  /** @param columns role of each column, or `null` */
  constructor(separator: Separator, columns: readonly (number | null)[]) {
    this.#separatorText = separator;
    this.#marks[separator.charCodeAt(0)] = SEPARATOR;
    this.#skip = new WordSkip(1 + Math.max(separator.charCodeAt(0), quoteMark));
    this.#marks[newline] = LINE_END;
    this.#marks[carriageReturn] = CARRIAGE_RETURN;
    this.#marks[quoteMark] = QUOTE;
    this.#roles = new ColumnRoles(columns);
  }

  scan(view: DataView, from: number, cells: Cells): number {
    const marks = this.#marks;
    const skip = this.#skip;
    const columnRoles = this.#roles;
    cells.view = view;
    let column = 0;
    let start = from;
    for (let at = from; ; at++) {
      at = skip.over(view, at);
      let mark = marks[view.getUint8(at)];
      for (; mark === PLAIN; mark = marks[view.getUint8(at)]) at += 1;
      if (mark === QUOTE) return NOT_SCANNED;
      const isCrLf = mark === CARRIAGE_RETURN;
      if (isCrLf && view.getUint8(at + 1) !== newline) return NOT_SCANNED;
      const role = columnRoles.of(column);
      if (role !== NO_ROLE) {
        cells.from[role] = start;
        cells.to[role] = at;
      }
      column += 1;
      start = at + 1;
      if (mark !== SEPARATOR) return column === columnRoles.count ? start + (isCrLf ? 1 : 0) : NOT_SCANNED;
    }
  }

  parse(line: string): ParsedLine {
    const fields = splitCsv(line, this.#separatorText);
    if (fields === null) return { why: unclosedQuote };
    const { count } = this.#roles;
    if (fields.length !== count) return { why: `it has ${counted(fields.length, "column")}, not ${count}` };
    const texts = new Array<string | undefined>(roles.length).fill(undefined);
    for (const [column, field] of fields.entries()) {
      const role = this.#roles.of(column);
      if (role !== NO_ROLE) texts[role] = field;
    }
    return texts;
  }
}

/** Tells whether a row goes on behind a text: its quotes are of an odd number, as each one in a field is doubled. */
export const isOpen = (text: string): boolean => text.split('"').length % 2 === 0;

/** Joins each line whose quotes are open with those behind it that close them. */
export function joinedLines(lines: readonly string[]): string[] {
  const rows: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const first = lines[at] as string;
    let [row, end] = [first, at + 1];
    for (; isOpen(row) && end < lines.length && end - at < linesOfRowMost; end++) row += `\n${lines[end]}`;
    if (isOpen(row)) [row, end] = [first, at + 1];
    rows.push(row);
    at = end;
  }
  return rows;
}

/** Returns the separator that Excel's first line names, `sep=;`; `null` if the line is none. */
export function toldSeparator(line: string): Separator | null {
  const [, told] = /^"?sep=([,;|\t])"?\r?$/i.exec(line) ?? [];
  return (told as Separator | undefined) ?? null;
}

/** Returns a line's fields; `null` if its quotes are wrong. */
export function splitCsv(line: string, separator: Separator): string[] | null {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  const fields: string[] = [];
  for (let at = 0; ; ) {
    let field = "";
    if (text[at] === '"') {
      for (at += 1; ; ) {
        const end = text.indexOf('"', at);
        if (end === -1) return null;
        field += text.slice(at, end);
        at = end + 1;
        if (text[at] !== '"') break;
        field += '"';
        at += 1;
      }
      if (at < text.length && text[at] !== separator) return null;
    } else {
      const end = text.indexOf(separator, at);
      field = text.slice(at, end === -1 ? text.length : end);
      at += field.length;
    }
    fields.push(field);
    if (at >= text.length) return fields;
    at += 1;
  }
}

const highBits = 0x8080_8080 | 0;
const eachByte = 0x0101_0101;

/** Skips ASCII from a byte on. */
class WordSkip {
  readonly #least: number;

  /** @param least least byte that does not matter, from 1 to 0x7f */
  constructor(least: number) {
    this.#least = Math.imul(0x80 - least, eachByte);
  }

  /**
   * Finds the first word that may hold a byte that matters, or one beyond ASCII. For a byte from `least` to 0x7f the
   * sum with 0x80 - least has the highest bit; for a lesser byte it has not. Neither sum carries into the next byte. A
   * byte above 0x7f may carry, but its highest bit is missing in ~word.
   */
  over(view: DataView, from: number): number {
    const least = this.#least;
    let at = from;
    for (let word = view.getInt32(at, true); ((word + least) & ~word & highBits) === highBits; ) {
      at += 4;
      word = view.getInt32(at, true);
    }
    return at;
  }
}
