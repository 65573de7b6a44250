// Reports of runs that are compared or wrong, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderMarkdown } from "../../src/report/markdown.ts";
import { renderReport } from "../../src/report/page.ts";
import { expectBytes, partsOf } from "./bytes.ts";
import { fixture, sampleViolation } from "./fixtures.ts";

test("reports of compared and wrong runs have the bytes that they had", () => {
  const run = fixture();
  const simulated = fixture({ latencyMs: 8, record: { driver: "simulator", target: null } });
  const bad = fixture({ violations: [sampleViolation], record: { expect: { refused: "==0" } } });
  const compared = partsOf("compared", renderReport(run, simulated, "pictures"));
  expectBytes("compared", [
    // Its other pictures are the run's.
    ...compared.filter(([name]) => name === "compared" || name.includes("compared-")),
    ...partsOf("violated", renderReport(bad, null, "pictures")).slice(0, 1),
    ["compared.md", renderMarkdown(run.run, simulated.run)],
  ]);
});
