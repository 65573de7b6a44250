// The expectations of a scenario, held against what a run came to.
import { SpillwayError } from "../rules/errors.ts";
import {
  type FigureReference,
  isJudgedFigure,
  isWithin,
  type JudgedFigures,
  parseExpectations,
  parseFigure,
} from "../rules/figures.ts";
import type { ExpectationResult, Summary } from "./summary.ts";

/** The part of a summary that expectations are about. */
type Measured = Pick<Summary, "figures" | "populations">;

/** A population that sent nothing has no figures: `null`, as where there was nothing to measure. */
function measured(
  summary: Measured,
  { population, name }: FigureReference,
  judged: JudgedFigures | null,
): number | null {
  if (isJudgedFigure(name)) return judged?.[name] ?? null;
  if (population === null) return summary.figures[name];
  return summary.populations.find((one) => one.name === population)?.figures[name] ?? null;
}

/**
 * One figure by name: `refusedShare` of the whole run, `agents.refusedShare` of a population.
 * @param judged what the verdict says, for `overAdmission` and its like; without it they are `null`
 * @returns the figure in its unit; `null` where there was nothing to measure
 * @throws SpillwayError `USAGE` where there is no such figure or population, with a suggestion
 */
export function figure(summary: Summary, name: string, judged: JudgedFigures | null = null): number | null {
  const populations = summary.populations.map((population) => population.name);
  const found = parseFigure(name, populations);
  if ("path" in found) throw new SpillwayError("USAGE", "there is no such figure", { problems: [found] });
  return measured(summary, found, judged);
}

/**
 * Holds expectations against a run, in their order.
 * @param judged what the verdict says (`Verdict.amounts`), where the run was judged
 * @throws SpillwayError `SCENARIO_INVALID`, naming every expectation that cannot be read
 */
export function judgeExpectations(
  expect: Readonly<Record<string, string>>,
  summary: Measured,
  judged: JudgedFigures | null = null,
): ExpectationResult[] {
  const { expectations, problems } = parseExpectations(expect);
  if (problems.length > 0)
    throw new SpillwayError("SCENARIO_INVALID", "these expectations cannot be read", { problems });
  return expectations.map((expectation) => {
    const actual = measured(summary, expectation, judged);
    const { figure, bound } = expectation;
    return { figure, bound, actual, held: isWithin(expectation, actual) };
  });
}
