// Tables. All are made here, so that on a narrow screen each scrolls sideways instead of the page.
import { type Html, type HtmlContent, html } from "./html.ts";

export interface Column<Row> {
  readonly title: string;
  /** True for right-aligned numbers with digits of equal width. */
  readonly number?: boolean;
  /** True for the row's name, which is a header cell. */
  readonly name?: boolean;
  cell(row: Row): HtmlContent;
}

export interface TableOptions {
  readonly caption: string;
  /** True if the heading above says the same, so that only listeners of the page need the caption. */
  readonly titled?: boolean;
  /** True if each row becomes a block of lines on a narrow screen. */
  readonly stack?: boolean;
  /** Words that open a folded table. Default: "The numbers". */
  readonly opener?: string;
  /** Words on rows that were left out. */
  readonly more?: string | null;
}

export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { caption, titled = false, stack = false, more = null }: TableOptions,
): Html {
  const head = columns.map(
    ({ title, number }) => html`<th scope="col"${number ? html` class="number"` : null}>${title}</th>`,
  );
  const body = rows.map((row) => html`<tr>${columns.map((column) => cell(column, row))}</tr>\n`);
  const marked = stack ? html` class="stack"` : null;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}"><table${marked}><caption${titled ? html` class="spoken"` : null}>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody></table></div>
${more === null ? null : html`<p class="kicker">${more}</p>\n`}`;
}

function cell<Row>(column: Column<Row>, row: Row): Html {
  const content = column.cell(row);
  if (column.name) return html`<th scope="row" class="name"><bdi>${content}</bdi></th>`;
  return column.number ? html`<td class="number">${content}</td>` : html`<td>${content}</td>`;
}

/** Returns a table that opens on demand, beneath its picture. */
export function foldedTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions,
): Html {
  return html`<details><summary>${options.opener ?? "The numbers"}</summary>${table(columns, rows, options)}</details>\n`;
}
