// Every verb writes into every place that somebody else has prepared: nothing that stood there or that a link leads to
// is changed, and the command line ends with a documented status.
// @module-tag long
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allVerbs } from "../../src/cli/verbs.ts";
import { pointsFile, resultFiles } from "../../src/report/result-writer.ts";
import { k6Folder, picturesFolder, runFiles } from "../../src/report/run.ts";
import { CommandLines, judge } from "./command-lines.ts";
import { Materials } from "./materials.ts";
import { type Beside, verbs } from "./verbs.ts";

let materials: Materials;
let beside: Beside;
beforeAll(async () => {
  materials = await Materials.make();
  beside = { ...(await materials.putGood()), fresh: join(materials.root, "fresh") };
});
afterAll(() => materials.remove());

/** Files that verbs write under names of their own. */
const ownFiles = new Set([
  ...Object.values(runFiles),
  ...Object.values(resultFiles),
  ...["points.csv", "users.csv", "windows.csv", "agents.ts", "rules.json"],
  pointsFile,
]);
/** Files that the words of the table name. */
const namedFiles = ["out.html", "out.json", "out.js", "out.ts", "out.md"];
const ownFolders = [picturesFolder, k6Folder, "out-pictures", "simulated", "broken"];

/** Places by what is hostile in them. Each makes one, in the folder that it is given, and returns its path. */
const places: Readonly<Record<string, (place: string, outside: string) => Promise<string>>> = {
  "a folder of links": async (place, outside) => {
    await mkdir(place);
    for (const name of [...ownFiles, ...namedFiles])
      for (const linked of [name, `${name}.part`])
        await symlink(join(outside, "victim"), join(place, linked));
    for (const name of ownFolders) await symlink(outside, join(place, name));
    return place;
  },
  "a folder that links lead out of alone": async (place, outside) => {
    await mkdir(place);
    for (const name of ownFolders) await symlink(outside, join(place, name));
    return place;
  },
  "a folder of somebody else's files": async (place) => {
    await mkdir(place);
    for (const name of ownFiles) await writeFile(join(place, name), "theirs");
    return place;
  },
  "folders for files": async (place) => {
    for (const name of [...ownFiles, ...namedFiles]) await mkdir(join(place, name), { recursive: true });
    return place;
  },
  "a file": async (place) => {
    await writeFile(place, "theirs");
    return place;
  },
  "a folder that the system makes none in": async (place) => {
    if (existsSync("/proc/self")) return "/proc/spillway";
    await writeFile(place, "theirs");
    return join(place, "deeper");
  },
};

/** All that stands in a place, and what it holds; links are named and not followed. */
async function snapshot(place: string): Promise<ReadonlyMap<string, string>> {
  const found = await lstat(place).catch(() => null);
  if (found === null) return new Map();
  if (!found.isDirectory()) return new Map([[place, await readFile(place, "utf8")]]);
  const entries = await readdir(place, { withFileTypes: true });
  const parts = entries.map(async (entry): Promise<[string, string][]> => {
    const path = join(place, entry.name);
    if (entry.isSymbolicLink()) return [[path, "a link"]];
    return entry.isDirectory()
      ? [[path, "a folder"], ...(await snapshot(path))]
      : [...(await snapshot(path))];
  });
  return new Map((await Promise.all(parts)).flat());
}

/** A file that the words name may take the place of a link; nothing else may change. */
const isNamed = (path: string): boolean => namedFiles.some((name) => path.endsWith(`/${name}`));

const cases = Object.entries(verbs).flatMap(([verb, { writes }]) =>
  writes === undefined ? [] : [{ verb, words: writes }],
);

test("every verb that writes is in the table", async () => {
  const writing = (await allVerbs()).filter(({ name, options = {} }) => "out" in options || name === "init");
  expect(new Set(cases.map(({ verb }) => verb))).toEqual(new Set(writing.map(({ name }) => name)));
});

describe("wherever it writes", () => {
  const lines = new CommandLines();
  afterAll(() => lines.end());

  test.each(cases)("$verb", { timeout: 600_000 }, async ({ words }) => {
    for (const [what, make] of Object.entries(places)) {
      const place = await materials.place("place");
      const hostile = await make(place, materials.outside);
      const before = await snapshot(place);
      const line = words(hostile, beside);
      try {
        judge(line, await lines.run(line, dirname(place)));
        const after = await snapshot(place);
        for (const [path, content] of before)
          if (!isNamed(path)) expect([path, after.get(path)]).toEqual([path, content]);
        await materials.expectUntouched();
      } catch (error) {
        throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
});
