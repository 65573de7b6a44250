// Parts that tests of the laws share: a report as text, and how a law must end.
import { expect } from "vitest";
import { type CheckReport, type LawReport, renderCounterexample } from "../../src/laws/index.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";

/** The one entry of a report of one law. */
export function only(report: CheckReport): LawReport {
  const [law] = report.laws;
  if (law === undefined || report.laws.length !== 1) throw new Error("a report of one law was expected");
  return law;
}

export function entry(report: CheckReport, name: LimiterLawName): LawReport {
  const found = report.laws.find(({ law }) => law === name);
  if (found === undefined) throw new Error(`no entry for ${name}`);
  return found;
}

/** Every law was judged and no counterexample found, but for the laws that are expected to be skipped. */
export function expectKept(report: CheckReport, skipped: readonly LimiterLawName[] = []): void {
  const text = report.laws.flatMap(renderCounterexample).join("\n");
  expect(text, text).toBe("");
  for (const { law, outcome } of report.laws)
    expect([law, outcome]).toEqual([law, skipped.includes(law) ? "skipped" : "no-counterexample"]);
}
