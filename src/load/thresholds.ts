// A scenario's expectations as k6's thresholds, as far as k6 measures the figures. The summary judges all of them.
import type { Expectation, FigureReference } from "../rules/figures.ts";

/** Names of our own metrics in k6. */
export const metricNames = {
  /** Rate of calls answered 429 among the calls that were answered. */
  refused: "spillway_refused",
  /** Trend of the time from when a job was wanted to its first answer that was not a refusal, ms. */
  wait: "spillway_wait",
} as const;

/** k6's metric and measure for each figure; k6 does not measure the others. */
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
 * Returns thresholds by metric. A population's thresholds are on the part of the metric with its `scenario` tag.
 * @param isChecked true if answers are checked one by one, so that no check may fail. It is false otherwise, since k6
 *   counts a metric without samples as crossed.
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

/** Returns which of our metrics these expectations need; `null` for none. */
export function measuredBy(
  expect: readonly Expectation[],
): { readonly refused: boolean; readonly wait: boolean } | null {
  const needs = (metric: string): boolean => expect.some(({ name }) => measures[name]?.metric === metric);
  const [refused, wait] = [needs(metricNames.refused), needs(metricNames.wait)];
  return refused || wait ? { refused, wait } : null;
}

/** Tells whether refusals are part of the scenario. If so, k6's own metrics count no 429 as a failed request. */
export function refusalsExpected(expect: readonly Expectation[], population: string): boolean {
  return !expect.some(
    ({ name, population: whose, operator, value }) =>
      (whose === null || whose === population) &&
      (name === "refused" || name === "refusedShare") &&
      ((value === 0 && (operator === "==" || operator === "<=")) ||
        (name === "refused" && value === 1 && operator === "<")),
  );
}
