// A run's folder: what is written comes back, nothing is half-written, and what is wrong is named.
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { openResult, writeRun } from "../../src/report/result-writer.ts";
import { runFiles } from "../../src/report/run.ts";
import { readRun } from "../../src/report/run-folder.ts";
import { codedErrorOf } from "../support/coded-error.ts";
import { fixture } from "./fixtures.ts";

const { run, lines } = fixture({ seconds: 6 });
const parts = { ...run, trace: lines };
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-run-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const contents = (name: string): Promise<string> => readFile(join(folder, name), "utf8");

describe("writing", () => {
  it("gives back what was written", async () => {
    const inner = join(folder, "deep", "run");
    await writeRun(inner, parts);
    expect(await readRun(inner)).toEqual(run);
  });

  it("keeps a run that was not judged", async () => {
    await writeRun(folder, { ...parts, verdict: null });
    expect((await readRun(folder)).verdict).toBeNull();
  });

  it("takes the trace as lines, as lines that come later, or as a file that it moves", async () => {
    const text = `${lines.join("\n")}\n`;
    const file = join(folder, "elsewhere.ndjson");
    await writeFile(file, text);
    async function* later(): AsyncGenerator<string> {
      yield* lines;
    }
    for (const trace of [lines, later(), { moveFrom: file }]) {
      await writeRun(folder, { ...parts, trace });
      expect(await contents(runFiles.trace)).toBe(text);
    }
    expect(existsSync(file)).toBe(false);
  });

  it("takes a trace that stands in its place already", async () => {
    const place = join(folder, runFiles.trace);
    await writeFile(place, `${lines.join("\n")}\n`);
    await writeRun(folder, { ...parts, trace: { moveFrom: place } });
    expect((await contents(runFiles.trace)).split("\n")).toHaveLength(lines.length + 1);
    expect(await readRun(folder)).toEqual(run);
  });

  it("leaves the earlier run and its documents as they were where the trace breaks off", async () => {
    await writeRun(folder, parts);
    await writeReport(folder);
    const before = await Promise.all(
      (await readdir(folder)).map(async (name) => [name, await stat(join(folder, name))]),
    );
    async function* broken(): AsyncGenerator<string> {
      yield* lines.slice(0, 2);
      throw new Error("the driver fell over");
    }
    await expect(writeRun(folder, { ...parts, trace: broken() })).rejects.toThrow("the driver fell over");
    const after = await Promise.all(
      (await readdir(folder)).map(async (name) => [name, await stat(join(folder, name))]),
    );
    expect(after).toEqual(before);
  });

  it("reports a folder that cannot be made, by name", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const error = await codedErrorOf(writeRun(join(file, "run"), parts));
    expect([error.code, error.exitCode]).toEqual(["FILE_UNWRITABLE", 2]);
    expect(error.problems[0]?.path).toContain(file);
  });
});

describe("whose a folder is", () => {
  const strangers = { "summary.json": "{}", "junit.xml": "<testsuites/>", "run.json": '{"scripts": {}}' };
  const put = (files: Readonly<Record<string, string>>) =>
    Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const opened = async (force: boolean): Promise<void> =>
    (await openResult(folder, "run", { force })).close();

  it("is refused where it holds files that would be replaced, each by name", async () => {
    await put({ ...strangers, "package.json": "{}" });
    const error = await codedErrorOf(opened(false));
    expect([error.code, error.hint]).toEqual(["FILE_UNWRITABLE", expect.stringContaining("--force")]);
    expect(error.problems.map(({ path }) => path).toSorted()).toEqual(
      Object.keys(strangers)
        .map((name) => join(folder, name))
        .toSorted(),
    );
    expect((await readdir(folder)).toSorted()).toEqual(
      [...Object.keys(strangers), "package.json"].toSorted(),
    );
    await opened(true);
  });

  it.each(["plan", "replay"])("is refused where it is of a %s", async (kind) => {
    await put({ [`${kind}.json`]: JSON.stringify({ format: `spillway-${kind}` }) });
    expect((await codedErrorOf(opened(false))).problems).toMatchObject([
      { path: join(folder, `${kind}.json`) },
    ]);
  });

  it("is ours where a run is there, or nothing that would be replaced", async () => {
    await put({ "notes.txt": "mine" });
    await opened(false);
    await writeRun(folder, parts);
    await put({ "junit.xml": "<testsuites/>" });
    await opened(false);
  });

  it("of a run is what a plan's or replay's is no more, where it is forced", async () => {
    await put({ "plan.json": JSON.stringify({ format: "spillway-plan" }), "points.csv": "" });
    await writeRun(folder, parts);
    expect(await readdir(folder)).not.toContain("plan.json");
    expect(await readdir(folder)).not.toContain("points.csv");
  });
});

describe("reading", () => {
  beforeEach(() => writeRun(folder, parts));

  it("says that there is no such folder, or that it is a file", async () => {
    const missing = await codedErrorOf(readRun(join(folder, "nowhere")));
    expect([missing.code, missing.problems[0]?.got]).toEqual(["FILE_UNREADABLE", "no such folder"]);
    const file = await codedErrorOf(readRun(join(folder, runFiles.record)));
    expect([file.code, file.problems[0]?.got]).toEqual(["FILE_UNREADABLE", "a file"]);
  });

  it.each([runFiles.record, runFiles.summary, runFiles.verdict])(
    "names %s where it is missing",
    async (name) => {
      await rm(join(folder, name));
      const error = await codedErrorOf(readRun(folder));
      expect([error.code, error.problems]).toMatchObject([
        "FILE_UNREADABLE",
        [{ path: join(folder, name), got: "no such file" }],
      ]);
    },
  );

  it("says of a run that did not end whether a trace is left, and whose file is missing otherwise", async () => {
    const hint = async () => (await codedErrorOf(readRun(folder))).hint;
    await rm(join(folder, runFiles.summary));
    expect(await hint()).toBeUndefined();
    await rm(join(folder, runFiles.record));
    expect(await hint()).toMatch(/did not end; .* verify still reads its trace$/);
    await rm(join(folder, runFiles.trace));
    expect(await hint()).toMatch(/did not end, and left no trace$/);
    const writer = await openResult(folder, "run", { force: true });
    await writer.write(runFiles.trace, "half");
    expect(await hint()).toMatch(/verify still reads its trace$/);
    await writer.close();
  });

  it.each([runFiles.record, runFiles.summary, runFiles.verdict])(
    "names %s where it is cut off",
    async (name) => {
      const text = await contents(name);
      await writeFile(join(folder, name), text.slice(0, text.length / 2));
      const error = await codedErrorOf(readRun(folder));
      expect([error.code, error.problems[0]?.path]).toEqual(["RUN_INVALID", join(folder, name)]);
    },
  );

  it("names every field that is wrong", async () => {
    const record: Record<string, unknown> = JSON.parse(await contents(runFiles.record));
    const changed = { ...record, driver: "locust", seed: 1.5, expect: { refused: 3 }, command: undefined };
    await writeFile(join(folder, runFiles.record), JSON.stringify(changed));
    const error = await codedErrorOf(readRun(folder));
    expect(error.code).toBe("RUN_INVALID");
    expect(error.problems.map(({ path, got }) => [path, got])).toEqual([
      ["driver", '"locust"'],
      ["seed", "1.5"],
      ["command", "nothing"],
      ["expect.refused", "3"],
    ]);
  });

  it("names a time that no calendar has, and an expectation that cannot be read", async () => {
    const path = join(folder, runFiles.record);
    await writeFile(path, JSON.stringify({ ...run.record, startedAt: 1e300 }));
    expect((await codedErrorOf(readRun(folder))).problems).toMatchObject([
      { path: "startedAt", got: "1e+300" },
    ]);
    await writeFile(path, JSON.stringify({ ...run.record, expect: { refusdShare: "<5%" } }));
    const { problems } = await codedErrorOf(readRun(folder));
    expect(problems).toMatchObject([
      { path: 'expect["refusdShare"]', allowed: expect.stringContaining("refusedShare") },
    ]);
  });

  it("refuses another version's files", async () => {
    await writeFile(join(folder, runFiles.summary), JSON.stringify({ ...run.summary, version: 2 }));
    const error = await codedErrorOf(readRun(folder));
    expect(error.problems).toMatchObject([
      { path: "version", got: "2", allowed: expect.stringContaining("1") },
    ]);
  });

  it("reads a run that was kept before later figures were counted", async () => {
    const { finishedMs: _, windowsExhausted: __, ...figures } = run.summary.figures;
    await writeFile(join(folder, runFiles.summary), JSON.stringify({ ...run.summary, figures }));
    const read = (await readRun(folder)).summary.figures;
    expect(read).toEqual({ ...run.summary.figures, finishedMs: null, windowsExhausted: null });
  });

  it("names a figure that is missing, and rules that cannot be", async () => {
    const { waitP95Ms: _, ...figures } = run.summary.figures;
    await writeFile(join(folder, runFiles.summary), JSON.stringify({ ...run.summary, figures }));
    expect((await codedErrorOf(readRun(folder))).problems[0]?.path).toBe("figures.waitP95Ms");
    const rules = { organization: { rest: { limit: -1 } } };
    await writeFile(join(folder, runFiles.record), JSON.stringify({ ...run.record, rules }));
    await writeFile(join(folder, runFiles.summary), JSON.stringify(run.summary));
    const error = await codedErrorOf(readRun(folder));
    expect([error.code, error.problems[0]?.path]).toEqual(["RUN_INVALID", "rules.organization.rest.limit"]);
  });

  it("reports a trace that is missing or broken, by its line, and writes no document then", async () => {
    const path = join(folder, runFiles.trace);
    await writeFile(path, `${lines[0]}\n{"sent":1}\n`);
    expect((await codedErrorOf(writeReport(folder))).code).toBe("TRACE_INVALID");
    await rm(path);
    expect((await codedErrorOf(writeReport(folder))).problems[0]?.path).toBe(path);
    expect(existsSync(join(folder, runFiles.html))).toBe(false);
  });
});

describe("documents", () => {
  it("are made beside the data, the same each time, pictures as files and no others", async () => {
    await writeRun(folder, parts);
    const first = await writeReport(folder);
    const texts = await Promise.all([first.html, first.markdown, first.junit].map((path) => readFile(path)));
    // The page of an earlier run had one more; the other file is somebody's own.
    await writeFile(first.html, 'href="pictures/window-9.svg" href="pictures/../run.json"');
    for (const name of ["window-9.svg", "mine.svg"]) await writeFile(join(folder, "pictures", name), "");
    const second = await writeReport(folder);
    const again = await Promise.all(
      [second.html, second.markdown, second.junit].map((path) => readFile(path)),
    );
    expect(again.map((text, index) => text.equals(texts[index] ?? Buffer.alloc(0)))).toEqual([
      true,
      true,
      true,
    ]);
    for (const name of ["traffic.svg", "traffic.csv"])
      expect(second.pictures).toContain(join(folder, "pictures", name));
    const written = await readdir(join(folder, "pictures"));
    expect(written.map((name) => join(folder, "pictures", name)).toSorted()).toEqual(
      [...second.pictures, join(folder, "pictures", "mine.svg")].toSorted(),
    );
  });

  it("read a trace that is gzipped", async () => {
    await writeRun(folder, parts);
    const plain = await readFile((await writeReport(folder)).html);
    await writeFile(join(folder, runFiles.trace), gzipSync(lines.join("\n").concat("\n")));
    expect((await readFile((await writeReport(folder)).html)).equals(plain)).toBe(true);
  });
});
