// Tables: one helper, so that all of them scroll sideways on a narrow screen instead of the page.
import { type Html, type HtmlContent, html } from "./html.ts";

export interface Column<Row> {
  readonly title: string;
  /** Right-aligned, in figures of equal width. */
  readonly number?: boolean;
  /** The row's name: a header cell. */
  readonly name?: boolean;
  cell(row: Row): HtmlContent;
}

export interface TableOptions {
  readonly caption: string;
  /** The heading above says it already: the caption is for those who hear the page. */
  readonly titled?: boolean;
  /** Each row becomes a block of lines on a narrow screen. */
  readonly stack?: boolean;
  /** Words that a folded table is opened by; "The numbers" where it is left out. */
  readonly opener?: string;
  /** Words where rows were left out. */
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

/** A table that opens on demand, beneath its picture. */
export function foldedTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions,
): Html {
  return html`<details><summary>${options.opener ?? "The numbers"}</summary>${table(columns, rows, options)}</details>\n`;
}
