// summary.md: a run as a comment on a pull request, with the verdict, what was missed or broken, and the figures.

import { duration } from "../rules/duration.ts";
import { lawNames } from "../rules/laws.ts";
import { shortName } from "../rules/printable.ts";
import { counted } from "../rules/words.ts";
import type { Figures } from "../summary/summary.ts";
import type { Verdict } from "../verify/verdict.ts";
import { figuresTold, figureText, instant, noteWords } from "./format.ts";
import { code, fenced, marks, plain, table } from "./markdown-text.ts";
import type { Run } from "./run.ts";
import {
  driverWords,
  expectationsOf,
  figureOf,
  headline,
  lawCounts,
  outcomeOf,
  ownerWords,
  refusalWords,
  verdictTones,
  verdictWords,
} from "./source.ts";
import {
  amountWords,
  evidenceWords,
  inferredWords,
  leftOut,
  methodWords,
  notJudgedWords,
  otherQuotaWords,
  questionWords,
} from "./verdict-words.ts";

/**
 * Returns the run in Markdown.
 * @param other the other run of a comparison, which gets its own column
 */
export function renderMarkdown(run: Run, other: Run | null = null): string {
  const { record, summary } = run;
  const blocks = [
    `## ${marks[outcomeOf(run)]} ${plain(shortName(record.scenario.name))}: ${plain(headline(run))}`,
    `${driverWords[record.driver]}, ${instant(record.startedAt)}, ${duration(summary.endedAt - summary.startedAt)}, seed ${record.seed}${record.interrupted ? ", **interrupted**" : ""}. ${plain(refusalWords(summary))}`,
    ...record.notes.map((note) => plain(noteWords(note))),
    ...(run.verdict === null ? [] : lawBlocks(run.verdict)),
    ...expectationBlock(run),
    figureBlock(run, other),
    populationBlock(run),
    `Repeat it with\n\n${fenced(record.command)}`,
  ];
  return `${blocks.join("\n\n")}\n`;
}

/**
 * Returns a verdict alone in Markdown.
 * @param name what was judged, in its owner's words
 */
export function renderVerdictMarkdown(name: string, verdict: Verdict): string {
  const mark = marks[verdictTones[verdict.verdict]];
  const over = `${counted(verdict.records, "record")} in ${counted(verdict.windows, "window")}.`;
  const blocks = [`## ${mark} ${plain(name)}: ${plain(verdictWords(verdict))}`, over, ...lawBlocks(verdict)];
  return `${blocks.join("\n\n")}\n`;
}

/** Number of violations that fit into a comment on a pull request; the verdict has the others. */
const violationsListed = 20;

function lawBlocks(verdict: Verdict): string[] {
  const { held, violated, skipped } = lawCounts(verdict);
  const { accepted = [], inferred = [] } = verdict;
  const shown = verdict.violations.slice(0, violationsListed);
  const more = verdict.violations.length - shown.length + leftOut(verdict);
  const said = [
    `${counted(held, "law")} held, ${violated.length} broken, ${skipped} could not be judged here.`,
    methodWords(verdict),
    amountWords(verdict),
    otherQuotaWords(verdict),
    ...notJudgedWords(verdict),
    ...accepted.map(({ expectation, explanation }) => `Accepted, as ${expectation} asks: ${explanation}`),
  ].filter((words) => words !== "");
  const violations = shown.map((violation) => {
    const { law, explanation, lines, suspects } = violation;
    const place =
      lines.length === 0 ? "" : ` (trace ${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")})`;
    const guess = suspects.length === 0 ? "" : `; likely ${code(suspects.slice(0, 3).join(", "))}`;
    return `- **${plain(shortName(law))}**, ${plain(ownerWords(violation))}: ${plain(explanation)}${place}${guess}`;
  });
  return [
    plain(said.join(" ")),
    violations.join("\n"),
    more > 0 ? `And ${counted(more, "violation")} more.` : "",
    questionWords(verdict)
      .map((one) => `- **Asked** ${plain(one)}`)
      .join("\n"),
    inferred.map((one) => `- ${plain(inferredWords(one))}`).join("\n"),
    evidenceBlock(verdict),
  ].filter((block) => block !== "");
}

/** Returns what each law was tested on; nothing for verdicts that do not say. */
function evidenceBlock({ laws, evidence }: Verdict): string {
  if (evidence === undefined) return "";
  const held = lawNames.filter((law) => laws[law] === "held");
  const rows = held.map((law) => [code(law), evidenceWords(evidence[law])]);
  return held.length === 0 ? "" : table(["Law that held", "Tested on"], rows);
}

function expectationBlock(run: Run): string[] {
  const results = expectationsOf(run);
  if (results.length === 0) return [];
  const rows = results.map(({ figure, bound, actual, held }) => [
    code(figure),
    code(bound),
    figureText(figureOf(figure), actual),
    held ? "✅ held" : "❌ missed",
  ]);
  return [table(["Expectation", "Bound", "Was", "Result"], rows)];
}

function figureBlock({ record, summary }: Run, other: Run | null): string {
  const ours = summary.figures;
  const theirs: Figures | null = other?.summary.figures ?? null;
  const names = figuresTold(ours, theirs);
  const titles = ["Figure", driverWords[record.driver]];
  if (other !== null) {
    const { driver } = other.record;
    titles.push(`${driver === record.driver ? "the other run, " : ""}${driverWords[driver]}`);
  }
  const rows = names.map((name) => [
    code(name),
    figureText(name, ours[name]),
    ...(theirs === null ? [] : [figureText(name, theirs[name])]),
  ]);
  return table(titles, rows);
}

function populationBlock({ summary }: Run): string {
  const columns = ["calls", "admitted", "refused", "refusedShare", "gaveUp", "waitP95Ms"] as const;
  const rows = summary.populations.map(({ name, figures }) => [
    plain(shortName(name)),
    ...columns.map((column) => figureText(column, figures[column])),
  ]);
  return table(["Population", ...columns], rows);
}
