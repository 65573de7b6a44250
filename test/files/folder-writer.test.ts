// Folders of results: the earlier one stays whole until the new one is, whatever happens; one writer at a time; nothing
// is written through a link.
import { spawn } from "node:child_process";
import { once } from "node:events";
import disk, {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FolderWriter, hiddenFolders } from "../../src/files/folder-writer.ts";
import { writerName, writerOf } from "../../src/files/writer-name.ts";

/** Ends a writer at one of its steps: each change of the disk counts down. `null` lets all through. */
const steps = { left: null as number | null, taken: 0 };
class Killed extends Error {}

/** Node's own functions that change the disk. */
const changes = {
  rename: disk.rename,
  rm: disk.rm,
  rmdir: disk.rmdir,
  mkdir: disk.mkdir,
  writeFile: disk.writeFile,
};

/** Puts functions in place of Node's own, for whoever has imported them. */
function exchange(functions: Readonly<Record<string, unknown>>): void {
  Object.assign(disk, functions);
  syncBuiltinESMExports();
}

const counted = (change: (...args: never[]) => Promise<unknown>) => {
  return async (...args: never[]): Promise<unknown> => {
    steps.taken += 1;
    if (steps.left !== null && steps.left-- <= 0) throw new Killed("killed");
    return change(...args);
  };
};

let root = "";
let folder = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "spillway-folder-"));
  folder = join(root, "run");
});
afterEach(async () => {
  steps.left = null;
  await rm(root, { recursive: true, force: true });
});

const names = { seals: ["run.json", "plan.json"], folders: ["pictures", "k6"] };
const open = (isFresh = false): Promise<FolderWriter> => FolderWriter.open(folder, names, isFresh);
const nothing = { files: [], within: {} };
const text = (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");

const parts = ["trace.ndjson", "verdict.json", "pictures/waits.svg", "k6/summary.json", "run.json"];
/** Files of an earlier result that a later one lacks. */
const outdated = { files: ["junit.xml"], within: { pictures: ["old.svg"], k6: ["dashboard.html"] } };

async function write(what: string, more: readonly string[] = []): Promise<void> {
  const writer = await open();
  try {
    for (const name of [...parts, ...more]) await writer.write(name, what);
    await writer.commit(outdated);
  } finally {
    await writer.close();
  }
}

/** All files of the folder with their texts; hidden ones apart. */
async function contents(): Promise<Record<string, string>> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((one) => one.isFile() && !one.parentPath.includes(".unfinished"));
  const entries = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length + 1), await readFile(path, "utf8")] as const;
  });
  return Object.fromEntries((await Promise.all(entries)).sort());
}

const all = (what: string): Record<string, string> =>
  Object.fromEntries(parts.map((name) => [name, what] as const).sort());

describe("a result", () => {
  test("is seen when all of it is written, and takes away what is outdated, and that alone", async () => {
    await write("earlier", ["junit.xml", "pictures/old.svg", "k6/dashboard.html"]);
    await writeFile(join(folder, "notes.txt"), "mine");
    for (const name of ["pictures", "k6"]) await writeFile(join(folder, name, "mine.txt"), "mine");
    const before = await contents();
    const writer = await open();
    for (const name of parts) await writer.write(name, "later");
    expect(await contents()).toEqual(before);
    await writer.commit(outdated);
    await writer.close();
    const mine = { "notes.txt": "mine", "pictures/mine.txt": "mine", "k6/mine.txt": "mine" };
    expect(await contents()).toEqual({ ...all("later"), ...mine });
    expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("without pictures takes the earlier ones away, and keeps somebody's own", async () => {
    await write("earlier", ["pictures/old.svg"]);
    await writeFile(join(folder, "pictures", "mine.svg"), "mine");
    const writer = await open();
    await writer.write("run.json", "later");
    await writer.commit({ files: [], within: { pictures: ["waits.svg", "old.svg"], k6: ["summary.json"] } });
    expect(await readdir(join(folder, "pictures"))).toEqual(["mine.svg"]);
    expect(await readdir(folder)).not.toContain("k6");
  });

  test("that is given up leaves the earlier one, and no folder that was made for it", async () => {
    const first = await open();
    await first.write("trace.ndjson", "half");
    await first.close();
    await expect(lstat(folder)).rejects.toMatchObject({ code: "ENOENT" });
    await write("earlier");
    const second = await open();
    await second.write("trace.ndjson", "half");
    await second.close();
    expect(await contents()).toEqual(all("earlier"));
  });

  test("gets a folder that nobody has, where it asks for one", async () => {
    const writers = [await open(true), await open(true), await open(true)];
    expect(writers.map((writer) => basename(writer.folder))).toEqual(["run", "run-2", "run-3"]);
    for (const writer of writers) await writer.close();
    expect(await readdir(root)).toEqual([]);
    await (await FolderWriter.open(join(root, "reports", "deep", "run"), names, true)).close();
    expect(await readdir(root)).toEqual([]);
  });

  test("cannot take the place of what is no file", async () => {
    await mkdir(join(folder, "verdict.json"), { recursive: true });
    await expect(write("later")).rejects.toMatchObject({
      code: "FILE_UNWRITABLE",
      problems: [{ path: join(folder, "verdict.json") }],
    });
    expect(await readdir(folder)).toEqual(["verdict.json"]);
  });
});

describe("a writer that is killed", () => {
  beforeEach(() =>
    exchange(Object.fromEntries(Object.entries(changes).map(([name, change]) => [name, counted(change)]))),
  );
  afterEach(() => exchange(changes));

  test("at any step leaves one result that is of one piece, and the next one goes on", async () => {
    await write("counted");
    await rm(folder, { recursive: true });
    steps.taken = 0;
    await write("earlier", ["junit.xml", "pictures/old.svg"]);
    const most = 2 * steps.taken;
    let sealed = 0;
    for (let step = 0; step < most; step++) {
      await rm(folder, { recursive: true, force: true });
      await write("earlier", ["junit.xml", "pictures/old.svg", "k6/dashboard.html"]);
      steps.left = step;
      const killed = await write("later").then(
        () => false,
        (error) => error instanceof Killed,
      );
      steps.left = null;
      if (!killed) break;
      const seen = await contents();
      // The one promise to readers: with its seal, a folder is of one piece.
      const { "junit.xml": _, "pictures/old.svg": __, "k6/dashboard.html": ___, ...kept } = seen;
      if (seen["run.json"] !== undefined) expect([all("earlier"), all("later")]).toContainEqual(kept);
      else sealed += 1;
      const next = await open();
      const now = await contents();
      expect([all("earlier")["run.json"], "later"]).toContain(now["run.json"]);
      expect(new Set(parts.map((name) => now[name])).size, `killed at step ${step}`).toBe(1);
      await next.close();
      await write("last");
      expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
    }
    expect(sealed).toBeGreaterThan(3);
  });

  test("for real leaves its hidden folder, which is found, until the next result is there", async () => {
    const path = fileURLToPath(new URL("../../src/files/folder-writer.ts", import.meta.url));
    const program = `import { FolderWriter } from ${JSON.stringify(path)};
      const writer = await FolderWriter.open(${JSON.stringify(folder)}, { seals: [], folders: [] });
      await writer.write("trace.ndjson", "half");
      console.log("written");
      setInterval(() => {}, 1000);`;
    const script = join(root, "writer.ts");
    const { build } = await import("esbuild");
    await build({
      stdin: { contents: program, resolveDir: root, loader: "ts" },
      outfile: `${script}.mjs`,
      bundle: true,
      platform: "node",
      format: "esm",
    });
    const child = spawn(process.execPath, [`${script}.mjs`], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    await expect(open()).rejects.toMatchObject({
      code: "FOLDER_IN_USE",
      exitCode: 2,
      problems: [{ path: folder, got: expect.stringContaining(`process ${child.pid} on `) }],
    });
    const ended = once(child, "close");
    child.kill("SIGKILL");
    await ended;
    const [hidden = ""] = await hiddenFolders(folder);
    expect(await readFile(join(hidden, "trace.ndjson"), "utf8")).toBe("half");
    await (await open()).close();
    expect(await hiddenFolders(folder)).toEqual([hidden]);
    await write("later");
    expect(await hiddenFolders(folder)).toEqual([]);
  });
});

describe("two writers", () => {
  test("of one process: the second is told of the first, until that has ended", async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({
      code: "FOLDER_IN_USE",
      problems: [{ got: expect.stringContaining(`process ${process.pid} on `) }],
    });
    await first.write("run.json", "whole");
    await first.commit(nothing);
    await first.close();
    const second = await open();
    expect(await text("run.json")).toBe("whole");
    await second.close();
  });

  test("that begin at once never both write", async () => {
    const begun = await Promise.allSettled(Array.from({ length: 6 }, () => open()));
    const writing = begun.filter((one) => one.status === "fulfilled");
    expect(writing.length).toBeLessThanOrEqual(1);
    for (const { value } of writing) await value.close();
    for (const one of begun)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "FOLDER_IN_USE" });
  });

  test.each([
    ["whose process is gone", (name: string) => name.replace(/^\d+/, "999999999"), false],
    [
      "whose process id was given out again",
      (name: string) => name.replace(/-[tm]\w+-/, "-t1-"),
      process.platform !== "linux",
    ],
    ["of another machine", (name: string) => `${name}-other`, true],
  ])("one %s", async (_, change, isHeld) => {
    const name = change(writerName());
    expect(writerOf(name)).not.toBeNull();
    await mkdir(join(folder, `.unfinished-${name}`), { recursive: true });
    if (isHeld) await expect(open()).rejects.toMatchObject({ code: "FOLDER_IN_USE" });
    else await write("later");
    expect((await hiddenFolders(folder)).length).toBe(isHeld ? 1 : 0);
  });
});

describe("links", () => {
  const outside = (): string => join(root, "outside");
  beforeEach(async () => {
    await mkdir(outside());
    await writeFile(join(outside(), "waits.svg"), "mine");
    await mkdir(folder);
  });
  afterEach(async () => {
    expect(await readdir(outside())).toEqual(["waits.svg"]);
    expect(await readFile(join(outside(), "waits.svg"), "utf8")).toBe("mine");
  });

  test.each([
    ["in the folder", () => symlink(join(outside(), "waits.svg"), join(folder, "run.json"))],
    ["for a folder inside", () => symlink(outside(), join(folder, "pictures"))],
    [
      "in a folder inside",
      async () => {
        await mkdir(join(folder, "k6"));
        await symlink(join(outside(), "waits.svg"), join(folder, "k6", "summary.json"));
      },
    ],
    [
      "in what somebody says a dead writer left",
      async () => {
        const forged = join(folder, `.unfinished-${writerName().replace(/^\d+/, "999999999")}`);
        await mkdir(join(forged, ".old-pictures"), { recursive: true });
        await writeFile(join(forged, ".whole"), "");
        await writeFile(join(forged, ".old-pictures", "waits.svg"), "theirs");
        await symlink(outside(), join(forged, "pictures"));
      },
    ],
  ])("%s are refused, and nothing is changed beyond", async (_, make) => {
    await make();
    await expect(write("later")).rejects.toMatchObject({
      code: "FILE_UNWRITABLE",
      problems: [{ got: "a symbolic link" }],
    });
  });

  test("made while it is written are not followed", async () => {
    const writer = await open();
    for (const name of parts) await writer.write(name, "later");
    await symlink(outside(), join(folder, "pictures"));
    await expect(writer.commit(outdated)).rejects.toMatchObject({ code: "FILE_UNWRITABLE" });
    await writer.close();
    await rename(join(folder, "pictures"), join(root, "link"));
  });
});
