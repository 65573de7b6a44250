// Reports of runs and verdicts, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderJunit, renderVerdictJunit } from "../../src/report/junit.ts";
import { renderMarkdown, renderVerdictMarkdown } from "../../src/report/markdown.ts";
import { renderReport, renderVerdict } from "../../src/report/page.ts";
import type { CountPlace, Violation } from "../../src/verify/verdict.ts";
import { expectBytes, partsOf } from "./bytes.ts";
import { fixture, fullVerdict, quotasFixture, sampleViolation } from "./fixtures.ts";

const [{ places }] = fullVerdict.violations as [Violation];
if (places === undefined) throw new RangeError("the violation has places");
/** The limit near the places or far away; many accused or none; more answers than are drawn. */
const withPlaces: Violation[] = [
  { limit: 20, lines: [12, 15] },
  { limit: 2_000, lines: [3, 4, 5, 6, 7, 8, 22, 23] },
  { limit: 21, lines: [99], answers: places.answers.slice(0, 1) },
  { limit: 25, lines: [40], answers: [0, 1, 2].flatMap((late) => places.answers.map(moved(late))) },
].map(({ limit, lines, answers = places.answers }) => ({
  ...{ ...sampleViolation, lines, places: { limit, answers } },
}));

function moved(late: number) {
  return (place: CountPlace): CountPlace => ({
    ...place,
    line: place.line + 22 * late,
    sent: place.sent + 30 * late,
    received: place.received + 30 * late,
  });
}

test("reports of runs have the bytes that they had", () => {
  const run = fixture();
  const simulated = fixture({ latencyMs: 8, record: { driver: "simulator", target: null } });
  const bad = fixture({ violations: [sampleViolation], record: { expect: { refused: "==0" } } });
  const full = { ...fullVerdict, verdict: "violated", violations: [sampleViolation] } as const;
  const quotas = quotasFixture();
  const compared = partsOf("compared", renderReport(run, simulated, "pictures"));
  expectBytes("runs", [
    ...partsOf("run", renderReport(run, null, "pictures")),
    // Its other pictures are the run's.
    ...compared.filter(([name]) => name === "compared" || name.includes("compared-")),
    ...partsOf("violated", renderReport(bad, null, "pictures")).slice(0, 1),
    ...partsOf("quotas", renderReport(quotas, null, "pictures")),
    ["verdict", renderVerdict("trace", full, "0.1.0")],
    ["places", renderVerdict("trace", { ...full, violations: withPlaces }, "0.1.0")],
    ["verdict.md", renderVerdictMarkdown("trace", full)],
    ["verdict.junit", renderVerdictJunit("trace", full)],
    ["run.md", renderMarkdown(run.run)],
    ["compared.md", renderMarkdown(run.run, simulated.run)],
    ["violated.md", renderMarkdown(bad.run)],
    ["quotas.md", renderMarkdown(quotas.run)],
    ["quotas.junit", renderJunit(quotas.run)],
    ["run.junit", renderJunit(run.run)],
    ["violated.junit", renderJunit(bad.run)],
  ]);
});
