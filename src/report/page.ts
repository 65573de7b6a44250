// The pages about a run, and about a verdict alone.
import type { Policy } from "../policy/policy.ts";
import { shortName } from "../rules/printable.ts";
import type { Verdict } from "../verify/verdict.ts";
import type { Comparison } from "./comparison-section.ts";
import { compare, comparisonSection } from "./comparison-section.ts";
import { type Page, page } from "./frame.ts";
import { headSection } from "./head.ts";
import { html } from "./html.ts";
import { Gallery } from "./picture.ts";
import { refusalsSection } from "./refusals-section.ts";
import { runSection } from "./run-section.ts";
import { expectationsOf, outcomeOf, type ReportSource, verdictTones, verdictWords } from "./source.ts";
import { timelineSection } from "./timeline-section.ts";
import { verdictSection } from "./verdict-section.ts";
import { waitsSection } from "./waits-section.ts";
import { windowsSection } from "./windows-section.ts";

/**
 * Returns the whole report as one HTML text. The same input gives the same bytes.
 * @param other the other run of the same scenario: the simulator's beside k6's
 * @param folder the pictures' folder, relative to the page; `null` if the page names no files
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
    title: `${outcomeOf(source.run) === "bad" ? "✗ " : ""}${shortName(record.scenario.name)}: spillway report`,
    description: `${verdictWords(verdict)}. ${record.scenario.description ?? ""}`.trim(),
    version: record.versions["spillway"] ?? "",
    madeFrom: "a run's folder: run.json, trace.ndjson, verdict.json and summary.json",
    body: html`${headSection(source)}<main>
${verdictSection({ verdict, expectations: expectationsOf(source.run), gallery, policy: record.policy })}${refusalsSection(source, gallery)}${windowsSection(source, gallery)}${timelineSection(source, gallery)}${waitsSection(source, gallery)}${
  comparison === null ? null : comparisonSection(comparison, gallery)
}${runSection(source)}</main>
`,
    gallery,
  });
}

/**
 * Returns a verdict alone, for a trace that is not in a run folder.
 * @param name what was judged, in its owner's words
 * @param policy policy that the trace is about, if any
 */
export function renderVerdict(name: string, verdict: Verdict, version: string, policy?: Policy): string {
  const tone = verdictTones[verdict.verdict];
  const words = verdictWords(verdict);
  const gallery = new Gallery(null);
  return page({
    title: `${tone === "bad" ? "✗ " : ""}${name}: spillway verdict`,
    description: words,
    version,
    madeFrom: "a trace",
    body: html`<header>
<p class="kicker">spillway verdict</p>
<h1>${name}</h1>
<div class="verdict ${tone}"><p class="what">${words}</p></div>
</header>
<main>
${verdictSection({ verdict, expectations: [], gallery, policy })}</main>
`,
    gallery,
  }).html;
}
