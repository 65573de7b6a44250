// Compares a scenario's expectations with a run's figures.
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

/** Part of a summary that expectations refer to. */
type Measured = Pick<Summary, "figures" | "populations">;

/** Returns a figure; `null` if there was nothing to measure, or if the population sent nothing. */
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
 * Returns one figure by name: `refusedShare` of the whole run, `agents.refusedShare` of a population.
 * @param judged the verdict's figures, such as `overAdmission`; without them these are `null`
 * @returns the figure in its unit; `null` if there was nothing to measure
 * @throws SpillwayError `USAGE` if there is no such figure or population, with a suggestion
 */
export function figure(summary: Summary, name: string, judged: JudgedFigures | null = null): number | null {
  const populations = summary.populations.map((population) => population.name);
  const found = parseFigure(name, populations);
  if ("path" in found) throw new SpillwayError("USAGE", "there is no such figure", { problem: found });
  return measured(summary, found, judged);
}

/**
 * Compares expectations with a run's figures, in the order of the expectations.
 * @param judged the verdict's figures (`Verdict.amounts`), if the run was judged
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
