// Folders of runs, as users find them: several at once, a kill, a full disk, a folder that is somebody else's. It takes
// long: whole runs, each with its report.
// @module-tag long
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hiddenFolders } from "../../src/files/folder-writer.ts";
import { type Ended, main, spillway, spillwayHere } from "../support/command.ts";
import { until } from "../support/until.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-places-")));
  await writeFile(join(folder, "short.ts"), scenario("short", "10s"));
  await writeFile(join(folder, "endless.ts"), scenario("endless", "5000h"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const scenario = (name: string, duration: string): string =>
  `import { defineScenario, worker, rest } from "spillway/scenario";
const behaviour = worker({ calls: [{ call: rest("/v2/user") }], think: "1s" });
export default defineScenario({ name: "${name}", duration: "${duration}", populations: { all: { clients: 20, behaviour } } });\n`;

const run = (...words: string[]): Promise<Ended> => spillwayHere(words, { cwd: folder });

/** All files below a folder with their bytes. */
async function snapshot(...path: string[]): Promise<Map<string, string>> {
  const found = await readdir(join(folder, ...path), { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = files.sort().map(async (file) => [file, await readFile(file, "latin1")] as const);
  return new Map(await Promise.all(texts));
}

/** A run that has written, and would write for ever: it is stopped, and holds its folder until it is ended. */
async function endless(out: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, "simulate", "endless.ts", "--out", out], {
    cwd: folder,
    stdio: "ignore",
  });
  await until(async () => {
    const [hidden = ""] = await hiddenFolders(join(folder, out));
    return (await readFile(join(hidden, "trace.ndjson"))).length > 200_000;
  });
  child.kill("SIGSTOP");
  return child;
}

describe("several runs at once", () => {
  test("have a folder each, where none is named", async () => {
    const ended = await Promise.all(
      [1, 2].map((seed) =>
        spillway(["simulate", "short.ts", "--seed", String(seed), "--json"], { cwd: folder }),
      ),
    );
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    const folders = ended.map(({ stdout }) => (JSON.parse(stdout) as { folder: string }).folder);
    expect(new Set(folders).size).toBe(2);
    for (const [index, place] of folders.entries())
      expect(JSON.parse(await readFile(join(folder, place, "run.json"), "utf8"))).toMatchObject({
        seed: index + 1,
      });
  });

  test("are one after the other in one folder: the second is told who writes it, and what a killed one left is judged", async () => {
    const first = await endless("shared");
    const second = await run("simulate", "short.ts", "--out", "shared");
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(new RegExp(`FOLDER_IN_USE [^]*got process ${first.pid} on `));
    const ended = once(first, "close");
    first.kill("SIGKILL");
    await ended;
    expect(await readdir(join(folder, "shared"))).toEqual([expect.stringMatching(/^\.unfinished-/)]);
    const verified = await run("verify", "shared", "--json");
    expect(verified.stderr).toContain("this run did not end");
    expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: "ok", violations: [] });
    expect((JSON.parse(verified.stdout) as { records: number }).records).toBeGreaterThan(100);
    const report = await run("report", "shared");
    expect([report.code, report.stderr]).toEqual([
      2,
      expect.stringContaining("verify still reads its trace"),
    ]);
    expect(await readdir(join(folder, "shared"))).toHaveLength(1);
    expect((await run("simulate", "short.ts", "--out", "shared")).code).toBe(0);
    expect((await readdir(join(folder, "shared"))).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

describe("a full disk", () => {
  /** A file of more than so many blocks of 512 bytes cannot be written: like a disk that is full, but anybody may ask for it. */
  const bounded = (blocks: number, ...words: string[]): Promise<Ended> =>
    spillway(words, { cwd: folder, program: ["sh", "-c", `ulimit -f ${blocks}; exec "$0" "$@"`] });

  test("costs a rerun, and leaves the earlier run as it was", async () => {
    expect((await run("simulate", "herd", "--out", "kept")).code).toBe(0);
    const before = await snapshot("kept");
    // The scenario's own module fits into half of this, the trace does not.
    const { code, stderr } = await bounded(400, "simulate", "herd", "--seed", "3", "--out", "kept");
    expect([code, stderr]).toEqual([2, expect.stringContaining("FILE_UNWRITABLE")]);
    expect(await snapshot("kept")).toEqual(before);
  });

  test("leaves nothing that the next init would refuse", async () => {
    const { code, stderr } = await bounded(0, "init", "mine");
    expect([code, stderr]).toEqual([2, expect.stringContaining("FILE_UNWRITABLE")]);
    expect((await run("init", "mine")).code).toBe(0);
    expect((await readdir(join(folder, "mine"))).toSorted()).toEqual(["agents.ts", "rules.json"]);
  });
});

describe("a folder of somebody else's", () => {
  test("is refused with its files by name, unless it is forced", async () => {
    await mkdir(join(folder, "project"));
    await writeFile(join(folder, "project", "junit.xml"), "<testsuites/>");
    const words = ["simulate", "short.ts", "--out", "project"];
    const refused = await run(...words);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("project/junit.xml");
    expect(refused.stderr).toContain("--force");
    expect(await readdir(join(folder, "project"))).toEqual(["junit.xml"]);
    expect((await run(...words, "--force")).code).toBe(0);
    expect(await readdir(join(folder, "project"))).toContain("run.json");
  });

  test.each(["run.json", "plan.json", "trace.ndjson"])(
    "that is called %s is refused before anything is run, forced or not",
    async (name) => {
      const place = join(folder, `folders-${name}`);
      await mkdir(join(place, name), { recursive: true });
      // It would run for ever.
      const { code, stderr } = await run("simulate", "endless.ts", "--out", place, "--force");
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${join(place, name)}: got a folder`)]);
      expect(await readdir(place)).toEqual([name]);
    },
  );

  test("leads nowhere by its links", async () => {
    await mkdir(join(folder, "outside"));
    await writeFile(join(folder, "outside", "traffic.svg"), "mine");
    expect((await run("simulate", "short.ts", "--out", "theirs")).code).toBe(0);
    await rm(join(folder, "theirs", "pictures"), { recursive: true });
    await symlink(join(folder, "outside"), join(folder, "theirs", "pictures"));
    for (const words of [
      ["report", "theirs"],
      ["simulate", "short.ts", "--out", "theirs"],
    ]) {
      const { code, stderr } = await run(...words);
      expect([code, stderr]).toEqual([2, expect.stringContaining("a symbolic link")]);
    }
    expect(await snapshot("outside")).toEqual(new Map([[join(folder, "outside", "traffic.svg"), "mine"]]));
  });

  test("may be one where the system makes none", async () => {
    const nowhere = existsSync("/proc/self") ? "/proc/spillway" : join(folder, "short.ts", "run");
    const { code, stderr } = await run("simulate", "short.ts", "--out", nowhere);
    expect([code, stderr]).toEqual([2, expect.stringContaining("FILE_UNWRITABLE")]);
  });
});
