// Rows of NDJSON: one object a line, with wanted members by their paths.
import { type Cells, roles, SELECT, SELECT_TOO } from "./cells.ts";
import { WantedMembers } from "./json-members.ts";
import { JsonScanner } from "./json-scanner.ts";
import { type LineFormat, type NamedColumn, NOT_SCANNED, type ParsedLine } from "./line-format.ts";

/** Texts that `SELECT` and `SELECT_TOO` must have for a line to be a row. */
export type Selected = readonly [string, string] | null;

export class JsonLinesFormat implements LineFormat {
  readonly #columns: readonly NamedColumn[];
  readonly #scanner: JsonScanner;
  readonly #selected: Selected;
  isRow = true;

  constructor(columns: readonly NamedColumn[], selected: Selected = null) {
    this.#columns = columns;
    this.#selected = selected;
    const wanted = new WantedMembers();
    for (const { path, role } of columns) wanted.add(path, role);
    this.#scanner = new JsonScanner(wanted);
  }

  scan(view: DataView, from: number, cells: Cells): number {
    const next = this.#scanner.scan(view, from, cells);
    if (this.#selected !== null && next !== NOT_SCANNED)
      this.isRow = isText(cells, SELECT, this.#selected[0]) && isText(cells, SELECT_TOO, this.#selected[1]);
    return next;
  }

  parse(line: string): ParsedLine {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return { why: "it is no JSON" };
    }
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { why: "it is no JSON object" };
    const texts = new Array<string | undefined>(roles.length).fill(undefined);
    for (const { path, role } of this.#columns) texts[role] = textOfValue(memberOf(value, path));
    if (
      this.#selected !== null &&
      (texts[SELECT] !== this.#selected[0] || texts[SELECT_TOO] !== this.#selected[1])
    )
      return "no row";
    return texts;
  }
}

function isText({ view, from, to }: Cells, role: number, text: string): boolean {
  const start = from[role] as number;
  if ((to[role] as number) - start !== text.length) return false;
  for (let index = 0; index < text.length; index++)
    if (view.getUint8(start + index) !== text.charCodeAt(index)) return false;
  return true;
}

export function memberOf(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

/** Returns a member as a field's text; `undefined` for an object. */
export function textOfValue(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return undefined;
}
