// A format of lines, which finds a line's fields. The fast way reads usual lines from their bytes. Any other line goes
// the slow way, as a text, which also tells what is wrong with it.
import { type Cells, NO_ROLE } from "./cells.ts";

/** Result of `scan` for a line that is left to `parse`. */
export const NOT_SCANNED = -1;

/** Result of `parse`: the texts of a line's fields by role, or why it is no row. */
export type ParsedLine = readonly (string | undefined)[] | { readonly why: string } | "no row";

/** A field by its name (in JSON: the keys that lead to it), with its role. */
export interface NamedColumn {
  readonly path: readonly string[];
  readonly role: number;
}

export interface LineFormat {
  /**
   * Finds the fields of the line that begins at `from`; a newline stands at its end.
   * @returns where the next line begins, or `NOT_SCANNED`
   */
  scan(view: DataView, from: number, cells: Cells): number;
  /** Reads a line; must read every line that `scan` takes as `scan` does. @param line text without its newline */
  parse(line: string): ParsedLine;
  /** True if the line that `scan` took last is a row; other lines are skipped. */
  readonly isRow: boolean;
}

export class ColumnRoles {
  readonly #roles: Uint8Array;
  readonly count: number;

  /** @param roles role of each column, or `null` */
  constructor(roles: readonly (number | null)[]) {
    this.count = roles.length;
    this.#roles = Uint8Array.from(roles, (role) => role ?? NO_ROLE);
  }

  of(column: number): number {
    return this.#roles[column] ?? NO_ROLE;
  }
}
