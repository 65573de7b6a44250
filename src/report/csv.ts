// The numbers of a picture as CSV (RFC 4180), for spreadsheets and scripts.
import { printableLines } from "../rules/printable.ts";

/** A cell: text, a number in its column's unit, or nothing. */
export type Cell = string | number | null;

/** Numbers as data: rows under named columns. Units stand last in a column's name: `at_ms`, `refused_share`. */
export interface DataTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Returns the table as text, with lines that end in CR LF. The same input gives the same bytes. */
export function renderCsv({ columns, rows }: DataTable): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(",")}\r\n`).join("");
}

/**
 * Returns a cell as CSV. Spreadsheets take text for a formula if it begins like one, and a user's name may be anything.
 * Such text gets an apostrophe before it, as OWASP advises. Numbers stay as they are.
 */
function field(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = printableLines(/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
