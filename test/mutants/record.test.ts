// The record of a run: its share is of the first judgement, whatever tests were written since.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fileOf, type JudgedMutant, keepRun, type MutantRun, readRun, scoreText } from "./record.ts";

const mutant = (line: number, change: Partial<JudgedMutant> = {}): JudgedMutant => ({
  path: "src/x.ts",
  line,
  kind: "boundary",
  text: "if (a < b) {",
  was: "<",
  becomes: "<=",
  outcome: "killed",
  by: "test/x.test.ts",
  test: "x",
  reason: null,
  passed: 0,
  left: 0,
  ...change,
});
const survived = { outcome: "survived", by: null, test: "", passed: 5 } as const;
const run: MutantRun = {
  format: "spillway-mutants",
  version: 1,
  seed: 7,
  sample: 5,
  commit: "abc1234",
  node: "20.20.2",
  budgetSeconds: 60,
  interrupted: false,
  seconds: 9,
  unsound: ["test/odd.test.ts"],
  mutants: [
    mutant(1),
    mutant(2),
    mutant(3, { ...survived, left: 2 }),
    mutant(4, { ...survived, killedSince: true, kind: "statement", was: "f(\n  x);", becomes: ";" }),
    mutant(5, { outcome: "equivalent", by: null, test: "", reason: "b is never a" }),
  ],
};

test("equivalent mutants are not judged, and what is killed since is no part of the share", () => {
  expect(scoreText(run)).toBe("2 of 4 mutants killed (50.0%); 1 equivalent");
  expect(scoreText({ mutants: [] })).toBe("0 of 0 mutants killed (–); 0 equivalent");
});

test("a folder keeps each seed's run, and one README of all", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-mutants-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await keepRun(folder, { ...run, seed: 12, mutants: [mutant(1)], unsound: [] });
  await keepRun(folder, run);
  expect(await readRun(fileOf(folder, 7))).toEqual(run);
  const lines = (await readFile(join(folder, "README.md"), "utf8")).split("\n");
  expect(lines.filter((line) => line.startsWith("| ")).slice(1)).toEqual([
    "| 7 | abc1234 | 5 of 5 | 1 | 2 of 4 | 50.0% | 1 | 1 | 60 |",
    "| 12 | abc1234 | 1 of 5 | 0 | 1 of 1 | 100.0% | 0 | 0 | 60 |",
  ]);
  expect(lines.join(" ")).toContain("All first runs together: 3 of 5 killed (60.0%); the aim is 95%.");
  expect(lines).toContain("- **survives**: `src/x.ts:3  boundary  < → <=  in: if (a < b) {`");
  expect(lines).toContain("- killed since: `src/x.ts:4  statement  f( x); → (left out)  in: if (a < b) {`");
  expect(lines).toContain("- equivalent: `src/x.ts:5  boundary  < → <=  in: if (a < b) {`: b is never a");
  expect(lines).toContain("- not asked, since it fails without a mutant where this ran: test/odd.test.ts");
});
