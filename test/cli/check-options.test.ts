// Options of a check: what is read from them, which belong together, and the command that repeats a finding.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  checkOverlaps,
  limitsOf,
  optionsOf,
  partOf,
  requireAnswers,
  requireOwners,
} from "../../src/cli/check.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { limiterLawNames } from "../../src/rules/laws.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { recorded } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

type Args = Parameters<typeof optionsOf>[0];
const args = (given: object = {}): Args => given as Args;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-check-options-"));
  await writeFile(join(folder, "rules.json"), JSON.stringify({ user: { rest: { limit: 3 } } }));
  await writeFile(join(folder, "known.json"), JSON.stringify({ known: [] }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns what is said of a mistake: summary, problems, next step. */
async function mistake(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const [summary] = error.message.split("\n");
    return [
      `${error.code} ${summary}`,
      ...error.problems.map(({ path, got, allowed }) => `${path}: got ${got}, allowed: ${allowed}`),
      ...(error.hint === undefined ? [] : [error.hint]),
    ];
  }
}

test("without options each law is run a hundred times, from a drawn seed", async () => {
  const [one, other] = [await optionsOf(args(), {}), await optionsOf(args(), {})];
  expect(one).toEqual({ runs: 100, seed: expect.any(Number), repeatWith: [] });
  for (const { seed = -1 } of [one, other]) expect(seed >= 0 && seed < 0x7fff_ffff).toBe(true);
  expect(one.seed).not.toBe(other.seed);
});

test("laws, path, seed, runs and known counterexamples are as given", async () => {
  const law = ["bounded"];
  const known = await writeKnown();
  expect(await optionsOf(args({ law, path: "3:1:0", seed: -0x8000_0000, runs: 1, known }), {})).toEqual({
    ...{ laws: ["bounded"], path: "3:1:0", seed: -0x8000_0000, runs: 1, known: [] },
    repeatWith: [],
  });
  const path = "9999999:0";
  const most = await optionsOf(args({ law, path, seed: 0x7fff_ffff, runs: 10_000_000 }), {});
  expect(most).toMatchObject({ seed: 0x7fff_ffff, runs: 10_000_000, path });
});

async function writeKnown(): Promise<string> {
  const path = join(folder, "none.json");
  await writeFile(path, JSON.stringify({ laws: [] }));
  return path;
}

test.each<[object, readonly string[]]>([
  [{ runs: 0 }, ["USAGE --runs cannot be used", "--runs: got 0, allowed: a whole number from 1 to 10000000"]],
  [
    { runs: 10_000_001 },
    ["USAGE --runs cannot be used", "--runs: got 10000001, allowed: a whole number from 1 to 10000000"],
  ],
  [
    { seed: 0x8000_0000 },
    [
      "USAGE --seed cannot be used",
      "--seed: got 2147483648, allowed: a whole number from -2147483648 to 2147483647",
    ],
  ],
  [
    { seed: -0x8000_0001 },
    [
      "USAGE --seed cannot be used",
      "--seed: got -2147483649, allowed: a whole number from -2147483648 to 2147483647",
    ],
  ],
  [
    { law: ["bounded", "conservd"] },
    [
      "USAGE --law cannot be used",
      `--law: got "conservd", allowed: ${limiterLawNames.join(", ")}`,
      "did you mean conserved?",
    ],
  ],
  [
    { law: ["elephants"] },
    ["USAGE --law cannot be used", `--law: got "elephants", allowed: ${limiterLawNames.join(", ")}`],
  ],
  [
    { path: "3:", law: ["bounded"], seed: 1 },
    [
      "USAGE --path cannot be used",
      '--path: got "3:", allowed: as check prints it: 3:1:0, each number below 10000000',
    ],
  ],
  [
    { path: "10000000", law: ["bounded"], seed: 1 },
    [
      "USAGE --path cannot be used",
      '--path: got "10000000", allowed: as check prints it: 3:1:0, each number below 10000000',
    ],
  ],
  [{ path: "3", seed: 1 }, ["USAGE --path needs --seed and the one --law that it was found with"]],
  [{ path: "3", law: ["bounded"] }, ["USAGE --path needs --seed and the one --law that it was found with"]],
  [
    { path: "3", law: ["bounded", "monotone"], seed: 1 },
    ["USAGE --path needs --seed and the one --law that it was found with"],
  ],
])("%j is refused", async (given, said) => {
  expect(await mistake(() => optionsOf(args(given), {}))).toEqual(said);
});

test("rules are whole for the engine, as they were written for a limiter; the file is read once", async () => {
  const written = { user: { rest: { limit: 3 } } };
  const rules = join(folder, "once.json");
  for (const [given, read] of [
    [{ rules }, parseRules(written)],
    [{ rules, adapter: "a.ts" }, written],
  ] as const) {
    await writeFile(rules, JSON.stringify(written));
    const limits = await limitsOf(args(given));
    await rm(rules);
    expect(await optionsOf(args(given), limits)).toMatchObject({ rules: read });
  }
  expect(await optionsOf(args({ rules: "github" }), { policy: {} as never })).not.toHaveProperty("rules");
});

test("the command that repeats a finding has the options that the findings depend on", async () => {
  const path = join(folder, "rules.json");
  const words = async (given: object, policy?: object) =>
    (await optionsOf(args({ rules: path, ...given }), { policy } as never)).repeatWith;
  expect(await words({})).toEqual([`--rules ${path}`]);
  expect(await words({ asWindow: true, fault: "one-extra", adapter: "a b.ts" }, {})).toEqual([
    ...["--fault one-extra", `--policy ${path}`, "--as-window", "--adapter 'a b.ts'"],
  ]);
  const target = { target: "http://x", allowHost: "x", tokens: "t.json", ca: "c", cert: "d", key: "k" };
  expect(await words({ ...target, clockHeader: "X-Now" })).toEqual([
    ...[`--rules ${path}`, "--target http://x", "--allow-host x", "--tokens t.json", "--ca c", "--cert d"],
    ...["--key k", "--clock-header X-Now"],
  ]);
});

test.each<[object, readonly string[] | undefined]>([
  [{}, undefined],
  [{ target: "http://x", calls: 5 }, undefined],
  [{ calls: 5 }, ["USAGE --calls needs --target URL"]],
  [{ tokens: "t", alone: true }, ["USAGE --tokens needs --target URL"]],
  [{ clockMoves: true, interleavings: true }, undefined],
  [{ interleavings: true }, undefined],
  [{ clockMoves: false }, undefined],
  [{ clockMoves: true }, ["USAGE --clock-moves needs --interleavings"]],
])("options %j", async (given, said) => {
  expect(await mistake(() => requireOwners(args(given)))).toEqual(said);
});

test("limits may be a policy's, but not those of a deployment", async () => {
  expect(await limitsOf(args())).toEqual({});
  for (const given of [{}, { target: "http://x" }, { adapter: "a.ts" }])
    for (const rules of ["default", "buildkite"])
      expect(await limitsOf(args({ rules, ...given }))).toEqual({ rules: parseRules({}) });
  expect(await limitsOf(args({ rules: "github" }))).toMatchObject({ policy: { name: "github" } });
  expect(await mistake(() => limitsOf(args({ rules: "github", target: "http://x" })))).toEqual([
    "USAGE --target goes with rules: a deployment is held to a policy by audit",
    '--policy: got "github", allowed: a file of rules, default or documented',
    "npx spillway audit --target http://x --policy github",
  ]);
});

test("laws that are done make a report, which is fine where they are", () => {
  const law = { law: "bounded", outcome: "no-counterexample", judged: 1 };
  const part = { limiter: "mine", seed: 3, runs: 4, known: [], interrupted: true };
  expect(partOf("mine", { seed: 3, runs: 4 }, [law] as never)).toEqual({ ...part, laws: [law], ok: true });
  expect(partOf("mine", {}, [{ ...law, outcome: "violated" }] as never)).toMatchObject({
    ...{ seed: 0, runs: 0, ok: false },
  });
});

test("a limiter that failed is an error with each answer that it owes, once", async () => {
  const failure = { call: "decide(1)", got: "nothing", allowed: "an answer" };
  const laws = [
    { law: "bounded" },
    { failure, repeat: "npx spillway check --seed 7" },
    { failure: { ...failure, call: "decide(2)" }, repeat: "other" },
    { failure: { ...failure, got: "text" }, repeat: "other" },
  ];
  expect(await mistake(() => requireAnswers({ limiter: "mine", laws } as never))).toEqual([
    'ADAPTER_INVALID the limiter "mine" cannot be checked by every law',
    "decide(2): got nothing, allowed: an answer",
    "decide(1): got text, allowed: an answer",
    "npx spillway check --seed 7 repeats it",
  ]);
  expect(await mistake(() => requireAnswers({ limiter: "mine", laws: laws.slice(0, 1) } as never))).toBe(
    undefined,
  );
});

test.each([
  [{ clockMoves: true }, " --clock-moves"],
  [{}, ""],
])("overlapping calls are checked with %j, and a finding has its command", async (more, words) => {
  const task = { options: { runs: 5, seed: 6, repeatWith: ["--adapter a.ts"] }, ...more };
  const asked: unknown[] = [];
  const overlaps = async (report: object) => {
    const thread = {
      async *run(...work: unknown[]) {
        asked.push(work);
        yield { run: 1, runs: 5, shrinking: false };
        return { runs: 5, overlapped: 2, ...report };
      },
    };
    const kept = recorded();
    return { ...kept, report: await checkOverlaps(thread as never, task as never, kept.terminal) };
  };
  const fine = await overlaps({ ok: true, outcome: "no-counterexample" });
  expect(fine.lines).toEqual(["overlapping calls: no counterexample in 5 runs, 2 overlaps explained"]);
  expect(fine.progress).toEqual(["overlapping calls: run 1 of 5"]);
  expect(fine.report).not.toHaveProperty("repeat");
  expect(asked).toEqual([["interleavings", task]]);
  const { report } = await overlaps({ ok: false, outcome: "not-repeatable" });
  expect(report).toMatchObject({
    repeat: `npx spillway check --interleavings${words} --runs 5 --seed 6 --adapter a.ts`,
  });
});

describe("as it is typed", () => {
  let here: TypedIn;
  beforeAll(async () => {
    here = await TypedIn.of({});
  });
  afterAll(() => here.remove());
  const check = (more: string) => here.run(`check --law bounded --runs 2 --seed 7 ${more}`.trim());

  test("a check says its laws, and has the exit status of what it found", async () => {
    const { code, said } = await check("");
    expect([code, said[0], said.at(-1)]).toEqual([
      0,
      "engine under rules of all kinds, seed 7, 2 runs a law",
      expect.stringMatching(/^no law violated: 1 law, 2 runs, \d\.\d s$/),
    ]);
    expect(said).toHaveLength(5);
    const json = await check("--json");
    expect([json.code, json.json()]).toEqual([
      0,
      expect.objectContaining({ ok: true, runs: 2, seed: 7, seconds: expect.any(Number) }),
    ]);
    expect(json.json()).not.toHaveProperty("interleavings");
    expect((json.json() as { seconds: number }).seconds).toBeLessThan(60);
    const overlapped = await check("--rules default --interleavings --json");
    expect(overlapped.json()).toMatchObject({ interleavings: { outcome: "no-counterexample", runs: 2 } });
    const faulty = await here.run(
      "check --law conserved --runs 20 --seed 7 --fault double-count --rules default",
    );
    expect([faulty.code, faulty.said.at(0), faulty.said.some((line) => line.startsWith("repeat: "))]).toEqual(
      [1, expect.stringContaining("under the rules default, seed 7, 20 runs a law"), true],
    );
    expect((await here.run("check --fault list")).said[0]).toMatch(/^NAME/);
    const byPolicy = await here.run("check --law bounded --runs 1 --seed 7 --policy github");
    expect([byPolicy.code, byPolicy.said[0]]).toEqual([
      0,
      expect.stringContaining("under the policy github, seed 7"),
    ]);
  });
});
