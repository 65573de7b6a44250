// Rows of CSV: fields between commas, semicolons or tabs, in quotes where they hold one of these. A quote that is not
// closed on its line makes that line unreadable, rather than swallow the lines behind it.
import { newline } from "../blocks.ts";
import { type Cells, NO_ROLE, roles } from "./cells.ts";
import { ColumnRoles, type LineFormat, NOT_SCANNED, type ParsedLine } from "./line-format.ts";

const [quoteMark, carriageReturn] = [0x22, 0x0d] as const;

export const separators = [",", ";", "\t"] as const;
export type Separator = (typeof separators)[number];

export class CsvFormat implements LineFormat {
  readonly isRow = true;
  readonly #separator: number;
  readonly #separatorText: Separator;
  readonly #roles: ColumnRoles;

  /** @param columns of each column its role, or `null` */
  constructor(separator: Separator, columns: readonly (number | null)[]) {
    this.#separatorText = separator;
    this.#separator = separator.charCodeAt(0);
    this.#roles = new ColumnRoles(columns);
  }

  scan(view: DataView, from: number, cells: Cells): number {
    const separator = this.#separator;
    const columnRoles = this.#roles;
    cells.view = view;
    let column = 0;
    let start = from;
    for (let at = from; ; at++) {
      const byte = view.getUint8(at);
      // Quotes, separators and line ends are all below this; most bytes are not.
      if (byte > 0x3b) continue;
      if (byte === separator || byte === newline) {
        const role = columnRoles.of(column);
        if (role !== NO_ROLE) {
          cells.from[role] = start;
          cells.to[role] = at;
        }
        column += 1;
        start = at + 1;
        if (byte === newline) return column === columnRoles.count ? start : NOT_SCANNED;
      } else if (byte === quoteMark || byte === carriageReturn) {
        const isEnd = byte === carriageReturn && view.getUint8(at + 1) === newline;
        if (!isEnd) return NOT_SCANNED;
        const role = columnRoles.of(column);
        if (role !== NO_ROLE) {
          cells.from[role] = start;
          cells.to[role] = at;
        }
        return column + 1 === columnRoles.count ? at + 2 : NOT_SCANNED;
      }
    }
  }

  parse(line: string): ParsedLine {
    const fields = splitCsv(line, this.#separatorText);
    if (fields === null) return { why: "a quote is not closed on its line" };
    const { count } = this.#roles;
    if (fields.length !== count)
      return { why: `it has ${fields.length} ${fields.length === 1 ? "column" : "columns"}, not ${count}` };
    const texts = new Array<string | undefined>(roles.length).fill(undefined);
    for (const [column, field] of fields.entries()) {
      const role = this.#roles.of(column);
      if (role !== NO_ROLE) texts[role] = field;
    }
    return texts;
  }
}

/** A line's fields; `null` where its quotes are not in order. */
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
