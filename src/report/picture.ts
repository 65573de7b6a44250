// A picture in a page: two drawings of which the style shows one, a description, a legend, and readings at each point.
// The same picture and its numbers are files beside the page.
import { type DataTable, renderCsv } from "./csv.ts";
import type { Size } from "./echarts.ts";
import { escapeMarkup, type Html, html, trusted } from "./html.ts";
import { encodeReadings, type PictureReadings } from "./readings.ts";
import { standaloneStyle } from "./style.ts";

/** Screen that a drawing is for. Each picture is drawn for both. */
export type Layout = "wide" | "narrow";
const layouts: readonly Layout[] = ["wide", "narrow"];

export interface Picture {
  /** Unique in its page, since a drawing refers to its parts by it. It also names the picture's files. */
  readonly id: string;
  readonly title: string;
  /** Description with the numbers, for readers who do not see the picture. */
  readonly label: string;
  readonly legend: readonly LegendEntry[];
  /** Numbers of the picture. */
  readonly data: DataTable;
  readonly readings: PictureReadings;
  /** @param id unique in its page, another one for each layout */
  draw(id: string, layout: Layout): Drawing;
}

export interface LegendEntry {
  readonly name: string;
  readonly swatch: "line" | "dashed" | "area";
  readonly color: string;
}

/** Distances of a drawing's plot from its edges. */
export interface Margins {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A drawing as markup, in parts. */
export interface Drawing {
  readonly size: Size;
  readonly margins: Margins;
  /** Parts that stay in place: axes, grid lines, names. */
  readonly frame: string;
  /** Parts that a zoom stretches from left to right; empty if there is no zoom. */
  readonly plot: string;
  /** Parts that a zoom writes anew: the times below. */
  readonly times: string;
}

/** Returns the drawing inside an `<svg>`. The plot is cut off at its edges, and has its own view box for zooming. */
function compose({ size, margins, frame, plot, times }: Drawing): string {
  const { left, right } = margins;
  const width = size.width - left - right;
  const stretched =
    plot === ""
      ? ""
      : `<svg class="plot" aria-hidden="true" x="${left}" y="0" width="${width}" height="${size.height}" viewBox="${left} 0 ${width} ${size.height}" preserveAspectRatio="none">\n${plot}</svg>\n`;
  const below = times === "" ? "" : `<g class="times">${times}</g>\n`;
  return `${frame}${stretched}${below}`;
}

/** Draws a page's pictures, and keeps them for the files beside it. */
export class Gallery {
  readonly #folder: string | null;
  readonly #drawn: { readonly picture: Picture; readonly wide: Drawing }[] = [];

  /** @param folder folder of the files, relative to the page; `null` for no files */
  constructor(folder: string | null) {
    this.#folder = folder;
  }

  /** Returns the picture with its legend and its files, as the page has it. */
  draw(picture: Picture): Html {
    const drawings = layouts.map((layout) => {
      const drawing = picture.draw(`${picture.id}-${layout}`, layout);
      if (layout === "wide") this.#drawn.push({ picture, wide: drawing });
      const { size, margins } = drawing;
      const { left, right, top, bottom } = margins;
      const plot = [left, top, size.width - right, size.height - bottom].join(" ");
      return html`<svg class="${layout}" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${picture.label}" data-plot="${plot}">
${trusted(compose(drawing))}</svg>
`;
    });
    const readings = encodeReadings(picture.readings);
    return html`${drawLegend(picture.legend)}<div class="picture" id="picture-${picture.id}" data-readings="${readings}">${drawings}</div>${this.#links(picture)}`;
  }

  #links({ id, title }: Picture): Html | null {
    if (this.#folder === null) return null;
    const link = (end: string): Html =>
      html`<a href="${`${this.#folder}/${id}.${end}`}"><span class="spoken">${title} as </span>${end.toUpperCase()}</a>`;
    return html`<p class="files">${link("svg")} ${link("csv")}</p>`;
  }

  /** Returns the files of all pictures that were drawn, by name. */
  files(): Map<string, string> {
    return new Map(
      this.#drawn.flatMap(({ picture, wide }) => [
        [`${picture.id}.svg`, standaloneSvg(picture, wide)],
        [`${picture.id}.csv`, renderCsv(picture.data)],
      ]),
    );
  }
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

/** Returns the picture as a file of its own, with its colours, which follow the reader's light or dark. */
function standaloneSvg(picture: Picture, drawing: Drawing): string {
  const { width, height } = drawing.size;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escapeMarkup(picture.title)}</title>
<desc>${escapeMarkup(picture.label)}</desc>
<style>${standaloneStyle}</style>
${compose(drawing)}</svg>
`;
}
