// Goals such as `refused < 1%`, read from words, and the figures that they need.
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import {
  type Expectation,
  type FigureReference,
  isJudgedFigure,
  parseExpectation,
  parseFigure,
} from "../rules/figures.ts";
import type { Scenario } from "../scenario/scenario.ts";

/** A goal in its parsed form. */
export type Goal = Expectation;

const syntax = /^\s*([^<>=\s]+)\s*((?:<=|>=|==?|<|>).*)$/;

/** Figures in place of counts that people bound by a share: `refused < 1%` means the share of calls. */
const sharesOf: Readonly<Record<string, string>> = { refused: "refusedShare" };

/**
 * Reads `FIGURE BOUND`: any figure of a summary, whole or of a population. `refused<1%` is `refusedShare<1%`.
 * @throws SpillwayError `USAGE`, with a suggestion if the figure is unknown
 */
export function parseGoal(text: string, scenario: Scenario): Goal {
  const [, written = "", bound = ""] = syntax.exec(text) ?? [];
  if (written === "")
    throw unusable({
      path: "--until",
      got: quote(text),
      allowed: "FIGURE<BOUND, such as 'refused<1%' or 'agents.waitP95Ms<=2s'",
    });
  const figure = bound.trimEnd().endsWith("%") ? asShare(written) : written;
  const populations = scenario.populations.map(({ name }) => name);
  const goal = parseExpectation(figure, bound.trim(), populations);
  if ("path" in goal) throw unusable(goal);
  if (isJudgedFigure(goal.name))
    throw unusable({
      path: figure,
      got: quote(figure),
      allowed: "a figure of the summary: the judge does not read a plan's runs",
    });
  return goal;
}

function asShare(figure: string): string {
  const dot = figure.lastIndexOf(".") + 1;
  return figure.slice(0, dot) + (sharesOf[figure.slice(dot)] ?? figure.slice(dot));
}

/**
 * Reads the name of a figure to be measured.
 * @throws SpillwayError `USAGE`, with a suggestion
 */
export function parseMeasured(figure: string, scenario: Scenario): FigureReference {
  const found = parseFigure(
    figure,
    scenario.populations.map(({ name }) => name),
  );
  if ("path" in found) throw unusable(found);
  return found;
}

const unusable = (problem: Problem): SpillwayError =>
  new SpillwayError("USAGE", "this is no goal", {
    problem,
    hint: "npx spillway plan --help shows examples",
  });

/** Returns the expectations of a scenario as goals, without figures that only the judge knows. */
export const goalsOf = (scenario: Scenario): readonly Goal[] =>
  scenario.expect.filter(({ name }) => !isJudgedFigure(name));
