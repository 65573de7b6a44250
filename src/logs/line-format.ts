// A format of lines: it tells where a line's fields stand. The fast way takes lines as they mostly are, straight
// from their bytes; any other line goes the slow way, as a text, which also says what is wrong with it.
import { type Cells, NO_ROLE } from "./cells.ts";

/** `scan` leaves the line to `parse`. */
export const NOT_SCANNED = -1;

/** Result of `parse` for a line: its fields' texts by role; or why it is no row. */
export type ParsedLine = readonly (string | undefined)[] | { readonly why: string } | "no row";

/** A field by its name, of JSON by the keys that lead to it, and its role. */
export interface NamedColumn {
  readonly path: readonly string[];
  readonly role: number;
}

export interface LineFormat {
  /**
   * Finds the fields of the line that begins at `from`; a newline stands at its end.
   * @returns where the next line begins; `NOT_SCANNED`
   */
  scan(view: DataView, from: number, cells: Cells): number;
  /** Must read whatever `scan` takes as `scan` does. @param line without its newline */
  parse(line: string): ParsedLine;
  /** True if the line that `scan` took last is a row; what is none is passed over. */
  readonly isRow: boolean;
}

/** The role of each column, by its number. */
export class ColumnRoles {
  readonly #roles: Uint8Array;
  readonly count: number;

  /** @param roles of each column its role, or `null` */
  constructor(roles: readonly (number | null)[]) {
    this.count = roles.length;
    this.#roles = Uint8Array.from(roles, (role) => role ?? NO_ROLE);
  }

  of(column: number): number {
    return this.#roles[column] ?? NO_ROLE;
  }
}
