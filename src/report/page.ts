// The report: one HTML file that asks the network for nothing and is whole without its script.
import type { Verdict } from "../verify/verdict.ts";
import type { Comparison } from "./comparison-section.ts";
import { compare, comparisonSection } from "./comparison-section.ts";
import { headSection } from "./head.ts";
import { type Html, html, trusted } from "./html.ts";
import { pageScript, scriptHash } from "./page-script.ts";
import { Gallery } from "./picture.ts";
import { refusalsSection } from "./refusals-section.ts";
import { runSection } from "./run-section.ts";
import { expectationsOf, outcomeOf, type ReportSource, verdictWords } from "./source.ts";
import { pageStyle } from "./style.ts";
import { timelineSection } from "./timeline-section.ts";
import { verdictSection } from "./verdict-section.ts";
import { waitsSection } from "./waits-section.ts";
import { windowsSection } from "./windows-section.ts";

// The browser itself keeps the promise that nothing is fetched and no script runs but the one below.
const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '${scriptHash}'`;

/** A page and the pictures in it. */
export interface Page {
  readonly html: string;
  /** Each picture as SVG and its numbers as CSV, by file name; worked out when it is asked for. */
  files(): ReadonlyMap<string, string>;
}

/**
 * The whole report as one HTML text; the same bytes for the same input.
 * @param other the other run of the same scenario: the simulator's beside k6's
 * @param folder where the pictures' files are to stand, seen from the page; `null`: the page names none
 */
export function renderReport(
  source: ReportSource,
  other: ReportSource | null = null,
  folder: string | null = null,
): Page {
  const gallery = new Gallery(folder);
  const comparison: Comparison | null = other === null ? null : compare(source, other);
  const { record, verdict } = source.run;
  return page({
    title: `${outcomeOf(source.run) === "bad" ? "✗ " : ""}${record.scenario.name}: spillway report`,
    description: `${verdictWords(verdict)}. ${record.scenario.description ?? ""}`.trim(),
    version: record.versions["spillway"] ?? "",
    madeFrom: "a run's folder: run.json, trace.ndjson, verdict.json and summary.json",
    body: html`${headSection(source)}<main>
${verdictSection({ verdict, expectations: expectationsOf(source.run), gallery })}${refusalsSection(source, gallery)}${windowsSection(source, gallery)}${timelineSection(source, gallery)}${waitsSection(source, gallery)}${
  comparison === null ? null : comparisonSection(comparison, gallery)
}${runSection(source)}</main>
`,
    gallery,
  });
}

/**
 * A verdict alone, for a trace that is no run of ours.
 * @param name what was judged, as its owner calls it
 */
export function renderVerdict(name: string, verdict: Verdict, version: string): string {
  const bad = verdict.verdict === "violated";
  const words = verdictWords(verdict);
  const gallery = new Gallery(null);
  return page({
    title: `${bad ? "✗ " : ""}${name}: spillway verdict`,
    description: words,
    version,
    madeFrom: "a trace",
    body: html`<header>
<p class="kicker">spillway verdict</p>
<h1>${name}</h1>
<div class="verdict ${bad ? "bad" : verdict.verdict === "ok" ? "good" : "none"}"><p class="what">${words}</p></div>
</header>
<main>
${verdictSection({ verdict, expectations: [], gallery })}</main>
`,
    gallery,
  }).html;
}

interface PageParts {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly madeFrom: string;
  readonly body: Html;
  readonly gallery: Gallery;
}

export function page({ title, description, version, madeFrom, body, gallery }: PageParts): Page {
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="spillway ${version}">
<meta name="description" content="${description}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trusted(pageStyle)}</style>
</head>
<body>
${body}<footer><p>Made by spillway ${version} from ${madeFrom}.</p></footer>
<script>${trusted(pageScript)}</script>
</body>
</html>
`.text;
  return { html: text, files: () => gallery.files() };
}
