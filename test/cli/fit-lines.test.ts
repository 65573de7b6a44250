// A fit in lines: what was found and why, how far the check and the backtest agree, and what comes next.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { done, isSameCalls, nameOf, sayFit, seedsOf, shareOf } from "../../src/cli/fit.ts";
import { recorded } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

test.each([
  [{}, "fitted"],
  [{ name: "own", out: "x.ts" }, "own"],
  [{ name: "a".repeat(64) }, "a".repeat(64)],
  [{ out: "dir/some file!.ts" }, "some-file-"],
  [{ out: "--x.ts" }, "x"],
  [{ out: "!!!.ts" }, "fitted"],
  [{ out: `${"a".repeat(70)}.ts` }, "a".repeat(64)],
])("%j is called %s", (args, name) => {
  expect(nameOf(args)).toBe(name);
});

test.each(["", "-a", "a b", "a".repeat(65)])("%j is no name", (name) => {
  expect(() => nameOf({ name })).toThrow("the name cannot be used");
});

test("shares and seeds are within bounds, or left out", () => {
  expect([shareOf(undefined), shareOf("70%"), shareOf("0.5"), shareOf("1%")]).toEqual([
    undefined,
    0.7,
    0.5,
    0.01,
  ]);
  for (const text of ["0", "0%", "100%", "1", "x"])
    expect(() => shareOf(text)).toThrow("the share cannot be used");
  expect([seedsOf(undefined), seedsOf(3), seedsOf(10_000)]).toEqual([undefined, 3, 10_000]);
  for (const seeds of [2, 10_001, 3.5]) expect(() => seedsOf(seeds)).toThrow("--seeds cannot be used");
});

test("calls by one policy are calls by another that has their operations", () => {
  const policy = (...names: string[]) =>
    ({ operations: Object.fromEntries(names.map((name) => [name, {}])) }) as never;
  expect(isSameCalls(policy("a"), policy("a", "b"))).toBe(true);
  expect(isSameCalls(policy("a", "b"), policy("a"))).toBe(false);
  expect(isSameCalls(policy("toString"), policy("a"))).toBe(false);
});

test("steps are done until the last, or until it is interrupted", async () => {
  function* steps() {
    yield { done: 1, of: 2 };
    yield { done: 2, of: 2 };
    return "found";
  }
  const whole = recorded();
  expect(await done(steps() as never, "check", whole.terminal, new AbortController().signal)).toBe("found");
  expect(whole.progress).toEqual(["check: 1 of 2 simulations", "check: 2 of 2 simulations"]);
  const cut = recorded();
  expect(await done(steps() as never, "check", cut.terminal, AbortSignal.abort())).toBeNull();
  expect(cut.progress).toEqual(["check: 1 of 2 simulations"]);
});

const population = {
  ...{
    name: "bots",
    clients: 3,
    behaviour: { kind: "poller", everyMs: 5_000 },
    arrivals: { kind: "closed", clients: 3 },
    mix: [],
  },
  reasons: { population: "3 callers that do alike", onRefused: "they wait for the reset" },
};
const model = {
  ...{ name: "monday", populations: [population], callers: 3, calls: 1_200, unexplained: 0, uncounted: 0 },
  doubts: ["the network"],
};
const row = { population: null, figure: "calls", recorded: 5, middle: 5, least: 4, most: 6, off: false };
const check = { seeds: 3, findings: [], why: null, rows: [row, { ...row, population: "bots", off: true }] };
const backtest = {
  ...{ share: 0.7, predicted: "all", windowsSeen: 1, seeds: 39, levels: { narrow: 0.8, wide: 0.95 } },
  coverage: [
    { figure: "admitted", class: "all", windows: 4, insideNarrow: 1, insideWide: 2 },
    { figure: "admitted", class: "near", windows: 4, insideNarrow: 3, insideWide: 4 },
  ],
  findings: ["too few"],
};

async function fitted(result: object, args: object = {}) {
  const kept = recorded();
  await sayFit({ model, check: null, backtest: null, ...result } as never, args as never, kept.terminal);
  return kept.tagged;
}

test("a fit is said by what was found, population by population", async () => {
  expect(await fitted({})).toMatchInlineSnapshot(`
    [
      "<bold>monday</>: 1 population of 3 callers; every call is of one of them.",
      "  <yellow>not told</> the network",
      "  <bold>bots</>: 3 callers that do alike",
      "    poller, every 5s",
      "    <dim>they wait for the reset</>",
    ]
  `);
});

test("a fit says that nothing told the rules", async () => {
  expect((await fitted({ model: { ...model, rulesFrom: "defaults" } }))[1]).toBe(
    "  <yellow>not told</> the rules: the defaults are taken; --policy names others",
  );
  const told = (more: object) => fitted({ model: { ...model, ...more } });
  for (const more of [{ rulesFrom: "defaults", policy: { name: "github" } }, { rulesFrom: "trace" }])
    expect((await told(more)).some((line) => line.includes("the defaults are taken"))).toBe(false);
});

test("a check comes first, in yellow if it found something, and its table last", async () => {
  const plain = await fitted({ check });
  expect(plain[0]).toBe("check: 3 simulations of the scenario are as the recording, within chance");
  expect(plain.slice(-3)).toEqual([
    "<dim>               recorded  simulated  of all simulations</>",
    "  all: calls          5          5  4 to 6",
    "<yellow>  bots: calls         5          5  4 to 6 !</>",
  ]);
  const off = await fitted({ check: { ...check, findings: ["a", "b"], why: "few calls" } });
  expect(off.slice(0, 2)).toEqual([
    "<yellow>check: off by more than chance: a; and 1 other figure</>",
    "  why: few calls",
  ]);
});

test("a backtest says how often its intervals held, by classes of windows", async () => {
  expect((await fitted({ backtest })).slice(5)).toEqual([
    "backtest: fitted to the first 70%, held to 1 window of the rest, 39 simulations",
    "  admitted, windows expected to be nearly full (4): 75% inside the 80% interval, 100% inside the 95% one",
    "  <yellow>too few</>",
  ]);
});

test("a written scenario is said with the commands that simulate it and plan with it, and its policy", async () => {
  const next = async (args: object, policy?: string) => {
    const own = policy === undefined ? model : { ...model, policy: { name: policy } };
    return (await fitted({ model: own }, { out: "my scenario.ts", ...args })).slice(5);
  };
  const [wrote, simulate] = ["wrote my scenario.ts", "next: npx spillway simulate 'my scenario.ts'"];
  const plan = "  or: npx spillway plan 'my scenario.ts' --vary fleet=2..6 --until 'refusedShare<1%'";
  const both = (limits: string, where = "") => [wrote, `${simulate}${limits}${where}`, `${plan}${limits}`];
  expect(await next({})).toEqual(both(""));
  expect(await next({ rules: "r.json", "as-window": true })).toEqual(both(" --as-window"));
  expect(await next({}, "github")).toEqual(both(" --policy github"));
  expect(await next({ rules: "mine.json" }, "github")).toEqual(both(" --policy mine.json"));
  expect(await next({}, "parcels")).toEqual(
    both(" --policy FILE", ", with the policy parcels of the trace in FILE"),
  );
  const visitors = { ...population, arrivals: { kind: "steady", perHour: 4 } };
  const open = { ...model, populations: [visitors] };
  expect((await fitted({ model: open }, { out: "my scenario.ts" })).slice(5)).toEqual([wrote, simulate]);
});

const log = Array.from({ length: 120 }, (_, at) => {
  const time = new Date(Date.UTC(2026, 0, 5, 12) + at * 10_000).toISOString();
  return `10.0.0.1 - ann [05/Jan/2026:${time.slice(11, 19)} +0000] "GET /v2/user HTTP/1.1" 200 12 "-" "curl"\n`;
}).join("");

describe("as it is typed, a file", () => {
  let here: TypedIn;
  beforeAll(async () => {
    const trace = await readFile(new URL("../golden/documented-ok.trace.ndjson", import.meta.url), "utf8");
    here = await TypedIn.of({
      "access.log": log,
      "bad.log": `${log}nothing of the kind\n`,
      "trace.ndjson": trace,
    });
  });
  afterAll(() => here.remove());
  const ran = (command: string) => here.run(command);

  test("says which rows it could not read, and takes the clients of a trace as they were", async () => {
    const bad = await ran("fit bad.log --no-check --no-backtest --allow-unread 50% -o bad.ts");
    expect([bad.code, bad.said[0]]).toEqual([
      0,
      expect.stringMatching(/^1 of 121 rows could not be read, the first: ./),
    ]);
    const trace = await ran("fit trace.ndjson --no-check --no-backtest -o trace.ts --json");
    const { model } = trace.json() as { model: { callers: number; populations: { clients: number }[] } };
    expect([trace.code, model.callers > 1, model.populations.length > 0]).toEqual([0, true, true]);
    const double = await ran("fit trace.ndjson --traffic 2x --no-check --no-backtest -o double.ts --json");
    expect((double.json() as { model: { callers: number } }).model.callers).toBe(2 * model.callers);
  });

  test("of a scenario is fitted to a log, and bundled for k6", async () => {
    const fit = "fit access.log --no-check --no-backtest";
    const out = await ran(`${fit} -o own.ts --report own.md`);
    expect([out.code, out.said.slice(-2)]).toEqual([
      ...[
        0,
        [
          "next: npx spillway simulate own.ts",
          expect.stringMatching("  or: npx spillway plan own.ts --vary fleet="),
        ],
      ],
    ]);
    const source = await readFile(join(here.folder, "own.ts"), "utf8");
    expect(await readFile(join(here.folder, "own.md"), "utf8")).toMatch(/^#/);
    const plain = await ran(`${fit} --name own`);
    expect([plain.code, `${plain.said.join("\n")}\n`, plain.aside.length > 1]).toEqual([0, source, true]);
    const json = await ran(`${fit} --name own --json --strict`);
    expect([json.code, json.json()]).toEqual([
      0,
      expect.objectContaining({ format: "spillway-fit", check: null, backtest: null, source }),
    ]);
    expect((await ran(`${fit} -o own.ts`)).code).toBe(2);
    const bundled = await ran("bundle own.ts -o own.js --rules default");
    expect([bundled.code, bundled.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "own.js",
          "next k6 run -e TARGET=http://HOST -e TOKENS=/path/tokens.json own.js",
        ],
      ]
    `);
    const replacing = await ran("bundle own.ts -o own.ts");
    expect([replacing.code, replacing.aside[0]]).toEqual([
      ...[2, "error FILE_UNWRITABLE the bundle would replace its scenario"],
    ]);
    expect(await readFile(join(here.folder, "own.ts"), "utf8")).toBe(source);
    // A bundle that is there is replaced.
    const steady = join(here.folder, "steady.js");
    await writeFile(steady, "");
    expect((await ran("bundle steady --json")).json()).toMatchInlineSnapshot(`
      {
        "file": "steady.js",
        "run": "k6 run -e TARGET=http://127.0.0.1:4100 -e TOKENS=/path/tokens.json steady.js",
      }
    `);
    expect(await readFile(steady, "utf8")).toContain("Under every limit: nothing may be refused");
    expect((await ran("bundle steady -o .")).aside.slice(0, 2)).toMatchInlineSnapshot(`
      [
        "error FILE_UNWRITABLE the bundle cannot be written",
        "  .: got a directory, allowed: the path of a .js file",
      ]
    `);
  });
});
