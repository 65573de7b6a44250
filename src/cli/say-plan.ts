// Words of a plan on the terminal: the answer, then a small table that is also a picture.

import { figureText } from "../report/format.ts";
import { alternativesOf, figureNamed, measuredFigures, stateText } from "../report/plan-words.ts";
import { sparkline } from "../report/sparkline.ts";
import { columns as aligned } from "../rules/columns.ts";
import { exactDuration } from "../rules/duration.ts";
import { parseFigure, unitOf } from "../rules/figures.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import type {
  PlanAlternative,
  PlanComparison,
  PlanFigure,
  PlanHeatMap,
  PlanPoint,
  PlanResult,
  PlanState,
  PlanStorm,
} from "../summary/plan-result.ts";
import { valueText } from "../summary/plan-values.ts";
import { pc, uncolored } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

const colorOf: Readonly<Record<PlanState, (text: string) => string>> = {
  holds: pc.green,
  fails: pc.red,
  unclear: pc.yellow,
};

/** Says a result. @param folder folder of the whole result */
export function sayPlan(terminal: Terminal, result: PlanResult, folder: string): void {
  const { question, points, heatMap, storm, comparison, sentences, notes, simulations } = result;
  terminal.say(
    `${pc.bold(shortName(question.scenario))}: ${counted(simulations, "run")} simulated, seed ${question.seed}`,
  );
  for (const sentence of sentences) terminal.say(`  ${sentence}`);
  const pictures = [
    ...(heatMap === null ? pointLines(result) : heatLines(heatMap, points, result)),
    ...(storm === null ? [] : stormLines(storm)),
    ...(comparison === null ? [] : comparisonLines(comparison)),
  ];
  for (const line of pictures) terminal.say(`  ${line}`);
  for (const note of notes) terminal.say(`  ${pc.dim("note")} ${note}`);
  terminal.say(`  ${folder}/report.html`);
}

/** Returns a mean as people read it: a count of ten or more has no fraction. */
function meanOf({ figure, mean }: PlanFigure): string {
  const found = parseFigure(figure);
  const name = "path" in found ? "calls" : found.name;
  return figureText(name, mean !== null && unitOf(name) === "count" && mean >= 10 ? Math.round(mean) : mean);
}

const columns = (rows: readonly (readonly string[])[]): string[] => aligned(rows, { bare: uncolored });

const barWidth = 24;

/** Returns a line for each point: its value, a bar for the first figure, the figures, the number of runs that held. */
function pointLines({ question, points }: PlanResult): string[] {
  const [axis] = question.vary;
  const [first] = points;
  if (axis === undefined || first === undefined) return [];
  const goals = new Set(question.goals.map(({ figure }) => figure));
  const shown = ({ figures }: PlanPoint): readonly PlanFigure[] =>
    goals.size > 0 ? figures.filter(({ figure }) => goals.has(figure)).slice(0, 4) : figures.slice(0, 4);
  const heads = shown(first).map(({ figure }) => pc.dim(figure));
  const amountOf = (point: PlanPoint) => shown(point)[0]?.mean ?? 0;
  const most = Math.max(...points.map(amountOf));
  const rows = points.map((point) => {
    // Of nothing but zeros the share is no number, and there is no bar.
    const bar = "█".repeat(Math.round((amountOf(point) / most) * barWidth)) || "▏";
    const paint = point.state === null ? pc.cyan : colorOf[point.state];
    const said =
      point.state === null
        ? counted(point.replications, "run")
        : `${stateText(point)} (${count(point.held ?? 0)} of ${counted(point.replications, "run")})`;
    return [valueText(axis, point.values[0] ?? ""), paint(bar), ...shown(point).map(meanOf), paint(said)];
  });
  return ["", ...columns([[pc.dim(axis.path), "", ...heads, ""], ...rows])];
}

/** Returns the map as text, with the first axis along and the second upwards. */
function heatLines(
  { xs, ys, cells }: PlanHeatMap,
  points: readonly PlanPoint[],
  { question }: PlanResult,
): string[] {
  const [x, y] = question.vary;
  if (x === undefined || y === undefined) return [];
  const marks: Readonly<Record<PlanState, string>> = { holds: "■", fails: "·", unclear: "?" };
  const cell = (place: number): string => {
    const point = points[place];
    if (point === undefined) return "";
    const [first] = point.figures;
    const text = first === undefined ? "" : meanOf(first);
    return point.state === null ? text : colorOf[point.state](`${marks[point.state]} ${text}`);
  };
  const rows = ys.map((atY, row) => [valueText(y, atY), ...(cells[row] ?? []).map(cell)]);
  const foot = [pc.dim(`${y.path} ↑ ${x.path} →`), ...xs.map((atX) => valueText(x, atX))];
  const figure = points[0]?.figures[0]?.figure ?? "";
  const key = question.goals.length === 0 ? figure : `${figure}; ■ holds, · fails, ? unclear`;
  return ["", ...columns([...rows.toReversed(), foot]), pc.dim(key)];
}

/** Greatest number of characters of a line of windows. */
const sparkMost = 60;

/** Returns lines of windows: the share of calls that went wrong in each, without the trigger and with it. */
function stormLines({ series, unit, windowMs, trigger, triggers, answer }: PlanStorm): string[] {
  const width = Math.min(sparkMost, Math.max(24, ...series.map(({ shares }) => shares.length)));
  const drawn = series.map(({ size, shares }) => {
    const lengthMs = shares.length * windowMs;
    const steps = shares.map((share, place) => [place * windowMs, share ?? 0] as const);
    const said = size === 0 ? `without` : `${trigger} of ${valueText({ unit }, size)}`;
    const state = triggers.find((one) => one.size === size)?.state;
    const paint = state === undefined ? pc.dim : colorOf[state];
    const words = state === "holds" ? "recovers" : state === "fails" ? "does not recover" : (state ?? "");
    return [said, paint(sparkline(steps, lengthMs, 1, width).trimEnd()), paint(words)];
  });
  const head = pc.dim(
    `share of calls refused or not answered, ${shareWindows(windowMs)}${answer.kind === "all" ? "" : ", both sides of the edge"}:`,
  );
  return ["", head, ...columns(drawn)];
}

const shareWindows = (windowMs: number): string => `by windows of ${exactDuration(windowMs)}`;

/** Figures of a comparison, and the heads of their columns. */
const comparedHeads: Readonly<Record<string, string>> = {
  refusedShare: "refused",
  refusedFirstSecondShare: "in the first second",
  waitP95Ms: "p95 wait",
  gaveUp: "never through",
};

function comparisonLines(comparison: PlanComparison): string[] {
  return comparison.populations.flatMap((population) => {
    const alternatives = alternativesOf(comparison, population);
    const figures = measuredFigures(alternatives, population, Object.keys(comparedHeads));
    const cell = (one: PlanAlternative, figure: string): string => {
      const found = figureNamed(one, `${population}.${figure}`);
      return found === null ? "–" : meanOf(found);
    };
    const heads = figures.map((figure) => comparedHeads[figure] ?? "");
    const head = [population, "limits", ...heads].map(pc.dim);
    const rows = alternatives.map((one) => [
      one.asIs ? pc.bold(one.policy) : one.policy,
      one.limits,
      ...figures.map((figure) => cell(one, figure)),
    ]);
    return ["", ...columns([head, ...rows])];
  });
}
