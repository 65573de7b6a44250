// A run's folder: what is written comes back, nothing is half-written, and what is wrong is named.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeReport } from "../../src/report/report.ts";
import { runFiles } from "../../src/report/run.ts";
import { readRun, writeRun, writeText, writeTrace } from "../../src/report/run-folder.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
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

/** The coded error that an action ends with. */
async function errorOf(action: Promise<unknown>): Promise<SpillwayError> {
  const thrown = await action.then(
    () => null,
    (error: unknown) => error,
  );
  if (thrown instanceof SpillwayError) return thrown;
  throw new Error(`expected a coded error, got ${String(thrown)}`);
}

async function* endless(): AsyncGenerator<string> {
  for (;;) yield "x".repeat(10_000);
}

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

  it("leaves a trace alone that stands in its place already", async () => {
    await writeTrace(folder, lines);
    await writeRun(folder, { ...parts, trace: { moveFrom: join(folder, runFiles.trace) } });
    expect((await contents(runFiles.trace)).split("\n")).toHaveLength(lines.length + 1);
  });

  it("leaves no partial file, and nothing said of a run that is no more, where the trace breaks off", async () => {
    await writeRun(folder, parts);
    await writeReport(folder);
    async function* broken(): AsyncGenerator<string> {
      yield* lines.slice(0, 2);
      throw new Error("the driver fell over");
    }
    await expect(writeRun(folder, { ...parts, trace: broken() })).rejects.toThrow("the driver fell over");
    expect(await readdir(folder)).toEqual([runFiles.trace]);
    expect((await contents(runFiles.trace)).split("\n")).toHaveLength(lines.length + 1);
    expect((await errorOf(readRun(folder))).code).toBe("FILE_UNREADABLE");
  });

  it("leaves what stood there untouched where a file cannot be replaced", async () => {
    const path = join(folder, "occupied");
    await mkdir(join(path, "inside"), { recursive: true });
    const error = await errorOf(writeText(path, "text"));
    expect([error.code, error.problems[0]?.path]).toEqual(["FILE_UNWRITABLE", path]);
    expect(await readdir(folder)).toEqual(["occupied"]);
    expect(await readdir(path)).toEqual(["inside"]);
  });

  it("reports a full disk and leaves no partial file", async () => {
    const path = join(folder, "full.txt");
    await symlink("/dev/full", `${path}.part`);
    const error = await errorOf(writeText(path, endless()));
    expect([error.code, error.problems[0]?.got]).toEqual(["FILE_UNWRITABLE", "ENOSPC"]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("reports a folder that cannot be made, by name", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    const error = await errorOf(writeRun(join(file, "run"), parts));
    expect([error.code, error.exitCode]).toEqual(["FILE_UNWRITABLE", 2]);
    expect(error.problems[0]?.path).toContain(file);
  });
});

describe("reading", () => {
  beforeEach(() => writeRun(folder, parts));

  it("says that there is no such folder, or that it is a file", async () => {
    const missing = await errorOf(readRun(join(folder, "nowhere")));
    expect([missing.code, missing.problems[0]?.got]).toEqual(["FILE_UNREADABLE", "no such folder"]);
    const file = await errorOf(readRun(join(folder, runFiles.record)));
    expect([file.code, file.problems[0]?.got]).toEqual(["FILE_UNREADABLE", "a file"]);
  });

  it.each([runFiles.record, runFiles.summary, runFiles.verdict])(
    "names %s where it is missing",
    async (name) => {
      await rm(join(folder, name));
      const error = await errorOf(readRun(folder));
      expect([error.code, error.problems]).toMatchObject([
        "FILE_UNREADABLE",
        [{ path: join(folder, name), got: "no such file" }],
      ]);
    },
  );

  it.each([runFiles.record, runFiles.summary, runFiles.verdict])(
    "names %s where it is cut off",
    async (name) => {
      const text = await contents(name);
      await writeFile(join(folder, name), text.slice(0, text.length / 2));
      const error = await errorOf(readRun(folder));
      expect([error.code, error.problems[0]?.path]).toEqual(["RUN_INVALID", join(folder, name)]);
    },
  );

  it("names every field that is wrong", async () => {
    const record: Record<string, unknown> = JSON.parse(await contents(runFiles.record));
    const changed = { ...record, driver: "locust", seed: 1.5, expect: { refused: 3 }, command: undefined };
    await writeFile(join(folder, runFiles.record), JSON.stringify(changed));
    const error = await errorOf(readRun(folder));
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
    expect((await errorOf(readRun(folder))).problems).toMatchObject([{ path: "startedAt", got: "1e+300" }]);
    await writeFile(path, JSON.stringify({ ...run.record, expect: { refusdShare: "<5%" } }));
    const { problems } = await errorOf(readRun(folder));
    expect(problems).toMatchObject([
      { path: 'expect["refusdShare"]', allowed: expect.stringContaining("refusedShare") },
    ]);
  });

  it("refuses another version's files", async () => {
    await writeFile(join(folder, runFiles.summary), JSON.stringify({ ...run.summary, version: 2 }));
    const error = await errorOf(readRun(folder));
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
    expect((await errorOf(readRun(folder))).problems[0]?.path).toBe("figures.waitP95Ms");
    const rules = { organization: { rest: { limit: -1 } } };
    await writeFile(join(folder, runFiles.record), JSON.stringify({ ...run.record, rules }));
    await writeFile(join(folder, runFiles.summary), JSON.stringify(run.summary));
    const error = await errorOf(readRun(folder));
    expect([error.code, error.problems[0]?.path]).toEqual(["RUN_INVALID", "rules.organization.rest.limit"]);
  });

  it("reports a trace that is missing or broken, by its line, and writes no document then", async () => {
    const path = join(folder, runFiles.trace);
    await writeFile(path, `${lines[0]}\n{"sent":1}\n`);
    expect((await errorOf(writeReport(folder))).code).toBe("TRACE_INVALID");
    await rm(path);
    expect((await errorOf(writeReport(folder))).problems[0]?.path).toBe(path);
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
