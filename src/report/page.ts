// The report: one HTML file that asks the network for nothing and needs no script.
import type { Verdict } from "../verify/verdict.ts";
import type { Comparison } from "./comparison-section.ts";
import { compare, comparisonPictures, comparisonSection } from "./comparison-section.ts";
import { placesPictures } from "./findings.ts";
import { headSection } from "./head.ts";
import { type Html, html, trusted } from "./html.ts";
import { type Picture, standaloneSvg } from "./picture.ts";
import { refusalPictures, refusalsSection } from "./refusals-section.ts";
import { runSection } from "./run-section.ts";
import { expectationsOf, outcomeOf, type ReportSource, verdictWords } from "./source.ts";
import { pageStyle } from "./style.ts";
import { verdictSection } from "./verdict-section.ts";
import { waitPicture, waitsSection } from "./waits-section.ts";
import { windowPicture, windowsSection } from "./windows-section.ts";

// The browser itself keeps the promise that nothing is fetched and no script runs.
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/**
 * The whole report as one HTML text; the same bytes for the same input.
 * @param other the other run of the same scenario: the simulator's beside k6's
 */
export function renderReport(source: ReportSource, other: ReportSource | null = null): string {
  const comparison: Comparison | null = other === null ? null : compare(source, other);
  const { record, verdict } = source.run;
  return page({
    title: `${outcomeOf(source.run) === "bad" ? "✗ " : ""}${record.scenario.name}: spillway report`,
    description: `${verdictWords(verdict)}. ${record.scenario.description ?? ""}`.trim(),
    version: record.versions["spillway"] ?? "",
    madeFrom: "a run's folder: run.json, trace.ndjson, verdict.json and summary.json",
    body: html`${headSection(source)}<main>
${verdictSection({ verdict, expectations: expectationsOf(source.run) })}${refusalsSection(source)}${windowsSection(source)}${waitsSection(source)}${
  comparison === null ? null : comparisonSection(comparison)
}${runSection(source)}</main>
`,
  });
}

/**
 * A verdict alone, for a trace that is no run of ours.
 * @param name what was judged, as its owner calls it
 */
export function renderVerdict(name: string, verdict: Verdict, version: string): string {
  const bad = verdict.verdict === "violated";
  const words = verdictWords(verdict);
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
${verdictSection({ verdict, expectations: [] })}</main>
`,
  });
}

interface Page {
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly madeFrom: string;
  readonly body: Html;
}

const page = ({ title, description, version, madeFrom, body }: Page): string =>
  html`<!doctype html>
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
</body>
</html>
`.text;

/** Each picture of the report as an SVG file of its own, by name. */
export function renderCharts(source: ReportSource, other: ReportSource | null = null): Map<string, string> {
  const waits = waitPicture(source.run.summary);
  const pictures: Picture[] = [
    ...(source.run.verdict === null ? [] : placesPictures(source.run.verdict)),
    ...refusalPictures(source),
    ...source.series.windows.map((one, index) => windowPicture(one, index, source.series)),
    ...(waits === null ? [] : [waits]),
    ...(other === null ? [] : comparisonPictures(compare(source, other))),
  ];
  return new Map(pictures.map((picture) => [`${picture.id}.svg`, standaloneSvg(picture)]));
}
