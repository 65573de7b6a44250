// Reports of a run under a policy, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderJunit } from "../../src/report/junit.ts";
import { renderMarkdown } from "../../src/report/markdown.ts";
import { renderReport } from "../../src/report/page.ts";
import { expectBytes, partsOf } from "./bytes.ts";
import { quotasFixture } from "./fixtures.ts";

test("reports of a run under a policy have the bytes that they had", () => {
  const quotas = quotasFixture();
  expectBytes("quotas", [
    ...partsOf("quotas", renderReport(quotas, null, "pictures")),
    ["quotas.md", renderMarkdown(quotas.run)],
    ["quotas.junit", renderJunit(quotas.run)],
  ]);
});
