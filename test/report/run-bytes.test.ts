// Reports of runs, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderJunit } from "../../src/report/junit.ts";
import { renderMarkdown } from "../../src/report/markdown.ts";
import { renderReport } from "../../src/report/page.ts";
import { expectBytes, partsOf } from "./bytes.ts";
import { fixture, quotasFixture, sampleViolation } from "./fixtures.ts";

test("reports of runs have the bytes that they had", () => {
  const run = fixture();
  const simulated = fixture({ latencyMs: 8, record: { driver: "simulator", target: null } });
  const bad = fixture({ violations: [sampleViolation], record: { expect: { refused: "==0" } } });
  const quotas = quotasFixture();
  const compared = partsOf("compared", renderReport(run, simulated, "pictures"));
  expectBytes("runs", [
    ...partsOf("run", renderReport(run, null, "pictures")),
    // Its other pictures are the run's.
    ...compared.filter(([name]) => name === "compared" || name.includes("compared-")),
    ...partsOf("violated", renderReport(bad, null, "pictures")).slice(0, 1),
    ...partsOf("quotas", renderReport(quotas, null, "pictures")),
    ["run.md", renderMarkdown(run.run)],
    ["compared.md", renderMarkdown(run.run, simulated.run)],
    ["violated.md", renderMarkdown(bad.run)],
    ["quotas.md", renderMarkdown(quotas.run)],
    ["quotas.junit", renderJunit(quotas.run)],
    ["run.junit", renderJunit(run.run)],
    ["violated.junit", renderJunit(bad.run)],
  ]);
});
