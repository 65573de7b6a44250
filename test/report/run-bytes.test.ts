// Reports of a run, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderJunit } from "../../src/report/junit.ts";
import { renderMarkdown } from "../../src/report/markdown.ts";
import { renderReport } from "../../src/report/page.ts";
import { expectBytes, partsOf } from "./bytes.ts";
import { fixture, sampleViolation } from "./fixtures.ts";

test("reports of a run have the bytes that they had", () => {
  const run = fixture();
  const bad = fixture({ violations: [sampleViolation], record: { expect: { refused: "==0" } } });
  expectBytes("runs", [
    ...partsOf("run", renderReport(run, null, "pictures")),
    ["run.md", renderMarkdown(run.run)],
    ["violated.md", renderMarkdown(bad.run)],
    ["run.junit", renderJunit(run.run)],
    ["violated.junit", renderJunit(bad.run)],
  ]);
});
