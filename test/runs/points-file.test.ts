// Outcomes of an interrupted plan come from a file that anybody may have changed: each is held to its range.
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { quote } from "../../src/rules/errors.ts";
import type { FigureName } from "../../src/rules/figures.ts";
import { PointsFile, type PointsHeader, readPoints } from "../../src/runs/points-file.ts";

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

async function read(...lines: readonly string[]) {
  const path = join(folder, "points.ndjson");
  await writeFile(path, `${[JSON.stringify(header), ...lines].join("\n")}\n`);
  return readPoints(path, header, figures);
}

describe("points.ndjson", () => {
  test.each([
    ["figures", { figures: [5, 0.25, 12.5], windows: null }],
    ["nothing that could be measured", { figures: [0, null, null], windows: null }],
    ["a share that rounding took past 1", { figures: [5, 1.0000000000000002, 0], windows: null }],
  ])("takes %s", async (_, outcome) => {
    expect([...(await read(JSON.stringify({ job: "a=1#0", ...outcome })))]).toEqual([["a=1#0", outcome]]);
  });

  // 1,000 ms hold two whole windows of 400 ms.
  const byWindow = (job: string, ...windows: readonly (readonly [number, number])[]) =>
    JSON.stringify({ job, figures: [], windows });

  test("takes counts of each whole window", async () => {
    const lines = [
      byWindow("windows=400#0", [5, 0], [7, 7]),
      byWindow("a=1 burst@400=5 windows=400#1", [1, 0], [0, 0]),
    ];
    expect([...(await read(...lines)).values()]).toEqual(
      lines.map((line) => ({ figures: [], windows: JSON.parse(line).windows })),
    );
  });

  test.each([
    ["a window too few", byWindow("windows=400#1", [5, 0])],
    ["a window too many", byWindow("windows=400#1", [5, 0], [5, 0], [5, 0])],
    ["windows of a job by figures", byWindow("a=1#0", [5, 0], [5, 0])],
    ["figures of a job by windows", '{"job":"windows=400#1","figures":[5,0.25,12.5],"windows":null}'],
  ])("refuses %s, in whichever line", async (_, line) => {
    await expect(read(byWindow("windows=400#0", [5, 0], [7, 7]), line)).rejects.toMatchObject({
      code: "RESUME_INVALID",
      problems: [{ path: join(folder, "points.ndjson:3"), got: quote(line), allowed: "a run's outcome" }],
    });
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
    ["more bad calls than calls", "[]", "[[5,6]]", "windows=600#0"],
    ["endless calls in a window", "[]", "[[1e999,0]]", "windows=600#0"],
  ])("refuses %s", async (_, figuresText, windows, job = "a=1#0") => {
    const line = `{"job":"${job}","figures":${figuresText},"windows":${windows}}`;
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

describe("points that are written", () => {
  const job = (replication: number) => ({
    variant: { changes: [], trigger: null, windowMs: null },
    replication,
  });
  const outcome = (calls: number) => ({ figures: [calls, 0.5, null], windows: null });

  test("come after those that were known, in the order of their adding", async () => {
    const path = join(folder, "written.ndjson");
    await writeFile(path, "an earlier file");
    const file = await PointsFile.begin(path, header, new Map([["#7", outcome(7)]]));
    file.add(job(1), outcome(1));
    file.add(job(0), outcome(0));
    await file.close();
    expect((await readFile(path, "utf8")).split("\n")).toEqual([
      JSON.stringify(header),
      '{"job":"#7","figures":[7,0.5,null],"windows":null}',
      '{"job":"#1","figures":[1,0.5,null],"windows":null}',
      '{"job":"#0","figures":[0,0.5,null],"windows":null}',
      "",
    ]);
  });

  test("that cannot be written are told when the file is closed", async () => {
    const file = await PointsFile.begin(join(folder, "full.ndjson"), header, new Map());
    const other = await open(join(folder, "full.ndjson"));
    await other.close();
    const full = Object.assign(new Error("full"), { code: "ENOSPC" });
    const append = vi.spyOn(Object.getPrototypeOf(other), "appendFile").mockRejectedValueOnce(full);
    try {
      file.add(job(0), outcome(0));
      await expect(file.close()).rejects.toMatchObject({
        code: "FILE_UNWRITABLE",
        message: expect.stringContaining("the plan's points cannot be written"),
        problems: [{ path: "points.ndjson", got: "ENOSPC", allowed: "free space on the disk" }],
        cause: full,
      });
    } finally {
      append.mockRestore();
    }
  });
});
