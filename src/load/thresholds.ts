// A scenario's expectations as k6's thresholds, as far as k6 measures the figures; the summary judges them all.
import type { Expectation, FigureReference } from "../rules/figures.ts";

/** Our own metrics in k6. */
export const metricNames = {
  /** Rate: calls answered 429 among the calls that were answered. */
  refused: "spillway_refused",
  /** Trend, ms: from when a job was wanted to its first answer that was not a refusal. */
  wait: "spillway_wait",
} as const;

/** The metric and the measure of k6 for each figure; k6 does not measure the others. */
const measures: {
  readonly [F in FigureReference["name"]]?: { readonly metric: string; readonly measure: string };
} = {
  refusedShare: { metric: metricNames.refused, measure: "rate" },
  waitP50Ms: { metric: metricNames.wait, measure: "p(50)" },
  waitP95Ms: { metric: metricNames.wait, measure: "p(95)" },
  waitP99Ms: { metric: metricNames.wait, measure: "p(99)" },
  waitMaxMs: { metric: metricNames.wait, measure: "max" },
};

/**
 * Thresholds by metric; a population's are on the metric's part with its `scenario` tag.
 * @param isChecked whether answers are checked one by one: each check names the law that one broke, and one is too many.
 *   k6 counts a metric without samples as crossed.
 */
export function thresholdsOf(expect: readonly Expectation[], isChecked: boolean): Record<string, string[]> {
  const thresholds: Record<string, string[]> = isChecked ? { checks: ["rate==1"] } : {};
  for (const { name, population, operator, value } of expect) {
    const said = measures[name];
    if (said === undefined) continue;
    const metric = population === null ? said.metric : `${said.metric}{scenario:${population}}`;
    thresholds[metric] = [...(thresholds[metric] ?? []), `${said.measure}${operator}${value}`];
  }
  return thresholds;
}

/** Which of our metrics these expectations need; `null` for none. */
export function measuredBy(
  expect: readonly Expectation[],
): { readonly refused: boolean; readonly wait: boolean } | null {
  const needs = (metric: string): boolean => expect.some(({ name }) => measures[name]?.metric === metric);
  const [refused, wait] = [needs(metricNames.refused), needs(metricNames.wait)];
  return refused || wait ? { refused, wait } : null;
}

/** Tells whether refusals are part of the scenario: only then is a 429 no failed request in k6's own metrics. */
export function refusalsExpected(expect: readonly Expectation[], population: string): boolean {
  return !expect.some(
    ({ name, population: whose, operator, value }) =>
      (whose === null || whose === population) &&
      (name === "refused" || name === "refusedShare") &&
      ((value === 0 && (operator === "==" || operator === "<=")) ||
        (name === "refused" && value === 1 && operator === "<")),
  );
}
