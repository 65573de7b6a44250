// A picture in a page: two drawings of which the style shows one, what it says in words, its legend.
import { type Layout, layouts } from "./charts.ts";
import { type ChartOption, drawChart, type Size } from "./echarts.ts";
import { escapeMarkup, type Html, html, trusted } from "./html.ts";
import { standaloneStyle } from "./style.ts";

export interface Picture {
  /** Unique in its page, for what a drawing refers to within itself; and a file's name. */
  readonly id: string;
  readonly title: string;
  /** What it shows, in numbers, for those who do not see it. */
  readonly label: string;
  readonly legend: readonly LegendEntry[];
  option(layout: Layout): ChartOption;
  size(layout: Layout): Size;
}

export interface LegendEntry {
  readonly name: string;
  readonly swatch: "line" | "dashed" | "area";
  readonly color: string;
}

/** The picture with its legend, as it stands in the page. */
export function drawPicture(picture: Picture): Html {
  const drawings = layouts.map((layout) => {
    const { width, height } = picture.size(layout);
    const content = drawChart(`${picture.id}-${layout}`, picture.option(layout), { width, height });
    return html`<svg class="${layout}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${picture.label}">
${trusted(content)}</svg>
`;
  });
  return html`${drawLegend(picture.legend)}<div class="picture">${drawings}</div>`;
}

function drawLegend(entries: readonly LegendEntry[]): Html | null {
  if (entries.length === 0) return null;
  const items = entries.map(
    ({ name, swatch, color }) =>
      html`<li><span class="swatch ${swatch}" style="--swatch: ${color}"></span>${name}</li>`,
  );
  return html`<ul class="legend" aria-hidden="true">${items}</ul>
`;
}

/** The picture as a file of its own, which brings its colours along and follows the reader's light or dark. */
export function standaloneSvg(picture: Picture): string {
  const { width, height } = picture.size("wide");
  const content = drawChart(picture.id, picture.option("wide"), { width, height });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escapeMarkup(picture.title)}</title>
<desc>${escapeMarkup(picture.label)}</desc>
<style>${standaloneStyle}</style>
${content}</svg>
`;
}
