// Parts that pages are made of.
import { type Html, html } from "./html.ts";

export type ResultTone = "good" | "bad" | "none";

export interface Head {
  /** Kind of the page, and its time. */
  readonly kicker: string;
  readonly title: string;
  readonly lead: string | null;
  readonly outcome: ResultTone;
  /** The answer, shown first. */
  readonly answer: string;
  readonly details: readonly string[];
  /** Further facts that the reader must know. */
  readonly notes: readonly string[];
  readonly key: readonly KeyFigure[];
}

export type KeyFigure = readonly [name: string, value: string, detail: string];

export function head({ kicker, title, lead, outcome, answer, details, notes, key }: Head): Html {
  const paragraph = (sentence: string): Html => html`<p>${sentence}</p>\n`;
  return html`<header>
<p class="kicker">${kicker}</p>
<h1><bdi>${title}</bdi></h1>
${lead === null ? null : html`<p class="lead">${lead}</p>\n`}<div class="verdict ${outcome}">
<p class="what">${answer}</p>
${details.map(paragraph)}</div>
${notes.map(paragraph)}${key.length === 0 ? null : keyList(key)}
</header>
`;
}

/** Returns the list of the few figures that matter most. */
export const keyList = (entries: readonly KeyFigure[]): Html =>
  html`<dl class="key">${entries.map(
    ([name, value, detail]) => html`<div><dt>${name}</dt><dd>${value}<small>${detail}</small></dd></div>\n`,
  )}</dl>`;

export const factList = (facts: readonly (readonly [name: string, value: string])[]): Html =>
  html`<dl class="facts">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
