// A plan in a folder: its points as they come, its result, a plan that goes on, and one that is interrupted.
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planInto } from "../../src/runs/plan-into.ts";
import { codedErrorOf } from "../support/coded-error.ts";

let folder = "";
let path = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-plan-into-")));
  path = join(folder, "some.ts");
  await writeFile(
    path,
    `import { defineScenario, poller, rest } from "spillway/scenario";
export default defineScenario({ name: "some", duration: "3s", seed: 3, startAt: "2026-01-01T00:00:00Z",
  rules: { user: { rest: { limit: 2 } } },
  populations: { all: { clients: 1, behaviour: poller({ every: "500ms", call: rest("/v2/user") }) } } });\n`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const out = () => join(folder, "plan");
async function planned(more: Partial<Parameters<typeof planInto>[1]> = {}) {
  const told: string[] = [];
  const plan = await planInto(path, {
    ...{ asked: { vary: ["all.clients=1..3"], replications: 6 }, adjustments: {}, workers: 1 },
    ...{ out: out(), force: false, resume: false, importMs: 10_000 },
    signal: new AbortController().signal,
    onProgress: (text) => told.push(text),
    ...more,
  });
  const points = (await readFile(join(out(), "points.ndjson"), "utf8")).trimEnd().split("\n");
  return { ...plan, told, points };
}
const words = (told: readonly string[]) => told.map((text) => text.replace(/, .*/, ""));

test("a plan is kept with its points, goes on from them, and is refused where they are of another question", async () => {
  const first = await planned();
  expect(first.folder).toBe(out());
  const runs = first.points.length - 1;
  expect(runs).toBeGreaterThanOrEqual(6);
  expect(JSON.parse(first.points[0] ?? "")).toMatchObject({
    format: "spillway-plan-points",
    scenario: "some",
    seed: 3,
    durationMs: 3000,
    vary: ["all.clients=1..3"],
    storm: null,
    compare: false,
  });
  expect(words(first.told)).toEqual(
    Array.from({ length: runs }, (_, at) => `planning: ${at + 1} run${at === 0 ? "" : "s"} done`),
  );
  for (const text of first.told) expect(text).not.toMatch(/NaN|Infinity|-\d/);
  expect(first.result?.simulations).toBe(runs);
  expect((await readdir(out())).sort()).toEqual(
    ["junit.xml", "pictures", "plan.json", "points.csv", "points.ndjson", "report.html", "summary.md"].sort(),
  );
  expect(JSON.parse(await readFile(join(out(), "plan.json"), "utf8"))).toEqual(
    JSON.parse(JSON.stringify(first.result)),
  );
  // Half of the points are taken away: only those are run again.
  const kept = first.points.slice(0, 1 + (runs >> 1));
  await writeFile(join(out(), "points.ndjson"), `${kept.join("\n")}\n{"job":"cut`);
  const resumed = await planned({ resume: true });
  expect(resumed.told).toHaveLength(runs - (runs >> 1));
  expect(words(resumed.told)[0]).toBe(`planning: ${(runs >> 1) + 1} runs done`);
  expect([...resumed.points].sort()).toEqual([...first.points].sort());
  expect(resumed.result).toEqual(first.result);
  const other = planned({ resume: true, adjustments: { seed: 4 } });
  expect(await codedErrorOf(other)).toMatchObject({ code: "RESUME_INVALID", problems: [{ path: "seed" }] });
});

test("a plan that is interrupted has no result, and keeps what was done", async () => {
  const control = new AbortController();
  const { result, points } = await planned({
    signal: control.signal,
    onProgress: () => control.abort(),
  });
  expect(result).toBeNull();
  expect(points).toHaveLength(2);
});
