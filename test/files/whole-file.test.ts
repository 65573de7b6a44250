// Files written whole or not at all, through no link, and folders that are made in a bounded number of steps.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolder, makeOwnFolder, writeNew, writeWhole } from "../../src/files/whole-file.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-files-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => join(folder, ...names);
const full = (): Promise<never> => Promise.reject(Object.assign(new Error("no space"), { code: "ENOSPC" }));

describe("a file", () => {
  test("replaces a link in its place, and does not follow it", async () => {
    await writeFile(at("victim"), "mine");
    await symlink(at("victim"), at("report.html"));
    await writeWhole(at("report.html"), "page");
    expect([await readFile(at("victim"), "utf8"), await readFile(at("report.html"), "utf8")]).toEqual([
      "mine",
      "page",
    ]);
    expect((await lstat(at("report.html"))).isSymbolicLink()).toBe(false);
  });

  test("goes through no name that can be foreseen", async () => {
    await writeFile(at("victim"), "mine");
    for (const name of ["page.part", "page.tmp", ".page.part", `page.${process.pid}`])
      await symlink(at("victim"), at(name));
    const before = (await readdir(folder)).toSorted();
    await writeWhole(at("page"), "text");
    expect(await readFile(at("victim"), "utf8")).toBe("mine");
    expect((await readdir(folder)).toSorted()).toEqual([...before, "page"].toSorted());
  });

  test.each(["a full disk", "a source that fails"])("is as it was after %s", async (what) => {
    await writeWhole(at("page"), "earlier");
    async function* source(): AsyncGenerator<string> {
      yield "x".repeat(100_000);
      if (what === "a full disk") await full();
      throw new Error("the source fell over");
    }
    const written = writeWhole(at("page"), source());
    if (what === "a full disk")
      await expect(written).rejects.toMatchObject({
        code: "FILE_UNWRITABLE",
        problems: [{ path: at("page"), got: "ENOSPC" }],
      });
    else await expect(written).rejects.toThrow("the source fell over");
    expect(await readFile(at("page"), "utf8")).toBe("earlier");
    expect(await readdir(folder)).toEqual(["page"]);
  });

  test("may be a pipe, which is written to and stays one", { tags: ["coreutils"] }, async () => {
    await promisify(execFile)("mkfifo", [at("pipe")]);
    const read = readFile(at("pipe"), "utf8");
    await writeWhole(at("pipe"), "through");
    expect(await read).toBe("through");
    expect((await lstat(at("pipe"))).isFIFO()).toBe(true);
  });

  test("cannot take the place of a folder", async () => {
    await mkdir(at("page", "inside"), { recursive: true });
    await expect(writeWhole(at("page"), "text")).rejects.toMatchObject({ code: "FILE_UNWRITABLE" });
    expect(await readdir(folder)).toEqual(["page"]);
  });

  test("that must be new overwrites nothing, and leaves nothing half-written", async () => {
    await writeNew(at("agents.ts"), "mine");
    await expect(writeNew(at("agents.ts"), "yours")).rejects.toMatchObject({
      code: "FILE_UNWRITABLE",
      problems: [{ got: "a file that is already there" }],
    });
    expect(await readFile(at("agents.ts"), "utf8")).toBe("mine");
    async function* cut(): AsyncGenerator<string> {
      yield "half";
      await full();
    }
    await expect(writeNew(at("rules.json"), cut())).rejects.toMatchObject({ problems: [{ got: "ENOSPC" }] });
    expect(await readdir(folder)).toEqual(["agents.ts"]);
  });
});

describe("a folder", () => {
  test("is made with all on its way, and may be there", async () => {
    await makeFolder(at("a", "b", "c"));
    await makeFolder(at("a", "b", "c"));
    expect(await readdir(at("a", "b"))).toEqual(["c"]);
  });

  test("cannot be made below a file, a link to nowhere, or where the system makes none", async () => {
    await writeFile(at("file"), "");
    await symlink(at("nowhere"), at("link"));
    const nothing = existsSync("/proc/self") ? "/proc/spillway/run" : at("file", "run");
    for (const path of [at("file", "run"), at("link", "run"), nothing])
      await expect(makeFolder(path)).rejects.toMatchObject({ code: "FILE_UNWRITABLE" });
    expect(await readlink(at("link"))).toBe(at("nowhere"));
    expect(existsSync(at("nowhere"))).toBe(false);
  });

  test("of our own naming is no link", async () => {
    await mkdir(at("outside"));
    await symlink(at("outside"), at("page-pictures"));
    await expect(makeOwnFolder(at("page-pictures"))).rejects.toMatchObject({ code: "FILE_UNWRITABLE" });
    await makeOwnFolder(at("other-pictures"));
  });
});
