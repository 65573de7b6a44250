// The folders of plans and replays: documents from what is there, the same each time; what is wrong is named.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readResult, writePlanReport, writeReplayReport } from "../../src/report/result-report.ts";
import { resultFiles } from "../../src/report/result-writer.ts";
import { chosen, mapped, replayed, searched, stormy } from "./results.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-result-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const keep = (name: string, value: unknown): Promise<void> =>
  writeFile(join(folder, name), typeof value === "string" ? value : JSON.stringify(value, null, 2));

describe("a folder", () => {
  it.each(Object.entries({ searched, chosen, mapped, stormy }))(
    "of a plan is read back: %s",
    async (_, plan) => {
      await keep(resultFiles.plan, plan);
      expect(await readResult(folder)).toEqual({ kind: "plan", result: plan });
    },
  );

  it.each([false, true])("of a replay is read back, callers that react: %s", async (react) => {
    const replay = await replayed(react);
    await keep(resultFiles.replay, replay);
    expect(await readResult(folder)).toEqual({ kind: "replay", result: replay });
  });

  it("of neither is none", async () => {
    expect(await readResult(folder)).toBeNull();
    expect(await readResult(join(folder, "nowhere"))).toBeNull();
  });

  it.each([
    ["cut off", JSON.stringify(searched).slice(0, 200)],
    ["of another version", JSON.stringify({ ...searched, version: 2 })],
    ["edited", JSON.stringify({ ...searched, points: [{ values: [1] }] })],
  ])("of a plan that is %s is named", async (_, text) => {
    await keep(resultFiles.plan, text);
    await expect(readResult(folder)).rejects.toMatchObject({ code: "RUN_INVALID", exitCode: 2 });
  });

  it("of a replay under rules that cannot be is named", async () => {
    const replay = await replayed();
    await keep(resultFiles.replay, { ...replay, rules: { organization: { rest: { limit: -1 } } } });
    await expect(readResult(folder)).rejects.toMatchObject({
      code: "RUN_INVALID",
      problems: [{ path: "rules.organization.rest.limit" }],
    });
  });
});

describe("documents", () => {
  it("are made beside the result, the same each time, of one plan after the other", async () => {
    await keep(resultFiles.plan, stormy);
    await writePlanReport(folder, stormy, "0.1.0");
    const { html, markdown, junit, pictures } = await writePlanReport(folder, searched, "0.1.0");
    expect(
      (await readdir(join(folder, "pictures"))).map((name) => join(folder, "pictures", name)).toSorted(),
    ).toEqual([...pictures].toSorted());
    const texts = await Promise.all([html, markdown, junit].map((path) => readFile(path, "utf8")));
    await writePlanReport(folder, searched, "0.1.0");
    expect(await Promise.all([html, markdown, junit].map((path) => readFile(path, "utf8")))).toEqual(texts);
    expect((await readdir(folder)).toSorted()).toEqual([
      "junit.xml",
      "pictures",
      "plan.json",
      "report.html",
      "summary.md",
    ]);
  });

  it("of a replay go elsewhere where asked to, without pictures where asked to", async () => {
    const replay = await replayed();
    const out = join(folder, "elsewhere", "page.html");
    const made = await writeReplayReport(folder, replay, "0.1.0", { out, pictures: false });
    expect(made).toMatchObject({ html: out, pictures: [] });
    expect(await readdir(join(folder, "elsewhere"))).toEqual(["page.html"]);
  });
});
