// The fault matrix's own logic, on a few faults: what each net finds, what counts as a shortcoming, what is kept.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseFault } from "../../src/faults/choice.ts";
import { run } from "./matrix.ts";
import { falseAlarms } from "./matrix-alarms.ts";
import { laws, simulated } from "./matrix-nets.ts";
import {
  type Matrix,
  naming,
  type Row,
  readme,
  shortcomings,
  withRowsOf,
  writeMatrix,
} from "./matrix-report.ts";
import scenario from "./matrix-scenario.ts";
import { settingsOf } from "./matrix-settings.ts";

const { signal } = new AbortController();

describe("what is asked for", () => {
  test("all forms of all faults, published; a part of them is not", () => {
    const all = settingsOf([]);
    expect(all.out).toBe("reports/faults");
    expect([all.alarmRuns, all.alarmRecords]).toEqual([3_000, 10_000_000]);
    expect(all.only.filter(({ fault }) => fault.name === "skewed-nodes").map(({ rate }) => rate)).toEqual([
      10, 3.7,
    ]);
    for (const args of [["--quick"], ["--only", "double-count"], ["--nets", "P"]])
      expect(settingsOf(args).out).toBeNull();
  });

  test("a part may be published beside the rows that stand, by all nets alone", () => {
    expect(settingsOf(["--only", "double-count", "--publish"])).toMatchObject({
      out: "reports/faults",
      publish: true,
      command: "npm run faults",
    });
    for (const word of [["--quick"], ["--nets", "P"], ["--driver", "node"]])
      expect(() => settingsOf([...word, "--publish"])).toThrow("--publish");
  });

  test("the count of false alarms alone, published beside all rows", () => {
    const count = settingsOf(["--alarms"]);
    expect(count).toMatchObject({ only: [], nets: [], out: "reports/faults", publish: true });
    expect([count.alarmRuns, count.alarmRecords]).toEqual([3_000, 10_000_000]);
    expect(() => settingsOf(["--alarms", "--only", "double-count"])).toThrow("--alarms");
  });

  test("the bounded form runs what real runs alone can show, and leaves out what the tests do", () => {
    const { isReal, nets } = settingsOf(["--quick"]);
    expect(nets).toEqual(["L"]);
    const real = (name: string): boolean => isReal(parseFault(name));
    expect(["headers-missing-on-429", "stale-replica-read", "status-charged", "overflow"].map(real)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test.each([["--only", "no-such-fault"], ["--runs", "many"], ["--nonsense"]])(
    "%s %s is refused",
    (...args) => {
      expect(() => settingsOf(args)).toThrow();
    },
  );
});

describe("the nets", () => {
  test("P: a law finds it, in so many runs", async () => {
    const cell = await laws(parseFault("double-count"), { runs: 100, seed: 1, all: false, signal });
    expect(cell.caught).toBe(true);
    expect(cell.laws).toContain(cell.law);
    expect(cell.runs).toBeLessThanOrEqual(100);
  });

  test("V: the oracle sees it in a simulated trace, and names it", async () => {
    const cell = await simulated(parseFault("status-pristine"), { seed: 1, seeds: 2, signal });
    expect(cell).toMatchObject({ caught: true, seeds: 2, caughtSeeds: 2, firstSeeds: 2 });
    expect(cell.example?.calls).toBeGreaterThan(0);
  });

  test("right deployments raise no alarm, and the same seed makes the same worlds", async () => {
    const options = { seed: 7, runs: 5, records: 0, signal, onProgress: () => {} };
    const alarms = await falseAlarms(options);
    expect(alarms).toMatchObject({ runs: 5, alarms: [] });
    expect(await falseAlarms(options)).toEqual(alarms);
  });
});

describe("the scenario of a real run", () => {
  test("has two clients that are alone in their organizations, and users that are not", () => {
    const clients = new Map<string, number>();
    for (const { organization, clients: count } of scenario.populations)
      clients.set(organization ?? "acme", (clients.get(organization ?? "acme") ?? 0) + (count ?? 0));
    expect([...clients].filter(([, count]) => count === 1).map(([name]) => name)).toEqual(["solo", "narrow"]);
  });
});

const caughtLaws = { caught: true, law: "conserved", runs: 3, laws: ["conserved"] } as const;
const verdict = {
  caught: true,
  records: 900,
  calls: 12,
  law: "conserved",
  first: "a",
  isFirst: true,
  isAmong: true,
};
const seen = { caught: true, seeds: 2, caughtSeeds: 2, firstSeeds: 1, amongSeeds: 2, example: verdict };
const checks = { caught: true, answers: 900, failed: { "conserved: fell too far": 30 } };
const row: Row = {
  fault: "double-count=1",
  wrong: "a call is charged twice",
  seenIn: [],
  nets: ["P", "V", "L"],
  laws: caughtLaws,
  simulated: seen,
  k6: { verdict, checks, failure: null },
  audits: null,
};
const clean = { caught: false, seeds: 2, caughtSeeds: 0, firstSeeds: 0, amongSeeds: 0, example: null };
const matrix: Matrix = {
  seed: 1,
  versions: { node: "20.20.2" },
  command: "npm run faults",
  lawRuns: 100,
  seeds: 2,
  interrupted: false,
  rows: [row],
  controls: [{ control: "the engine", laws: null, simulated: clean, k6: null, audits: null }],
  alarms: null,
};

describe("what is wrong with a matrix", () => {
  test("nothing, where each net caught what it must", () => {
    expect(shortcomings(matrix)).toEqual([]);
    expect(naming(matrix)).toEqual({ caught: 3, first: 2, among: 3 });
  });

  test("a net that a row names and that missed; one that it does not name may", () => {
    const missed = { ...row, laws: { ...caughtLaws, caught: false } };
    expect(shortcomings({ ...matrix, rows: [missed] })).toEqual(["double-count=1: P, the laws, missed it"]);
    expect(shortcomings({ ...matrix, rows: [{ ...missed, nets: ["V"] }] })).toEqual([]);
  });

  test("an audit that missed what it must find, or accuses a right deployment", () => {
    const audits = { caught: false, experiment: null, law: null, calls: 400, experiments: 60 };
    const missed: Row = { ...row, nets: ["A"], audits };
    expect(shortcomings({ ...matrix, rows: [missed] })).toEqual(["double-count=1: A, the audit, missed it"]);
    const caught = { ...audits, caught: true, experiment: "twins", law: "conserved" };
    expect(readme({ ...matrix, rows: [{ ...missed, audits: caught }] })).toContain("| twins (conserved) |");
    const [control] = matrix.controls;
    expect(
      shortcomings({ ...matrix, controls: [{ ...control, control: "right", audits: caught }] as never }),
    ).toEqual(["right: accused by the audit (twins: conserved)"]);
  });

  test("one simulation of several in which it was missed", () => {
    const once = { ...row, simulated: { ...seen, caught: false, caughtSeeds: 1 } };
    expect(shortcomings({ ...matrix, rows: [once] })).toEqual([
      "double-count=1: V, the oracle, missed it in 1 simulations",
    ]);
  });

  test("a control that is accused, and a false alarm", () => {
    const accused = { control: "the engine", laws: caughtLaws, simulated: null, k6: null, audits: null };
    const alarms = {
      runs: 1,
      records: 10,
      unknown: 0,
      alarms: [{ seed: 9, law: "isolated", explanation: "" }],
      switches: { a: 1 },
      withoutRules: 0,
    };
    expect(shortcomings({ ...matrix, controls: [accused], alarms })).toEqual([
      "the engine: accused by the laws (conserved)",
      "a false alarm: isolated, world 9",
    ]);
  });
});

test("rows are put into a matrix that stands, in the catalogue's order, unless it was made otherwise", async () => {
  const folder = await mkdtemp(join(tmpdir(), "spillway-matrix-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const named = (fault: string, wrong = row.wrong): Row => ({ ...row, fault, wrong });
  const alarms = { runs: 3, records: 9, unknown: 0, alarms: [], switches: {}, withoutRules: 1 };
  await writeMatrix(folder, { ...matrix, rows: [named("c"), named("b"), named("gone")], alarms });
  const found = { ...matrix, rows: [named("a"), named("b", "new")], alarms: null };
  const whole = await withRowsOf(folder, found, ["a", "b", "c"]);
  expect(whole).toEqual({ ...matrix, rows: [named("a"), named("b", "new"), named("c")], alarms });
  await expect(withRowsOf(folder, { ...found, seeds: matrix.seeds + 1 }, [])).rejects.toThrow("run it whole");
  const counted = { ...alarms, runs: 4, commit: "abc1234" };
  expect(await withRowsOf(folder, { ...found, rows: [], alarms: counted }, ["a", "b", "c"])).toEqual({
    ...matrix,
    rows: [named("c"), named("b"), named("gone")],
    alarms: counted,
  });
});

test("the table says what caught a fault and after how much, in bold what missed, and no date", () => {
  const text = readme({
    ...matrix,
    rows: [row, { ...row, fault: "other", laws: { ...caughtLaws, caught: false } }],
  });
  expect(text).toContain(
    "| `double-count=1` | P V L | conserved, run 3 | conserved, 12 calls | conserved, 12 calls | conserved, 30 of 900 answers |  | 1/2 + k6 |",
  );
  expect(text).toContain("| `other` | P V L | **missed** |");
  expect(text).not.toMatch(/\b20[2-9]\d\b/);
});

test("a run writes table and figures, leaves nothing else, and ends with 0", async () => {
  const out = await mkdtemp(join(tmpdir(), "spillway-matrix-test-"));
  const said = vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  expect(await run(["--quick", "--only", "double-count", "--nets", "P", "--out", out])).toBe(0);
  expect(said.mock.calls.flat()).toContain("all as it must be");
  expect((await readdir(out)).sort()).toEqual(["README.md", "matrix.json"]);
  const kept = JSON.parse(await readFile(join(out, "matrix.json"), "utf8")) as Matrix;
  expect(kept.rows.map(({ fault, laws: cell }) => [fault, cell?.caught])).toEqual([["double-count=1", true]]);
  vi.restoreAllMocks();
  await rm(out, { recursive: true });
});
