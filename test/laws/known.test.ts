// Known counterexamples: a check passes over them, finds what is behind them, and says which are mended. It takes long:
// each run of a limiter that is wrong is made smaller.
// @module-tag long
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type CheckOptions,
  type CheckProgress,
  type CheckReport,
  checkLaws,
  describeLimiter,
  type KnownCounterexample,
  keyedLimiter,
  type LawReport,
  type LimiterFactory,
  limiterLawNames,
  parseKnown,
} from "../../src/laws/index.ts";
import { formOf } from "../../src/laws/known.ts";
import { KnownList } from "../../src/laws/known-list.ts";
import type { QuotaScript } from "../../src/laws/quotas/script.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { codedError } from "../support/coded-error.ts";
import { spillwayHere } from "../support/command.ts";
import { entry } from "./expectations.ts";

/** Bugs of a limiter: a limit of 1 admits two, and every other limit admits one too many by a call that costs 2. */
interface Bugs {
  readonly ofOne: boolean;
  readonly ofTwo: boolean;
}

const text = ({ ofOne, ofTwo }: Bugs): string => `({
  name: "two bugs",
  algorithm: "fixed-window",
  anchor: "epoch",
  weighted: true,
  create({ limit, windowMs }) {
    const counts = new Map();
    return {
      consume(key, cost, nowMs) {
        const window = key + " " + Math.floor(nowMs / windowMs);
        const count = counts.get(window) ?? 0;
        const extra = (${ofOne} && limit === 1 && cost === 1) || (${ofTwo} && limit > 1 && cost === 2) ? 1 : 0;
        if (count + cost > limit + extra) return false;
        counts.set(window, count + cost);
        return true;
      },
    };
  },
})`;
const limiterOf = (bugs: Bugs): LimiterFactory => keyedLimiter(new Function(`return ${text(bugs)}`)());

const law = "refusal-justified";
const check = (bugs: Bugs, options: CheckOptions): Promise<CheckReport> =>
  checkLaws(limiterOf(bugs), { seed: 40, runs: 100, laws: [law], ...options });

const limitOf = (report: CheckReport): number | undefined =>
  entry(report, law).counterexample?.script.rules.user.graphql.limit;
const scriptOf = (report: CheckReport): KnownCounterexample => ({
  law,
  script: JSON.parse(JSON.stringify(entry(report, law).counterexample?.script)),
});

/** Counterexamples to the first bug, in every form that a check of it alone comes to. Looked for once. */
let forms: Promise<KnownCounterexample[]> | undefined;
const formsOfTheFirst = (): Promise<KnownCounterexample[]> => (forms ??= lookForForms());

async function lookForForms(): Promise<KnownCounterexample[]> {
  const known: KnownCounterexample[] = [];
  for (let round = 0; round < 20; round += 1) {
    const report = await check({ ofOne: true, ofTwo: false }, { known });
    if (report.ok) return known;
    known.push(scriptOf(report));
  }
  throw new Error("its counterexamples have no end");
}

describe("a known counterexample", () => {
  test("is passed over, and the bug behind it is found, by a line that repeats it", async () => {
    const known = await formsOfTheFirst();
    expect(known.length).toBeLessThanOrEqual(4);
    expect(limitOf(await check({ ofOne: true, ofTwo: true }, {}))).toBe(1);
    const report = await check({ ofOne: true, ofTwo: true }, { known });
    const { outcome, known: met, seed, path } = entry(report, law);
    expect([outcome, report.ok]).toEqual(["violated", false]);
    expect(met).toBeGreaterThan(0);
    expect(limitOf(report)).toBeGreaterThan(1);
    const again = await check({ ofOne: true, ofTwo: true }, { seed, path: String(path), known });
    expect(entry(again, law).counterexample).toEqual(entry(report, law).counterexample);
  });

  test("alone leaves a check without failure, which counts the runs that came to it", async () => {
    const report = await check({ ofOne: true, ofTwo: false }, { known: await formsOfTheFirst() });
    const { outcome, known, counterexample } = entry(report, law);
    expect([outcome, counterexample, report.ok]).toEqual(["known", undefined, true]);
    expect(known).toBeGreaterThan(5);
    expect(new Set(report.known.map(({ state }) => state))).toEqual(new Set(["broken"]));
  });

  test("do not count as runs while they are made smaller", async () => {
    const told: number[] = [];
    const onProgress = ({ run }: CheckProgress): void => void told.push(run);
    await check({ ofOne: true, ofTwo: false }, { known: await formsOfTheFirst(), onProgress });
    expect(told.length).toBeGreaterThan(200);
    expect(Math.max(...told)).toBe(99);
  });

  test("may be told by the seed and the path that its failure prints", async () => {
    const first = await check({ ofOne: true, ofTwo: false }, {});
    const { seed, path, runs } = entry(first, law);
    const report = await check({ ofOne: true, ofTwo: false }, { runs, known: [{ law, seed, path }] });
    expect(entry(report, law)).toMatchObject({ outcome: "known", known: 1 });
  });

  test("may be all of a law's", async () => {
    const known = [{ law, note: "issue 7" }] as const;
    const broken = await check({ ofOne: true, ofTwo: true }, { known });
    expect(entry(broken, law)).toMatchObject({ outcome: "known", known: 1 });
    expect(broken.known).toEqual([{ law, note: "issue 7", state: "broken" }]);
    const whole = await check({ ofOne: false, ofTwo: false }, { known });
    expect(whole.known).toEqual([{ law, note: "issue 7", state: "unseen" }]);
  });

  test("that breaks its law no longer is mended", async () => {
    const known = await formsOfTheFirst();
    const report = await check({ ofOne: false, ofTwo: false }, { known });
    expect(entry(report, law)).toMatchObject({ outcome: "no-counterexample", known: 0 });
    expect(new Set(report.known.map(({ state }) => state))).toEqual(new Set(["mended"]));
  });

  test("is one whoever calls, and whenever it begins, and another under another limit", async () => {
    const first = await check({ ofOne: true, ofTwo: false }, {});
    const { script } = scriptOf(first);
    const { runs } = entry(first, law);
    if (script === undefined) throw new Error("a script was expected");
    const renamed = script.ops.map((op) => ({ ...op, atMs: op.atMs + 86_400_000, user: "zoe" }));
    const user = { ...script.rules.user, graphql: { ...script.rules.user.graphql, windowSeconds: 61 } };
    const outcomeWith = async (other: object): Promise<string> => {
      const known = [{ law, script: { ...script, ...other } }] as const;
      return entry(await check({ ofOne: true, ofTwo: false }, { runs, known }), law).outcome;
    };
    expect(await outcomeWith({ ops: renamed, pick: 1 })).toBe("known");
    expect(await outcomeWith({ rules: { ...script.rules, user } })).toBe("violated");
  });
});

describe("a run that shrinks into a known counterexample", () => {
  /** A limit of 1 admits two; every other limit, if `refuses`, admits one alone. */
  const masking = (refuses: boolean): LimiterFactory =>
    keyedLimiter({
      name: "one bug behind another",
      algorithm: "fixed-window",
      anchor: "epoch",
      create({ limit, windowMs }) {
        const counts = new Map<string, number>();
        const most = limit === 1 ? 2 : refuses ? 1 : limit;
        return {
          consume(key, _cost, nowMs) {
            const window = `${key} ${Math.floor(nowMs / windowMs)}`;
            const count = counts.get(window) ?? 0;
            if (count < most) counts.set(window, count + 1);
            return count < most;
          },
        };
      },
    });
  const checked = async (refuses: boolean, options: CheckOptions): Promise<LawReport> =>
    entry(await checkLaws(masking(refuses), { seed: 3, runs: 20, laws: [law], ...options }), law);

  test("is made smaller past it, to the other bug that it has", async () => {
    const first = await checked(true, {});
    expect(first.counterexample?.violation.expected).toBe("a refusal");
    const known = [{ law, script: first.counterexample?.script }] as const;
    const { outcome, counterexample, seed, path } = await checked(true, { known });
    expect(outcome).toBe("violated");
    expect(counterexample?.violation.expected).toBe("admitted");
    expect(counterexample?.history).toHaveLength(2);
    const again = await checked(true, { seed, path: String(path) });
    expect(again.counterexample).toEqual(counterexample);
    expect((await checked(false, { known })).outcome).toBe("known");
  });
});

describe("in describeLimiter", () => {
  const said = async (bugs: Bugs, known: readonly KnownCounterexample[]): Promise<string[]> => {
    const lines: string[] = [];
    const bodies: [string, (context: unknown) => Promise<void>][] = [];
    const laws = [law, "twice-at-most"] as const;
    const register = (name: string, body: () => Promise<void>): number => bodies.push([name, body]);
    describeLimiter(register, limiterOf(bugs), { seed: 2, laws, known, strict: true });
    for (const [, body] of bodies)
      await body({ skip: (why: string) => lines.push(why) }).catch((error: Error) => {
        lines.push(error.message.split("\n")[0] ?? "");
      });
    return lines;
  };

  test("its law is skipped, and so are those that its calls break, too", async () => {
    const lines = await said({ ofOne: true, ofTwo: false }, await formsOfTheFirst());
    expect(lines[0]).toMatch(/^refusal-justified: known counterexamples alone \(\d+ runs\)$/);
    expect(lines.slice(1)).toEqual(["twice-at-most: its calls break refusal-justified, as is known"]);
  });

  test("one that is mended fails its case", async () => {
    const lines = await said({ ofOne: false, ofTwo: false }, await formsOfTheFirst());
    expect(lines).toEqual([
      "a known counterexample to refusal-justified breaks it no longer: take it off the list",
    ]);
  });
});

describe("check --known FILE", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-known-"));
    for (const [name, bugs] of [
      ["one.mjs", { ofOne: true, ofTwo: false }],
      ["none.mjs", { ofOne: false, ofTwo: false }],
    ] as const)
      await writeFile(
        join(folder, name),
        `import { keyedLimiter } from "spillway/laws"; export default keyedLimiter(${text(bugs)});`,
      );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const words = ["check", "--law", law, "--seed", "2"];

  test("takes the report of an earlier check", async () => {
    const first = await spillwayHere([...words, "--adapter", "one.mjs", "--json"], { cwd: folder });
    expect(first.code).toBe(1);
    await writeFile(join(folder, "known.json"), first.stdout);
    const [{ runs = 0 } = {}] = (JSON.parse(first.stdout) as CheckReport).laws;
    const known = ["--known", "known.json", "--runs", `${runs}`];
    const second = await spillwayHere([...words, "--adapter", "one.mjs", ...known], { cwd: folder });
    expect(second.stdout).toContain(`known: 1, and no other counterexample in ${runs} runs`);
    expect(second.code, second.stderr).toBe(0);
    const third = await spillwayHere([...words, "--adapter", "none.mjs", ...known], { cwd: folder });
    expect(third.stdout).toContain("a known counterexample to refusal-justified breaks it no longer");
    expect(third.code).toBe(0);
    const note = 'note known counterexamples were found in "two bugs": this limiter is "two';
    const renamed = (await readFile(join(folder, "none.mjs"), "utf8")).replace("two bugs", "two");
    await writeFile(join(folder, "renamed.mjs"), renamed);
    const fourth = await spillwayHere([...words, "--adapter", "renamed.mjs", ...known], { cwd: folder });
    expect([second, third, fourth].map(({ stdout }) => stdout.includes(note))).toEqual([false, false, true]);
  });

  test.each([
    ["5", "known: got 5, allowed: an array, or the report of a check"],
    ['[{ "law": "recover" }]', 'known[0].law: got "recover", allowed: recovers'],
    ['[{ "law": "recovers", "path": "3:1" }]', "known[0].seed: got nothing, allowed: both"],
    ['[{ "law": "recovers", "script": { "ops": [] } }]', "known[0].script: got"],
    ['[{ "law": "recovers", "limiter": 5 }]', "known[0].limiter: got 5, allowed: a limiter's name"],
    ["[", "wrong.json: got"],
  ])("%s is refused: 2", async (wrong, problem) => {
    await writeFile(join(folder, "wrong.json"), wrong);
    const { code, stderr } = await spillwayHere([...words, "--known", "wrong.json"], { cwd: folder });
    expect(stderr).toContain(problem);
    expect(code).toBe(2);
  });

  const wrong = (entry: unknown) => codedError(() => parseKnown([entry]));

  test.each<[string, unknown, string]>([
    ["known[0]", 5, "an object"],
    ["known[0].law", { law: "none of them" }, limiterLawNames.join(", ")],
    ["known[0].seed", { law, seed: 0.5, path: "3" }, "an integer"],
    ["known[0].path", { law, seed: 3, path: "3:" }, "a text, as a failure prints it"],
    ["known[0].path", { law, seed: 3, path: 3 }, "a text, as a failure prints it"],
    ["known[0].path", { law, seed: 3 }, "both"],
    ["known[0].note", { law, note: 5 }, "a string"],
    ["known[0].nots", { law, nots: "issue 7" }, "note"],
  ])("%s of %j is wrong", (path, entry, allowed) => {
    expect(wrong(entry).problems).toMatchObject([{ path, allowed }]);
  });

  test("a script has what playing it needs", () => {
    const rules = parseRules({});
    const whole = { rules, startMs: 0, pick: 0, ops: [{ do: "sweep", atMs: 1 }] };
    const call = { do: "call", atMs: 1, id: 0, organization: "acme", user: "ann", scope: "rest", cost: 1 };
    const policy = policyOf(rules);
    const status = { do: "status", atMs: 1, caller: { user: "ann" } };
    for (const script of [
      whole,
      { ...whole, ops: [call] },
      { ...whole, rules: undefined, policy, ops: [status] },
    ])
      expect(parseKnown([{ law, script }])).toEqual([{ law, script }]);
    for (const script of [
      5,
      { ...whole, ops: {} },
      { ...whole, rules: undefined },
      ...Object.keys(rules).map((member) => ({ ...whole, rules: { ...rules, [member]: 1 } })),
      { ...whole, rules: { ...rules, organization: { rest: rules.organization.rest } } },
      { ...whole, rules: { ...rules, semantics: {} } },
      { ...whole, rules: undefined, policy: {} },
      { ...whole, ops: [{ ...call, user: undefined }] },
      { ...whole, ops: [status] },
      { ...whole, rules: undefined, policy, ops: [call] },
      { ...whole, startMs: 0.5 },
      { ...whole, pick: "0" },
      { ...whole, ops: [...whole.ops, 5] },
      { ...whole, ops: [...whole.ops, { do: "wait", atMs: 1 }] },
      { ...whole, ops: [...whole.ops, { do: "sweep" }] },
    ])
      expect(wrong({ law, script }).problems).toMatchObject([
        { path: "known[0].script", allowed: "the script of a counterexample" },
      ]);
  });

  test("a script is of the check's own limits", async () => {
    const rules = parseRules({});
    const byRules = { startMs: 0, pick: 0, ops: [], rules };
    const byPolicy = { startMs: 0, pick: 0, ops: [], policy: policyOf(rules) };
    expect(parseKnown([{ law, script: byPolicy }], "policy")).toHaveLength(1);
    expect(parseKnown([{ law, script: byRules }], "rules")).toHaveLength(1);
    for (const [script, limits] of [[byPolicy, "rules"] as const, [byRules, "policy"] as const])
      expect(codedError(() => parseKnown([{ law, script }], limits))).toMatchObject({
        code: "USAGE",
        problems: [{ path: "known[0].script", allowed: expect.stringContaining("a script by") }],
      });
    const known = [{ law, script: byPolicy }] as unknown as readonly KnownCounterexample[];
    const refused = check({ ofOne: false, ofTwo: false }, { known });
    await expect(refused).rejects.toMatchObject({ code: "USAGE" });
  });

  test("a law may stand alone, or with both seed and path", () => {
    const list = [{ law }, { law, seed: 3, path: "3:1" }, { law, note: "issue 7", limiter: "mine" }];
    expect(parseKnown(list)).toEqual(list);
  });

  test("an empty list is one", () => {
    expect(parseKnown([])).toEqual([]);
    expect(parseKnown({ laws: [] })).toEqual([]);
  });
});

test("the limits of quotas that are not at fault do not matter", () => {
  const quota = (limit: number) => ({ key: ["user"], algorithm: { kind: "fixed-window", limit } });
  const script = (core: number, points: number) =>
    ({
      policy: {
        quotas: { core: quota(core), points: quota(points) },
        operations: { read: { uses: { core: 1, points: 1 } } },
        overrides: [],
      },
      ...{ startMs: 0, pick: 0, isExact: true },
      ops: [{ do: "call", atMs: 0, id: 0, caller: { user: "ann" }, operation: "read", cost: 1 }],
    }) as unknown as QuotaScript;
  expect(formOf(script(1, 5), "core")).toBe(formOf(script(1, 9), "core"));
  expect(formOf(script(1, 5), "core")).not.toBe(formOf(script(2, 5), "core"));
  expect(formOf(script(1, 5), null)).not.toBe(formOf(script(1, 9), null));
});

test("an entry that stands for all of a law is broken by that law alone", async () => {
  const list = new KnownList([{ law: "isolated" }, { law: "recovers" }], { name: "mine", formOf: () => "" });
  const report = { law: "isolated" } as LawReport;
  expect([list.has(report), list.has({ ...report, law: "bounded" })]).toEqual([true, false]);
  expect([list.isWhole("recovers"), list.isWhole("bounded")]).toEqual([true, false]);
  expect(list.states).toEqual([
    { law: "isolated", state: "broken" },
    { law: "recovers", state: "unseen" },
  ]);
});
