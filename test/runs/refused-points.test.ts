// Points that no plan goes on from: each is told by its line, and by what stands there.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PointsHeader, readPoints } from "../../src/runs/points-file.ts";

const header: PointsHeader = {
  ...{ format: "spillway-plan-points", version: 1, spillway: "1.0.0", scenario: "herd", digest: "d" },
  ...{ seed: 1, durationMs: 1000, rules: null, vary: ["limit=1..9"], until: ["refusedShare<=0"] },
  ...{ storm: null, compare: false },
};
const figures = [{ population: null, name: "calls" } as const];
const first = JSON.stringify(header);
const good = JSON.stringify({ job: "limit=1#0", figures: [5], windows: null });
const bad = good.replace("[5]", "[-5]");

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-refused-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["nothing at all", "", ':1: got "", allowed: JSON'],
  ["a first line in no JSON", "{\n", ':1: got "{", allowed: JSON'],
  ["a first line of something else", "[7]\n", ":1: got [7], allowed: the first line of a plan's points"],
  ["a second line in no JSON", `${first}\n{\n${good}\n`, ':2: got "{", allowed: JSON'],
  ["a third line in no JSON", `${first}\n${good}\nx\n`, ':3: got "x", allowed: JSON'],
  [
    "a second line beyond its range",
    `${first}\n${bad}\n`,
    `:2: got ${JSON.stringify(bad)}, allowed: a run's outcome`,
  ],
  ["an empty third line", `${first}\n${good}\n\n`, ':3: got "", allowed: JSON'],
])("%s", async (_, text, problem) => {
  const path = join(folder, "points.ndjson");
  await writeFile(path, text);
  const refused = readPoints(path, header, figures);
  await expect(refused).rejects.toMatchObject({ code: "RESUME_INVALID" });
  await expect(refused).rejects.toThrow(`${path}${problem}`);
});
