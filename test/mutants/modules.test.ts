// A mutant costs a new evaluation of the modules that depend on it, and of no other.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

test("modules that nothing changed are kept; what imports a changed one sees the change", async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "spillway-modules-")));
  onTestFinished(() => rm(root, { recursive: true }));
  const files = {
    "package.json": '{ "type": "module" }',
    "dist/src/rules/words.js": 'console.log("words"); export const word = "right";',
    "dist/src/rules/kept.js": 'console.log("kept"); export const kept = import.meta.url;',
    "dist/src/late.js": 'console.log("late");',
    "test/words.test.ts": `import { basename } from "node:path";
import { kept } from "../src/rules/kept.ts";
import { word, type Word } from "../src/rules/words.ts";
await import("../src/late.ts");
await import(new URL("../dist/src/late.js?2", import.meta.url).href);
console.log(word satisfies Word, basename(kept));`,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--experimental-vm-modules",
    "--no-warnings",
    "test/support/run.mjs",
    "test/mutants/modules-twice.ts",
    ...[root, "test/words.test.ts", "src/rules/words.ts"],
    'console.log("words anew"); export const word = "wrong";',
  ]);
  expect(stdout.trim().split("\n")).toEqual([
    "kept",
    "words",
    "late",
    "late",
    "right kept.js",
    "changed",
    "words anew",
    "late",
    "wrong kept.js",
  ]);
});
