// Options of a plan: what is read from them, the command that asks again, and when a plan has its answer.

import { availableParallelism } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isAnswered, optionsOf } from "../../src/cli/plan.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { TypedIn } from "./typed.ts";

type Args = Parameters<typeof optionsOf>[0];
const read = (given: object) => optionsOf({ scenario: "herd", ...given } as Args);

test("what is not given is left to the plan", async () => {
  expect(await read({})).toEqual({
    asked: { command: "npx spillway plan herd" },
    adjustments: { seed: undefined, durationMs: undefined },
    workers: Math.min(8, availableParallelism()),
    ...{ importMs: 30_000, out: undefined, force: false, resume: false },
  });
});

test("what is given is read, and is in the command that asks again", async () => {
  const asked = {
    ...{ vary: ["a.clients=1..9"], until: ["refused<1"], find: "largest", storm: "outage", within: 2 },
    ...{ compare: true, replications: 8, confidence: 0.9 },
  };
  const more = {
    inRuns: "95%",
    seed: 0,
    duration: "1m",
    rules: "default",
    asWindow: true,
    importTimeout: "1s",
  };
  expect(await read({ ...asked, ...more, workers: 256, out: "plan", force: true, resume: true })).toEqual({
    asked: {
      ...{ ...asked, inRuns: 0.95 },
      command:
        "npx spillway plan herd --vary a.clients=1..9 --until 'refused<1' --find largest --storm outage --within 2 --compare --replications 8 --confidence 0.9 --in-runs 95% --seed 0 --duration 1m --rules default --as-window",
    },
    adjustments: { seed: 0, durationMs: 60_000, rules: parseRules({}) },
    ...{ workers: 256, importMs: 1_000, out: "plan", force: true, resume: true },
  });
  expect((await read({ workers: 1, inRuns: "0.5" })).asked).toMatchObject({ inRuns: 0.5 });
});

test.each([
  [{ workers: 0 }, "--workers: got 0, allowed: a whole number from 1 to 256"],
  [{ workers: 257 }, "--workers: got 257, allowed: a whole number from 1 to 256"],
  [{ workers: 1.5 }, "--workers: got 1.5, allowed: a whole number from 1 to 256"],
  [{ resume: true }, "--resume: got no --out, allowed: --out DIR, the folder of the plan to go on with"],
  [{ inRuns: "x" }, '--in-runs: got "x", allowed: a share of runs, such as 95%'],
  [{ seed: -1 }, "--seed: got -1, allowed: a whole number from 0 to 2^53 - 1"],
  [{ duration: "x" }, '--duration: got "x", allowed: "90s", "5m", "1m30s", at most a year'],
])("%j is refused", async (given, said) => {
  const error = await read(given).catch((caught: unknown) => caught);
  if (!(error instanceof SpillwayError)) throw error;
  expect(error.problems.map(({ path, got, allowed }) => `${path}: got ${got}, allowed: ${allowed}`)).toEqual([
    said,
  ]);
});

test.each<[object | null, object | null | undefined, boolean]>([
  [null, null, true],
  [{ kind: "value" }, null, true],
  [{ kind: "all" }, null, true],
  [{ kind: "none" }, null, false],
  [{ kind: "choices", holding: [] }, null, false],
  [{ kind: "choices", holding: ["a"] }, null, true],
  [{ kind: "frontier", holding: 0 }, null, false],
  [{ kind: "frontier", holding: 1 }, null, true],
  [null, { answer: null }, true],
  [null, { answer: { kind: "none" } }, false],
  [{ kind: "value" }, { answer: { kind: "none" } }, false],
  [{ kind: "none" }, { answer: { kind: "value" } }, false],
])("the answer %j and the storm %j answer the plan: %s", (answer, storm, isIt) => {
  expect(isAnswered({ answer, storm } as never)).toBe(isIt);
});

describe("as it is typed, a plan's folder", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({});
  });
  afterAll(() => here.remove());
  const ran = (command: string) => here.run(command);

  test("of a plan is written, printed and reported again", async () => {
    const plan = "plan steady --vary rules.user.rest.limit=5..20:15 --until refusedShare<5% --duration 2s";
    const { code, said } = await ran(`${plan} --replications 6 --in-runs 50% --workers 1 --out plan`);
    expect([code, said.at(0), said.at(-1)]).toMatchInlineSnapshot(`
      [
        0,
        "steady: 12 runs simulated, seed 11",
        "  plan/report.html",
      ]
    `);
    const csv = await ran(`${plan} --replications 6 --in-runs 50% --workers 1 --out csv --csv`);
    expect([csv.code, csv.said[0]?.trimEnd(), csv.aside.at(-1)]).toMatchInlineSnapshot(`
      [
        0,
        "rules.user.rest.limit,replications,held,held_share_low,held_share_high,state,refusedShare,refusedShare_low,refusedShare_high,waitP50Ms,waitP50Ms_low,waitP50Ms_high,waitP95Ms,waitP95Ms_low,waitP95Ms_high,admitted,admitted_low,admitted_high,fairness,fairness_low,fairness_high",
        "  csv/report.html",
      ]
    `);
    const json = await ran(`${plan} --replications 6 --in-runs 50% --workers 1 --out json-plan --json`);
    expect(json.json()).toMatchObject({ question: { scenario: "steady" } });
    const again = await ran("report plan");
    expect([again.code, again.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "steady: refusedShare <5% holds in 50% of runs all over rules.user.rest.limit = 5..20:15, as far as it was tried: the smallest value is 5, or lies beyond that range",
          "  plan/report.html",
          "  plan/summary.md",
          "  plan/junit.xml",
        ],
      ]
    `);
    expect((await ran("report plan --compare run")).aside[0]).toBe(
      "error USAGE a plan cannot be compared with a run",
    );
  });
});
