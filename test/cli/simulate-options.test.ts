// Options of a simulation: what changes the scenario, what does not go together, and the command that repeats it.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measuredRun } from "../../src/cli/measured-run.ts";
import { commandOf, requireScenario, taskOf } from "../../src/cli/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { recorded } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

type Args = Parameters<typeof taskOf>[0];
const args = (given: object): Args => ({ trace: true, ...given }) as Args;

let folder = "";
const ann = { token: "t1", user: "ann", organization: "acme" };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-simulate-options-"));
  await writeFile(join(folder, "t.json"), JSON.stringify([ann]), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("what is given is read, the rest is the scenario's", async () => {
  expect(await taskOf(args({}))).toEqual({
    ...{ world: undefined, fault: undefined },
    changes: { seed: undefined, durationMs: undefined, tokens: null, like: undefined },
  });
  const given = { world: "7/1", fault: "one-extra", seed: 0, duration: "1m", rules: "default", like: "run" };
  expect(await taskOf(args({ ...given, tokens: join(folder, "t.json") }))).toMatchObject({
    ...{ world: "7/1", fault: "one-extra" },
    changes: { seed: 0, durationMs: 60_000, rules: parseRules({}), like: "run", tokens: [ann] },
  });
  expect((await taskOf(args({ rules: "github" }))).changes).toMatchObject({ policy: { name: "github" } });
});

test.each<[object, string]>([
  [{ seed: -1 }, "--seed cannot be used"],
  [{ duration: "x" }, "the duration cannot be used"],
  [{ trace: false, out: "x" }, "--no-trace and --out do not go together"],
  [{ trace: false, open: true }, "--no-trace and --open do not go together"],
  [{ trace: false, adapter: "x" }, "--no-trace and --adapter do not go together"],
  [{ rules: "github", adapter: "x" }, "--adapter goes with rules, and with no policy yet"],
  [{ rules: "github", world: "7/1" }, "--world goes with rules, and with no policy yet"],
])("%j is refused: %s", async (given, said) => {
  await expect(taskOf(args(given))).rejects.toThrow(said);
});

test("figures alone take what needs no folder, and rules what knows no policy", async () => {
  expect(await taskOf(args({ trace: false }))).toMatchObject({ changes: { tokens: null } });
  expect(
    await taskOf(args({ rules: "default", adapter: "x", world: "7/1", out: "x", open: true })),
  ).toMatchObject({
    world: "7/1",
  });
  await expect(taskOf(args({ rules: "github", adapter: "x" }))).rejects.toMatchObject({
    problems: [
      { path: "--adapter", got: "a policy beside it, github", allowed: "rules, as of the preset buildkite" },
    ],
  });
});

test("a scenario is named, or a world", () => {
  expect(requireScenario("herd")).toBe("herd");
  expect(() => requireScenario(undefined)).toThrow("name a scenario");
});

test("the command repeats the run", () => {
  expect(commandOf(args({}), "herd", 7, null)).toBe("npx spillway simulate herd --seed 7");
  const given = { rules: "r", asWindow: true, duration: "1m", like: "l", tokens: "t", adapter: "a" };
  const fault = { text: "one-extra", note: "" };
  expect(commandOf(args({ ...given, world: "7/1" }), null, 7, fault)).toBe(
    "npx spillway simulate --world 7/1 --rules r --as-window --duration 1m --like l --tokens t --fault one-extra --adapter a",
  );
});

const scenario = {
  ...{ name: "herd", seed: 3, startAtMs: 1_000, durationMs: 10_000 },
  expect: [
    { figure: "refusedShare", name: "refusedShare", bound: "<5%" },
    { figure: "overAdmission", name: "overAdmission", bound: "<1%" },
    { figure: "bots.calls", name: "calls", bound: ">3" },
  ],
};
const figures = { calls: 5, refused: 1, refusedShare: 0.2 };
const measured = { figures, populations: [{ name: "bots", figures: { calls: 3 } }], endedAt: 3_500 };

async function measuredBy(events: object[], aborted: boolean, end: object = {}) {
  const kept = recorded();
  async function* run() {
    yield { kind: "facts", scenario, notes: ["Short."] };
    yield* events;
    return { ...measured, ...end };
  }
  return { ...kept, run: await measuredRun(run() as never, kept.terminal, { aborted }) };
}

test("a run without a trace is measured: progress, figures, expectations without a verdict's", async () => {
  const at = (nowMs: number, calls: number) => ({ kind: "progress", nowMs, calls });
  const { run, progress } = await measuredBy([at(1_000, 0), at(3_500, 1), at(21_000, 2_000)], false);
  expect(progress.map((line) => line.replace(/, [\d,]+ calls\/s.*$/, ""))).toEqual([
    "simulating: 0%, 0 calls",
    "simulating: 25%, 1 call",
    "simulating: 100%, 2,000 calls",
  ]);
  expect(run).toEqual({
    ...{ name: "herd", seed: 3, durationMs: 10_000, measured, interrupted: false },
    expectations: [
      { figure: "refusedShare", bound: "<5%", actual: 0.2, held: false },
      { figure: "bots.calls", bound: ">3", actual: 3, held: false },
    ],
    notes: ["Short.", "overAdmission is a verdict's: without a trace it is not expected"],
  });
});

test("an interrupted one is as long as it came", async () => {
  expect((await measuredBy([], true)).run).toMatchObject({ durationMs: 2_500, interrupted: true });
  expect((await measuredBy([], true, { endedAt: 900 })).run).toMatchObject({ durationMs: 0 });
});

describe("as it is typed, a run's folder", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({});
  });
  afterAll(() => here.remove());
  const ran = (command: string) => here.run(command);

  test("is written, reported again, and compared", async () => {
    const run = await ran("simulate steady --duration 2s --seed 3 --out run");
    expect([run.code, run.said.at(-1)]).toEqual([0, "  run/report.html"]);
    const again = await ran("report run");
    expect([again.code, again.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "steady: No law is broken, on little evidence: only 16 readings were judged, so call more; no refusal was seen, so load more; no window ended before another was seen, so run longer",
          "  run/report.html",
          "  run/summary.md",
          "  run/junit.xml",
        ],
      ]
    `);
    const elsewhere = await ran("report run --out elsewhere.html --no-pictures --compare run --json");
    expect(elsewhere.json()).toMatchInlineSnapshot(`
      {
        "html": "elsewhere.html",
        "junit": "run/junit.xml",
        "markdown": "run/summary.md",
        "pictures": [],
      }
    `);
    const json = await ran("simulate steady --duration 2s --seed 3 --out json --json");
    expect(json.json()).toMatchObject({ folder: "json", verdict: { verdict: "ok" } });
  });
});
