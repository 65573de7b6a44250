// Documents of the fixtures, byte for byte: numbers that are drawn where no sentence says them (places, sizes, ticks) do
// not move unseen. A change on purpose writes the digests anew; look at the pages before you commit it:
//   GOLDEN=pages npx vitest run --config test/vitest.config.ts test/report/bytes.test.ts
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { renderJunit, renderVerdictJunit } from "../../src/report/junit.ts";
import { renderMarkdown, renderVerdictMarkdown } from "../../src/report/markdown.ts";
import { renderReport, renderVerdict } from "../../src/report/page.ts";
import { renderPlanJunit, renderPlanMarkdown } from "../../src/report/plan-documents.ts";
import { renderPlan } from "../../src/report/plan-page.ts";
import { renderReplayJunit, renderReplayMarkdown } from "../../src/report/replay-documents.ts";
import { renderReplay } from "../../src/report/replay-page.ts";
import { fixture, fullVerdict, sampleViolation } from "./fixtures.ts";
import { chosen, mapped, replayed, searched, stormy } from "./results.ts";

const kept = fileURLToPath(new URL("bytes.json", import.meta.url));

interface Page {
  readonly html: string;
  files(): ReadonlyMap<string, string>;
}

/** The page's own text, without the style and the script that all pages share, and its files. */
const partsOf = (name: string, { html, files }: Page): [string, string][] => [
  [name, html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "")],
  ...[...files()].map(([file, text]): [string, string] => [`${name}/${file}`, text]),
];

async function documents(): Promise<[string, string][]> {
  const run = fixture();
  const simulated = fixture({ latencyMs: 8, record: { driver: "simulator", target: null } });
  const bad = fixture({ violations: [sampleViolation], record: { expect: { refused: "==0" } } });
  const full = { ...fullVerdict, verdict: "violated", violations: [sampleViolation] } as const;
  const plans = { searched, chosen, mapped, stormy };
  const replays = { plain: await replayed(false), reacting: await replayed(true) };
  return [
    ...partsOf("run", renderReport(run, null, "pictures")),
    ...partsOf("compared", renderReport(run, simulated, "pictures")),
    ...partsOf("violated", renderReport(bad, null, "pictures")),
    ["verdict", renderVerdict("trace", full, "0.1.0")],
    ["verdict.md", renderVerdictMarkdown("trace", full)],
    ["verdict.junit", renderVerdictJunit("trace", full)],
    ["run.md", renderMarkdown(run.run)],
    ["compared.md", renderMarkdown(run.run, simulated.run)],
    ["violated.md", renderMarkdown(bad.run)],
    ["run.junit", renderJunit(run.run)],
    ["violated.junit", renderJunit(bad.run)],
    ...Object.entries(plans).flatMap(([name, plan]) => [
      ...partsOf(name, renderPlan(plan, "0.1.0", "pictures")),
      [`${name}.md`, renderPlanMarkdown(plan)] as [string, string],
      [`${name}.junit`, renderPlanJunit(plan)] as [string, string],
    ]),
    ...Object.entries(replays).flatMap(([name, replay]) => [
      ...partsOf(name, renderReplay(replay, "0.1.0", "pictures")),
      [`${name}.md`, renderReplayMarkdown(replay)] as [string, string],
      [`${name}.junit`, renderReplayJunit(replay)] as [string, string],
    ]),
  ];
}

test("documents and pictures have the bytes that they had", async () => {
  const digests = Object.fromEntries(
    (await documents()).map(([name, text]) => [
      name,
      createHash("sha256").update(text).digest("hex").slice(0, 16),
    ]),
  );
  expect(Object.keys(digests).length).toBeGreaterThan(60);
  if (process.env["GOLDEN"] === "pages") writeFileSync(kept, `${JSON.stringify(digests, null, 2)}\n`);
  expect(digests).toEqual(JSON.parse(readFileSync(kept, "utf8")));
});
