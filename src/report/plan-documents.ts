// A plan for a pull request and for a build server.

import { shortName } from "../rules/printable.ts";
import { exactShare } from "../rules/share.ts";
import { count, counted } from "../rules/words.ts";
import type { PlanAlternative, PlanPoint, PlanResult, PlanValue } from "../summary/plan-result.ts";
import { goalsText, valueText } from "../summary/plan-values.ts";
import { amountText } from "./axes.ts";
import { noteWords } from "./format.ts";
import { document, type TestCase } from "./junit-document.ts";
import { code, fenced, marks, plain, table } from "./markdown-text.ts";
import {
  alternativesOf,
  aroundMean,
  figureNamed,
  heldWords,
  meanText,
  planAnswer,
  planOutcome,
  questionWords,
  stateText,
} from "./plan-words.ts";

/** Number of points that fit into a comment on a pull request. */
const pointsListed = 20;

/** Returns the plan in Markdown: the answer, what else was found, the points around it. */
export function renderPlanMarkdown(result: PlanResult): string {
  const { question, sentences, notes, simulations } = result;
  const blocks = [
    `## ${marks[planOutcome(result)]} ${plain(shortName(question.scenario))}: ${plain(planAnswer(result))}`,
    plain(
      `${questionWords(result)}; ${counted(simulations, "simulation")}, ${exactShare(question.confidence)} confidence, seed ${question.seed}.`,
    ),
    sentences
      .slice(1)
      .map((words) => `- ${plain(words)}`)
      .join("\n"),
    notes.map((note) => `> ${plain(noteWords(note))}`).join("\n>\n"),
    pointsBlock(result),
    stormBlock(result),
    comparisonBlock(result),
    question.command === null ? "" : `Repeat it with\n\n${fenced(question.command)}`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

const stateMarks = {
  holds: "✅ holds",
  fails: "❌ fails",
  unclear: "❔ unclear",
  "held so far": "❔ held so far",
  none: "–",
} as const;

/** Returns the frontier as a table: for each first value, the second value that holds and the one that fails. */
function frontierBlock({ question, heatMap }: PlanResult): string {
  const [x, y] = question.vary;
  if (x === undefined || y === undefined || heatMap === null) return "";
  const words = (value: PlanValue | null): string => (value === null ? "–" : plain(valueText(y, value)));
  return table(
    [code(x.path), `${code(y.path)} that holds`, "that fails"],
    heatMap.frontier.map((one) => [
      plain(valueText(x, one.x)),
      ...(one.monotone ? [words(one.holds), words(one.fails)] : ["they alternate", ""]),
    ]),
  );
}

function pointsBlock(result: PlanResult): string {
  const { question, points } = result;
  if ((result.heatMap?.frontier.length ?? 0) > 0) return frontierBlock(result);
  if (points.length === 0) return "";
  const goals = [...new Set(question.goals.map(({ figure }) => figure))];
  const figures = goals.length > 0 ? goals : ["refusedShare", "waitP95Ms"];
  const listed = nearAnswer(result);
  const more = points.length - listed.length;
  const rows = listed.map((point) => [
    ...question.vary.map((axis, place) => plain(valueText(axis, point.values[place] ?? ""))),
    ...figures.map((figure) => amountOf(point, figure)),
    heldWords(point) ?? "–",
    stateMarks[stateText(point) ?? "none"],
  ]);
  const text = table(
    [...question.vary.map(({ path }) => code(path)), ...figures.map(code), "runs", "goals"],
    rows,
  );
  return more > 0 ? `${text}\n\nAnd ${counted(more, "value")} more that were tried.` : text;
}

/** Returns the points nearest to the answer, in their order; without an answer, the first ones. */
function nearAnswer({ points, answer }: PlanResult): readonly PlanPoint[] {
  const at = answer?.kind === "value" ? answer.value : null;
  const distance = ({ values: [value] }: PlanPoint): number =>
    at === null || typeof value !== "number" ? 0 : Math.abs(value - at);
  const near = new Set(points.toSorted((a, b) => distance(a) - distance(b)).slice(0, pointsListed));
  return points.filter((point) => near.has(point));
}

function amountOf(point: Pick<PlanPoint, "figures">, figure: string): string {
  const found = figureNamed(point, figure);
  const around = aroundMean(found);
  return around === null ? meanText(found) : `${meanText(found)} (${around})`;
}

function stormBlock({ storm }: PlanResult): string {
  if (storm === null) return "";
  const rows = storm.triggers
    .slice(0, pointsListed)
    .map(({ size, recovered, replications, windowsToRecover, state }) => [
      amountText(storm.unit, size),
      `${count(recovered)} of ${count(replications)}`,
      windowsToRecover === null ? "–" : count(Math.round(windowsToRecover * 10) / 10),
      { holds: "✅ yes", fails: "❌ no", unclear: "❔ unclear" }[state],
    ]);
  return table([plain(storm.trigger), "runs that recover", "after windows", "recovers"], rows);
}

function comparisonBlock({ comparison }: PlanResult): string {
  if (comparison === null || comparison.populations.length === 0) return "";
  return comparison.populations
    .map((population) =>
      table(
        [plain(population), "limits", "refusedShare", "waitP95Ms", "gaveUp"],
        alternativesOf(comparison, population).map((one) => alternativeRow(one, population)),
      ),
    )
    .join("\n\n");
}

const alternativeRow = (one: PlanAlternative, population: string): string[] => [
  one.asIs ? "as things stand" : plain(one.policy),
  plain(one.limits),
  ...["refusedShare", "waitP95Ms", "gaveUp"].map((figure) => amountOf(one, `${population}.${figure}`)),
];

/** Returns the plan as JUnit XML: the goals hold somewhere, the load recovers. Unclear cases are skipped. */
export function renderPlanJunit(result: PlanResult): string {
  const { question, answer, storm } = result;
  const cases: TestCase[] = [];
  if (answer !== null)
    cases.push(
      answerCase(
        `${goalsText(question.goals)} over ${question.vary.map(({ path, range }) => `${path} = ${range}`).join(" and ")}`,
        result,
      ),
    );
  if (storm !== null) cases.push(stormCase(result, storm));
  if (cases.length === 0) cases.push({ name: "plan", skipped: "nothing was to hold" });
  return document(shortName(question.scenario), null, [["plan", cases]]);
}

function answerCase(name: string, result: PlanResult): TestCase {
  const outcome = planOutcome({ ...result, storm: null });
  if (outcome === "good") return { name };
  return outcome === "bad" ? { name, failure: planAnswer(result) } : { name, skipped: planAnswer(result) };
}

function stormCase(
  result: PlanResult,
  { trigger, unit, from, to, answer }: NonNullable<PlanResult["storm"]>,
): TestCase {
  const name = `the load recovers from ${trigger === "outage" ? "an outage" : "a burst"} of ${amountText(unit, from)} to ${amountText(unit, to)}`;
  if (answer.kind === "all") return { name };
  const words = result.sentences.find((one) => one.includes("recover")) ?? answer.kind;
  return answer.kind === "value" || answer.kind === "none"
    ? { name, failure: words }
    : { name, skipped: words };
}
