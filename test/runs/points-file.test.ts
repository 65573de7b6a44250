// Outcomes of an interrupted plan come from a file that anybody may have changed: each is held to its range.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FigureName } from "../../src/rules/figures.ts";
import { type PointsHeader, readPoints } from "../../src/runs/points-file.ts";

const header: PointsHeader = {
  format: "spillway-plan-points",
  version: 1,
  spillway: "0.0.0",
  scenario: "herd",
  digest: "",
  seed: 1,
  durationMs: 1000,
  rules: null,
  vary: [],
  until: [],
  storm: null,
  compare: false,
};
const figures = (["calls", "refusedShare", "waitP95Ms"] satisfies FigureName[]).map((name) => ({
  population: null,
  name,
}));

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-points-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(line: string) {
  const path = join(folder, "points.ndjson");
  await writeFile(path, `${JSON.stringify(header)}\n${line}\n`);
  return readPoints(path, header, figures);
}

describe("points.ndjson", () => {
  test.each([
    ["figures", { figures: [5, 0.25, 12.5], windows: null }],
    ["nothing that could be measured", { figures: [0, null, null], windows: null }],
    ["a share that rounding took past 1", { figures: [5, 1.0000000000000002, 0], windows: null }],
    [
      "counts by window",
      {
        figures: [],
        windows: [
          [5, 0],
          [7, 7],
        ],
      },
    ],
  ])("takes %s", async (_, outcome) => {
    expect([...(await read(JSON.stringify({ job: "a=1#0", ...outcome })))]).toEqual([["a=1#0", outcome]]);
  });

  test.each([
    ["a number beyond all numbers", "[5,1e999,0]", "null"],
    ["a share above 1", "[5,7,0]", "null"],
    ["a share below 0", "[5,-0.5,0]", "null"],
    ["a time without end", "[5,0.5,1e999]", "null"],
    ["half a call", "[0.5,0.5,0]", "null"],
    ["fewer calls than none", "[-1,0.5,0]", "null"],
    ["too few figures", "[5,0.5]", "null"],
    ["too many figures", "[5,0.5,0,0]", "null"],
    ["neither figures nor windows", "[]", "null"],
    ["more bad calls than calls", "[]", "[[5,6]]"],
    ["endless calls in a window", "[]", "[[1e999,0]]"],
  ])("refuses %s", async (_, figuresText, windows) => {
    const line = `{"job":"a=1#0","figures":${figuresText},"windows":${windows}}`;
    await expect(read(line)).rejects.toMatchObject({
      code: "RESUME_INVALID",
      problems: [{ path: join(folder, "points.ndjson:2"), allowed: "a run's outcome" }],
    });
  });
});

describe("an earlier plan's points", () => {
  const readAs = async (asked: Partial<PointsHeader>, text = `${JSON.stringify(header)}\n`) => {
    const path = join(folder, "earlier.ndjson");
    await writeFile(path, text);
    return readPoints(path, { ...header, ...asked }, figures);
  };

  test.each(
    Object.entries({ spillway: "1", scenario: "own", digest: "x", seed: 2, durationMs: 5, compare: true }),
  )("of another %s are refused, with what is asked now", async (field, value) => {
    const found = header[field as keyof PointsHeader];
    await expect(readAs({ [field]: value })).rejects.toMatchObject({
      code: "RESUME_INVALID",
      problems: [
        { path: field, got: JSON.stringify(found), allowed: `${JSON.stringify(value)}, as it is asked now` },
      ],
    });
  });

  test("are those of one format and version, in JSON; half a line at the end is none", async () => {
    const line = JSON.stringify({ job: "a=1#0", figures: [5, 0.25, 12.5], windows: null });
    expect((await readAs({}, `${JSON.stringify(header)}\n${line}\n${line.slice(0, 9)}`)).size).toBe(1);
    for (const first of [{ ...header, version: 2 }, { ...header, format: "other" }, null, 7])
      await expect(readAs({}, `${JSON.stringify(first)}\n`)).rejects.toMatchObject({
        problems: [{ allowed: "the first line of a plan's points" }],
      });
    await expect(readAs({}, "{\n")).rejects.toMatchObject({ problems: [{ allowed: "JSON" }] });
    await expect(readPoints(join(folder, "none"), header, figures)).rejects.toMatchObject({
      ...{ code: "FILE_UNREADABLE", problems: [{ got: "no such file" }] },
    });
  });
});
