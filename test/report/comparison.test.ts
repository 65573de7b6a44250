// Two runs side by side: what is said of them holds for these two, whatever they are.
import { describe, expect, test } from "vitest";
import { compare, comparisonSection } from "../../src/report/comparison-section.ts";
import { renderMarkdown } from "../../src/report/markdown.ts";
import { Gallery } from "../../src/report/picture.ts";
import type { RunRecord } from "../../src/report/run.ts";
import type { ReportSource } from "../../src/report/source.ts";
import type { Figures } from "../../src/summary/summary.ts";
import { fixture } from "./fixtures.ts";

const measured = fixture();
const simulated = fixture({ record: { driver: "simulator", target: null } });
const withRecord = ({ run, series }: ReportSource, record: Partial<RunRecord>): ReportSource => ({
  run: { ...run, record: { ...run.record, ...record } },
  series,
});
const withFigures = ({ run, series }: ReportSource, figures: Partial<Figures>): ReportSource => ({
  run: { ...run, summary: { ...run.summary, figures: { ...run.summary.figures, ...figures } } },
  series,
});

/** Returns the words of a comparison: without tags and pictures. */
const told = (run: ReportSource, other: ReportSource): string =>
  comparisonSection(compare(run, other), new Gallery(null))
    .text.replace(/<svg[\s\S]*?<\/svg>/g, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

describe("two runs", () => {
  test("one of which was simulated are a prediction and a measurement", () => {
    const words = told(measured, simulated);
    expect(words).toContain(
      "Prediction and measurement fleet, measured, and fleet, simulated: the same name, seed",
    );
    expect(words).toContain("what the limits decide should not differ by much.");
  });

  test("of one kind are no prediction", () => {
    expect(told(simulated, simulated)).toContain(
      "Two runs side by side fleet, this run, and fleet, the other run: the same name, seed, planned length and limits. Two simulations of one scenario are equal:",
    );
    const both = told(measured, measured);
    expect(both).toContain("Two runs side by side");
    expect(both).toContain("Times of single calls differ from run to run;");
    expect(both + told(simulated, simulated)).not.toMatch(/[Pp]rediction|with the network/);
  });

  test.each<[string, Partial<RunRecord>]>([
    ["Their scenarios are fleet and herd", { scenario: { name: "herd", description: null, file: null } }],
    ["Their seeds are 7 and 9", { seed: 9 }],
    ["Their planned lengths are 24 s and 1 min", { durationMs: 60_000 }],
    ["Their ends are as planned and early (interrupted)", { interrupted: true }],
    ["Their limits differ", { rules: null }],
  ])("are not called alike: %s", (words, record) => {
    const all = told(measured, withRecord(simulated, record));
    expect(all).toContain(`${words}: figures may differ by that alone.`);
    expect(all).not.toContain("should not differ");
  });

  test("of which one has populations of its own", () => {
    const { run, series } = simulated;
    const [first, ...others] = run.summary.populations;
    const some = { run: { ...run, summary: { ...run.summary, populations: others } }, series };
    expect(told(measured, some)).toContain(`Calls of ${first?.name} are in one run alone: measured.`);
    expect(told(some, measured)).toContain(`Calls of ${first?.name} are in one run alone: measured.`);
  });
});

test("figures of populations that call are folded away, and those of the whole run are not", () => {
  const { text } = comparisonSection(compare(measured, simulated), new Gallery(null));
  const folded = [...text.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, words = ""]) =>
    words.replace(/<[^>]*>/g, ""),
  );
  const calling = measured.run.summary.populations.filter(({ figures }) => figures.calls > 0);
  expect(calling.length).toBeGreaterThan(1);
  expect(folded).toEqual(calling.map(({ name }) => name));
});

test("nothing refused is told as 0, and a small difference is not 0", () => {
  const none = { refused: 0, refusedShare: 0 };
  expect(told(withFigures(measured, none), withFigures(simulated, none))).toContain(" refused 0 0 0 ");
  const [ours, theirs] = [
    { refusedShare: 0.2004, fairness: 0.9 },
    { refusedShare: 0.2, fairness: 0.9001 },
  ];
  const words = told(withFigures(measured, ours), withFigures(simulated, theirs));
  expect(words).toContain(" refusedShare 20% 20% &lt;0.1 pp ");
  expect(words).toContain(" fairness 0.9 0.9 &lt;0.001 ");
});

test.each<[keyof Figures, number, number, string]>([
  ["refusedShare", 0.25, 0.125, "25% 12.5% +12.5 pp"],
  ["refusedShare", 0.1, 0.31, "10% 31% −21 pp"],
  ["fairness", 0.5, 0.75, "0.5 0.75 −0.25"],
  ["refused", 12, 7, "12 7 +5"],
  ["waitP50Ms", 1500, 2000, "1.5 s 2 s −500 ms"],
])("a difference of %s is told in its unit: %d and %d", (name, ours, theirs, words) => {
  const all = told(withFigures(measured, { [name]: ours }), withFigures(simulated, { [name]: theirs }));
  expect(all).toContain(` ${name} ${words} `);
});

test("in Markdown, two runs of one kind have titles of their own", () => {
  const titles = (one: ReportSource, other: ReportSource): string | undefined =>
    renderMarkdown(one.run, other.run)
      .split("\n")
      .find((line) => line.startsWith("| Figure"));
  expect(titles(measured, simulated)).toBe("| Figure | measured by k6 | simulated |");
  expect(titles(simulated, simulated)).toBe("| Figure | simulated | the other run, simulated |");
});
