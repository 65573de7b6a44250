// A plan in a page: the answer first, then its evidence.

import { shortName } from "../rules/printable.ts";
import { exactShare } from "../rules/share.ts";
import { counted } from "../rules/words.ts";
import type { PlanAxis, PlanHeatMap, PlanPoint, PlanResult } from "../summary/plan-result.ts";
import { figureUnit, valueText } from "../summary/plan-values.ts";
import { curvePicture } from "./curve-picture.ts";
import { noteWords } from "./format.ts";
import { type Page, page } from "./frame.ts";
import { heatCells, heatMapPicture, type MapAxes } from "./heat-map-picture.ts";
import { type Html, html } from "./html.ts";
import { intervalPicture } from "./interval-rows.ts";
import { factList, head } from "./parts.ts";
import { Gallery, type Picture } from "./picture.ts";
import { alternativesSection } from "./plan-alternatives-section.ts";
import { figureCell, heldCell, pointCell } from "./plan-cells.ts";
import { stormSection } from "./plan-storm-section.ts";
import {
  figureNamed,
  heldWords,
  meanText,
  planAnswer,
  planOutcome,
  questionFacts,
  questionWords,
  stateWords,
} from "./plan-words.ts";
import { type Column, foldedTable, table } from "./table.ts";

/**
 * Returns a plan as one HTML text. The same result gives the same bytes.
 * @param version version of spillway
 * @param folder the pictures' folder, relative to the page; `null` if the page names no files
 */
export function renderPlan(result: PlanResult, version: string, folder: string | null = null): Page {
  const gallery = new Gallery(folder);
  const { question, sentences, notes, simulations, storm, comparison } = result;
  return page({
    title: `${shortName(question.scenario)}: spillway plan`,
    description: planAnswer(result),
    version,
    madeFrom: "a plan's folder: plan.json",
    gallery,
    body: html`${head({
      kicker: `spillway plan · ${counted(simulations, "simulation")} · ${exactShare(question.confidence)} confidence`,
      title: shortName(question.scenario),
      lead: `${questionWords(result)}.`,
      outcome: planOutcome(result),
      answer: planAnswer(result),
      details: sentences.slice(1),
      notes: notes.map(noteWords),
      key: [],
    })}<main>
${sweepSection(result, gallery)}${mapSection(result, gallery)}${storm === null ? null : stormSection(result, storm, gallery)}${
  comparison === null ? null : alternativesSection(result, comparison, gallery)
}${factSection(result)}</main>
`,
  });
}

/** Returns the goals' figures; without goals, the usual figures of the whole run. */
function drawnFigures({ question, points }: PlanResult): string[] {
  const goals = [...new Set(question.goals.map(({ figure }) => figure))];
  if (goals.length > 0) return goals.slice(0, 3);
  return ["refusedShare", "waitP95Ms"].filter((name) =>
    points.some((point) => figureNamed(point, name) !== null),
  );
}

/** Returns the section for one varied value. */
function sweepSection(result: PlanResult, gallery: Gallery): Html | null {
  const [axis, second] = result.question.vary;
  if (axis === undefined || second !== undefined || result.points.length === 0) return null;
  const pictures = drawnFigures(result).map((figure, index) =>
    axis.unit === "choice"
      ? choicePicture(result, axis, figure, index)
      : sweepPicture(result, axis, figure, index),
  );
  const held = result.question.goals.length > 0 && axis.unit !== "choice" ? [heldPicture(result, axis)] : [];
  return html`<section id="sweep">
<h2>What was measured</h2>
<p>Each point is the mean of its runs, each with a seed of its own; the band, or line, is where the mean lies with ${exactShare(result.question.confidence)} confidence.</p>
${[...pictures, ...held].map(
  (picture) => html`<figure><h3>${picture.title}</h3>
${gallery.draw(picture)}</figure>
`,
)}${pointsTable(result, axis)}</section>
`;
}

function sweepPicture(result: PlanResult, axis: PlanAxis, figure: string, index: number): Picture {
  const unit = figureUnit(figure);
  const goals = result.question.goals.filter((goal) => goal.figure === figure);
  const [goal] = goals;
  const points = numeric(result.points).map(({ value, point }) => {
    const found = figureNamed(point, figure);
    return {
      value,
      mean: found?.mean ?? null,
      low: found?.interval?.low ?? null,
      high: found?.interval?.high ?? null,
      state: point.state,
      replications: point.replications,
      note: heldWords(point),
    };
  });
  return curvePicture({
    id: `sweep-${index + 1}`,
    title: `${figure} over ${axis.path}`,
    label: `${figure} over ${axis.path} from ${valueText(axis, axis.from)} to ${valueText(axis, axis.to)}. ${planAnswer(result)}.`,
    axis: rangeOf(axis),
    figure,
    unit,
    states: stateWords,
    points,
    goal: goal === undefined ? null : { at: goal.value, name: `goal: ${goal.figure} ${goal.bound}` },
    found: foundIn(result),
  });
}

/** Returns the picture of the share of runs in which the goals held. */
function heldPicture(result: PlanResult, axis: PlanAxis): Picture {
  const points = numeric(result.points).map(({ value, point }) => ({
    value,
    mean: point.held === null ? null : point.held / Math.max(1, point.replications),
    low: point.heldShare?.low ?? null,
    high: point.heldShare?.high ?? null,
    state: point.state,
    replications: point.replications,
    note: heldWords(point),
  }));
  const { share: needed } = result.question;
  return curvePicture({
    id: "held",
    title: "In how many runs the goals hold",
    label: `The share of runs in which the goals hold, over ${axis.path}; a value holds above ${exactShare(needed)}.`,
    axis: rangeOf(axis),
    figure: "share of runs in which the goals hold",
    unit: "share",
    states: stateWords,
    points,
    goal: { at: needed, name: `a value holds above ${exactShare(needed)}` },
    found: foundIn(result),
  });
}

function choicePicture(result: PlanResult, axis: PlanAxis, figure: string, index: number): Picture {
  const unit = figureUnit(figure);
  const goal = result.question.goals.find((one) => one.figure === figure);
  return intervalPicture({
    id: `sweep-${index + 1}`,
    title: `${figure} by ${axis.path}`,
    label: `${figure} by ${axis.path}: ${result.points.map((point) => `${valueText(axis, point.values[0] ?? "")} ${meanText(figureNamed(point, figure))}`).join("; ")}.`,
    what: axis.path,
    figure,
    ends: ["low", "high"],
    unit,
    rows: result.points.map((point) => {
      const found = figureNamed(point, figure);
      return {
        name: `${valueText(axis, point.values[0] ?? "")}${point.state === null ? "" : `: ${point.state}`}`,
        mean: found?.mean ?? null,
        low: found?.interval?.low ?? null,
        high: found?.interval?.high ?? null,
        color:
          point.state === "holds"
            ? "var(--good)"
            : point.state === "fails"
              ? "var(--bad)"
              : "var(--admitted)",
      };
    }),
    line: goal === undefined ? null : { at: goal.value, name: `goal: ${goal.figure} ${goal.bound}` },
    legend: [{ name: "mean and confidence interval", swatch: "line", color: "var(--muted)" }],
  });
}

/** Returns the points of a numeric axis, by value. */
const numeric = (points: readonly PlanPoint[]): { value: number; point: PlanPoint }[] =>
  points
    .flatMap((point) => {
      const [value] = point.values;
      return typeof value === "number" ? [{ value, point }] : [];
    })
    .sort((a, b) => a.value - b.value);

const rangeOf = ({ path, unit, from, to }: PlanAxis) => {
  const [one, other] = [Number(from), Number(to)];
  return { path, unit, from: Math.min(one, other), to: Math.max(one, other) };
};

function foundIn({ answer }: PlanResult) {
  if (answer?.kind !== "value") return null;
  return { at: answer.value, from: answer.holds, to: answer.fails };
}

const figuresListed = 4;

/** Returns the goals' figures, then the usual ones, as many as have room; plan.json has all. */
function listedFigures(result: PlanResult): string[] {
  const measured = result.points[0]?.figures.map(({ figure }) => figure) ?? [];
  const goals = result.question.goals.map(({ figure }) => figure);
  const wanted = [...goals, "refusedShare", "waitP95Ms", "admitted", "fairness"];
  return [...new Set(wanted)].filter((figure) => measured.includes(figure)).slice(0, figuresListed);
}

function pointsTable(result: PlanResult, axis: PlanAxis): Html {
  const points = axis.unit === "choice" ? result.points : numeric(result.points).map(({ point }) => point);
  const columns: Column<PlanPoint>[] = [
    { title: axis.path, name: true, cell: ({ values }) => valueText(axis, values[0] ?? "") },
    ...(result.question.goals.length === 0
      ? []
      : [
          { title: "The goals", cell: pointCell },
          { title: "Runs that hold", number: true, cell: heldCell },
        ]),
    ...listedFigures(result).map(
      (figure): Column<PlanPoint> => ({
        title: figure,
        number: true,
        cell: (point) => figureCell(point, figure),
      }),
    ),
  ];
  return table(columns, points, { caption: "Each value that was tried, with confidence intervals" });
}

function mapSection(result: PlanResult, gallery: Gallery): Html | null {
  const { heatMap, question } = result;
  const [xAxis, yAxis] = question.vary;
  if (heatMap === null || xAxis === undefined || yAxis === undefined) return null;
  const figures = drawnFigures(result).filter((figure) => heatMap.figures.includes(figure));
  const broken = heatMap.frontier.filter(({ monotone }) => !monotone).map(({ x }) => valueText(xAxis, x));
  return html`<section id="map">
<h2>Where it holds</h2>
<p>${
    heatMap.frontier.length === 0
      ? "Each cell is the mean of its runs; the darker, the higher."
      : "Each cell is the mean of its runs; the darker, the higher. The line is the frontier between the values at which the goals hold and those at which they fail."
  }${broken.length === 0 ? "" : ` It is broken at ${xAxis.path} = ${broken.join(", ")}, where holding and failing values alternate.`}</p>
${figures.map((figure, index) => {
  const picture = heatMapPicture(result, heatMap, [xAxis, yAxis], figure, index);
  return html`<figure><h3>${picture.title}</h3>
${gallery.draw(picture)}${mapTable(result, heatMap, [xAxis, yAxis], figure)}</figure>
`;
})}</section>
`;
}

/** Returns the map as a table, with the highest y on top as in the picture. */
function mapTable(result: PlanResult, heatMap: PlanHeatMap, [xAxis, yAxis]: MapAxes, figure: string): Html {
  const cells = heatCells(result, heatMap, figure);
  const rows = heatMap.ys.map((_, y) => ({ y, cells: cells.filter((cell) => cell.y === y) })).reverse();
  const marks = { holds: "✓", fails: "✗", unclear: "?" } as const;
  const columns: Column<(typeof rows)[number]>[] = [
    {
      title: `${yAxis.path} \\ ${xAxis.path}`,
      name: true,
      cell: ({ y }) => valueText(yAxis, heatMap.ys[y] ?? ""),
    },
    ...heatMap.xs.map(
      (value, x): Column<(typeof rows)[number]> => ({
        title: valueText(xAxis, value),
        number: true,
        cell: (row) => {
          const cell = row.cells.find((one) => one.x === x);
          return cell === undefined
            ? "–"
            : `${cell.text}${cell.state === null ? "" : ` ${marks[cell.state]}`}`;
        },
      }),
    ),
  ];
  return foldedTable(columns, rows, { caption: `${figure}; ✓ the goals hold, ✗ they fail, ? unclear` });
}

function factSection(result: PlanResult): Html {
  const { command, description } = result.question;
  return html`<section id="question">
<h2>What was asked</h2>
${description === null ? null : html`<p>${description}</p>\n`}${factList(questionFacts(result))}${
  command === null
    ? null
    : html`<h3>The command that repeats it</h3>
<pre><code>${command}</code></pre>
`
}</section>
`;
}
