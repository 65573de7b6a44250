// The report's head: the run, the verdict in a sentence, and the few figures that matter most.

import type { Policy } from "../policy/policy.ts";
import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { capitalized, count, counted } from "../rules/words.ts";
import type { Verdict } from "../verify/verdict.ts";
import { figureText, instant, noteWords, share } from "./format.ts";
import { type Html, html } from "./html.ts";
import { keyList } from "./parts.ts";
import type { Run } from "./run.ts";
import {
  driverWords,
  expectationsOf,
  headline,
  lawCounts,
  missedWords,
  outcomeOf,
  type ReportSource,
  refusalWords,
} from "./source.ts";

export function headSection({ run }: ReportSource): Html {
  const { record, summary } = run;
  const { driver, scenario, interrupted, startedAt, notes } = record;
  const clients = summary.populations.reduce((sum, population) => sum + population.clients, 0);
  const length = duration(summary.endedAt - summary.startedAt);
  return html`<header>
<p class="kicker">spillway report · ${driverWords[driver]} · ${instant(startedAt)}</p>
<h1><bdi>${shortName(scenario.name)}</bdi></h1>
${scenario.description === null ? null : html`<p class="lead">${scenario.description}</p>\n`}<div class="verdict ${outcomeOf(run)}">
<p class="what">${headline(run)}</p>
${verdictDetails(run).map((sentence) => html`<p>${sentence}</p>\n`)}</div>
${interrupted ? html`<p><strong>Interrupted</strong> after ${length} of ${duration(record.durationMs)}; what was done until then is shown.</p>\n` : null}${notes.map((note) => html`<p>${noteWords(note)}</p>\n`)}<p class="lead ran">${counted(clients, "client")} sent ${counted(summary.figures.calls, "call")} in ${length}. ${refusalWords(summary)}</p>
${keyFigures(run)}
</header>
`;
}

function verdictDetails(run: Run): string[] {
  const expectations = expectationsOf(run);
  const missed = expectations.filter(({ held }) => !held);
  // The headline speaks of the expectations if one is missed, else of the laws.
  const lead = missed.length > 0 && run.verdict?.verdict === "ok" ? "No law is broken: " : "";
  const sentences = run.verdict === null ? [] : [lead + judgedWords(run.verdict)];
  if (missed.length > 0) sentences.push(`Missed: ${missed.map(missedWords).join("; ")}.`);
  else if (expectations.length === 1) sentences.push("The scenario's one expectation held.");
  else if (expectations.length > 1)
    sentences.push(`All ${count(expectations.length)} expectations of the scenario held.`);
  return sentences;
}

function judgedWords(verdict: Verdict): string {
  const { held, violated, skipped } = lawCounts(verdict);
  const counts = [
    violated.length > 0 ? `${counted(violated.length, "law")} broken` : "",
    `${counted(held, "law")} held`,
    skipped > 0 ? `${count(skipped)} could not be judged here` : "",
  ].filter((part) => part !== "");
  return `${counts.join(", ")}, over ${counted(verdict.records, "record")}.`;
}

/** Returns the title and the note of what admitted calls of declared cost used. */
function pointsWords(policy: Policy | undefined): [title: string, note: string] {
  if (policy === undefined) return ["GraphQL points", "charged to admitted queries"];
  const declared = Object.values(policy.operations).flatMap(({ uses }) =>
    Object.keys(uses).filter((name) => uses[name] === "declared"),
  );
  const [unit, ...others] = new Set(declared.map((name) => policy.quotas[name]?.unit));
  const title = unit === undefined || others.length > 0 ? "units" : unit;
  return [capitalized(title), "of declared cost, charged to admitted calls"];
}

function keyFigures({ record, summary }: Run): Html {
  const { figures } = summary;
  const users = counted(summary.usersSeen, "user");
  const entries: [string, string, string][] = [
    ["Calls admitted", figureText("admitted", figures.admitted), `of ${count(figures.calls)} sent`],
    [
      "Refused",
      figures.refusedShare === null ? "–" : share(figures.refusedShare),
      figures.gaveUp === 0
        ? "no job was refused for good"
        : `${counted(figures.gaveUp, "job")} never got through`,
    ],
    [
      "Wait, 95th percentile",
      figureText("waitP95Ms", figures.waitP95Ms),
      figures.waitP50Ms === null ? "nothing was answered" : `half within ${duration(figures.waitP50Ms)}`,
    ],
    ["Fairness", figureText("fairness", figures.fairness), `over ${users}; 1 is even`],
  ];
  if (figures.unanswered > 0)
    entries.push([
      "Unanswered",
      figureText("unanswered", figures.unanswered),
      "time-outs, broken connections",
    ]);
  if (figures.points > 0) {
    const [title, note] = pointsWords(record.policy);
    entries.push([title, figureText("points", figures.points), note]);
  }
  return keyList(entries);
}
