// Runs that are kept: what is simulated or loaded becomes a folder, a record and lines for a person. All of it happens
// here, by clocks and drivers of the test's own.
import { mkdtemp, readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hiddenFolders } from "../../src/files/folder-writer.ts";
import { Account } from "../../src/load/account.ts";
import type { LoadOptions } from "../../src/load/load.ts";
import type { NodePart } from "../../src/load/node/run.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseExpectations } from "../../src/rules/figures.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { driverLine, loadInto } from "../../src/runs/load-into.ts";
import { paceText } from "../../src/runs/pace.ts";
import { factsOf, simulateInto } from "../../src/runs/simulate-into.ts";
import { conditionsOf, measureJob, type SimulateTask, simulateJob } from "../../src/runs/simulate-job.ts";
import { version } from "../../src/runs/version.ts";
import { burst, defineScenario, poller, rest, type Scenario } from "../../src/scenario/index.ts";
import { lineByPolicy } from "../load/support.ts";
import { codedErrorOf } from "../support/coded-error.ts";

const startAt = "2026-01-02T03:04:00Z";
const startMs = Date.parse(startAt);
const behaviour = poller({ every: "1s", call: rest("/v2/user") });
const some = defineScenario({
  name: "some",
  description: "a poller",
  duration: "5s",
  seed: 7,
  startAt,
  populations: { agents: { clients: 2, behaviour } },
  expect: { refused: "==0", overAdmission: "<5%" },
});
const versions = { spillway: version, node: process.versions.node };

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-kept-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let count = 0;
const place = () => {
  count += 1;
  return { out: join(folder, `run${count}`), name: "some" };
};
const jsonIn = async (run: string, name: string) => JSON.parse(await readFile(join(run, name), "utf8"));
const context = (scenario: Scenario | null, aborted = false) => ({
  scenario,
  limiter: null,
  signal: { aborted },
});

/** Simulates a scenario into a folder; a look at its clock takes 200 ms. */
async function simulated(
  scenario: Scenario | null,
  task: SimulateTask,
  { aborted = false, notes = [] as string[] } = {},
) {
  let nowMs = 0;
  const clock = (): number => {
    nowMs += 200;
    return nowMs;
  };
  const told: string[] = [];
  const parts = simulateJob(task, context(scenario, aborted), clock);
  const facts = await factsOf(parts);
  const run = await simulateInto(place(), facts, {
    ...{ parts, clock, notes: [...facts.notes, ...notes], signal: { aborted }, file: "some.ts" },
    command: "npx spillway simulate some.ts",
    onProgress: (text) => told.push(text),
  });
  return { facts, run, told, record: await jsonIn(run.folder, "run.json") };
}

describe("a simulation", () => {
  test("is kept with its record, its lines and its verdict", async () => {
    const { facts, run, told, record } = await simulated(some, { changes: {} }, { notes: ["a note"] });
    expect(facts).toMatchObject({
      kind: "facts",
      scenario: { name: "some", description: "a poller", seed: 7, durationMs: 5000 },
      header: { version: 1, scenario: "some", seed: 7, startedAt: startMs },
      claims: "all",
      notes: [],
    });
    expect(record).toEqual({
      format: "spillway-run",
      version: 1,
      driver: "simulator",
      scenario: { name: "some", description: "a poller", file: "some.ts" },
      seed: 7,
      startedAt: startMs,
      endedAt: expect.any(Number),
      durationMs: 5000,
      target: null,
      command: "npx spillway simulate some.ts",
      versions,
      rules: parseRules({}),
      expect: { refused: "==0", overAdmission: "<5%" },
      interrupted: false,
      notes: ["a note"],
    });
    const trace = (await readFile(join(run.folder, "trace.ndjson"), "utf8")).trimEnd().split("\n");
    expect(trace).toHaveLength(11);
    expect(record.endedAt).toBe(JSON.parse(trace.at(-1) ?? "").received);
    expect(run).toMatchObject({ held: true, interrupted: false, notes: ["a note"] });
    expect(run.expectations.map(({ figure, held }) => [figure, held])).toEqual([
      ["refused", true],
      ["overAdmission", true],
    ]);
    expect(told).toMatchInlineSnapshot(`
      [
        "simulating: 0.2%, 1 call, 1.7 calls/s, about 4 min 59 s left",
        "simulating: 0.3%, 2 calls, 2.0 calls/s, about 6 min 24 s left",
        "simulating: 20.1%, 3 calls, 2.1 calls/s, about 5.55 s left",
        "simulating: 20.2%, 4 calls, 2.2 calls/s, about 7.11 s left",
        "simulating: 40.1%, 5 calls, 2.3 calls/s, about 3.28 s left",
        "simulating: 40.3%, 6 calls, 2.3 calls/s, about 3.85 s left",
        "simulating: 60.1%, 7 calls, 2.3 calls/s, about 1.99 s left",
        "simulating: 60.2%, 8 calls, 2.4 calls/s, about 2.25 s left",
        "simulating: 80.1%, 9 calls, 2.5 calls/s, about 796 ms left",
        "simulating: 80.2%, 10 calls, 2.5 calls/s, about 792 ms left",
      ]
    `);
    expect((await readdir(run.folder)).sort()).toEqual(
      [
        "junit.xml",
        "pictures",
        "report.html",
        "run.json",
        "summary.json",
        "summary.md",
        "trace.ndjson",
        "verdict.json",
      ].sort(),
    );
  });

  test("does not hold where an expectation is not met, or the limiter breaks a law", async () => {
    const eager = defineScenario({
      ...{ name: "eager", duration: "3s", seed: 1, startAt },
      populations: { all: { clients: 1, behaviour: burst({ call: rest("/v2/user"), size: 60 }) } },
      expect: { refused: "==0" },
    });
    const { run, record } = await simulated(eager, { changes: {} });
    expect([run.held, run.verdict.verdict, run.expectations[0]?.held]).toEqual([false, "ok", false]);
    expect(record.scenario.description).toBeNull();
    const faulty = await simulated({ ...eager, expect: [] }, { changes: {}, fault: "one-extra" });
    expect([faulty.run.held, faulty.run.verdict.verdict]).toEqual([false, "violated"]);
  });

  test("of a policy, a seed and a length of the command's", async () => {
    const policy = parsePolicy(presets["github"]?.policy);
    const { facts, record } = await simulated(some, { changes: { policy, seed: 9, durationMs: 2000 } });
    expect(record).toMatchObject({ seed: 9, durationMs: 2000, rules: null, policy: { name: "github" } });
    expect(facts.header).toMatchObject({ version: 2, seed: 9 });
    expect(facts.notes[0]).toBe("the limits are those of the policy github");
  });

  test("that is asked to end keeps what it has", async () => {
    const { run, record } = await simulated(some, { changes: {} }, { aborted: true });
    expect([run.interrupted, record.interrupted, run.summary.figures.calls]).toEqual([true, true, 0]);
  });

  test("that was ended is kept as far as it was told, and says so", async () => {
    const parts = simulateJob({ changes: {} }, context(some));
    const facts = await factsOf(parts);
    const cut = (async function* () {
      let told = 0;
      for await (const part of parts) {
        if (told++ === 3) throw new SpillwayError("INTERRUPTED", "the thread was ended");
        yield part;
      }
    })();
    const run = await simulateInto(place(), facts, { parts: cut, file: null, command: "x" });
    expect(run.notes).toEqual(["the thread was ended: the last calls are missing"]);
    const [header = ""] = (await readFile(join(run.folder, "trace.ndjson"), "utf8")).split("\n");
    expect(JSON.parse(header)).toMatchObject({ complete: false });
    expect((await readdir(run.folder)).filter((name) => name.startsWith("."))).toEqual([]);
    const failing = (async function* () {
      yield await Promise.reject(new SpillwayError("SCENARIO_FAILED", "no"));
    })();
    const broken = place();
    await expect(
      simulateInto(broken, facts, { parts: failing, file: null, command: "x" }),
    ).rejects.toMatchObject({ code: "SCENARIO_FAILED" });
    await expect(stat(broken.out)).rejects.toThrow("ENOENT");
  });

  test("takes start, seed, length, users and trips of a run that it is to be like", async () => {
    const { run } = await simulated(some, { changes: { seed: 11, durationMs: 3000 } });
    const other = defineScenario({
      ...{ name: "other", duration: "1m", network: { latency: "3s" } },
      populations: { agents: { clients: 2, behaviour } },
    });
    const { scenario, notes, options } = await conditionsOf(other, { like: run.folder });
    expect(scenario).toMatchObject({ seed: 11, durationMs: 3000, startAtMs: startMs, rules: parseRules({}) });
    expect(options.seating?.seat(0, 1)).toMatchObject({ organization: "acme", user: "agents-1" });
    expect(notes).toEqual([
      expect.stringMatching(
        new RegExp(
          `^start, users and network are those of ${run.folder}: trips of .*, queries of .*, clients late by .*$`,
        ),
      ),
    ]);
    expect(scenario.network.roundTripMs).toMatchObject({ shape: "quantiles" });
    const rules = parseRules({ user: { rest: { limit: 3 } } });
    const changed = await conditionsOf(other, { like: run.folder, rules, seed: 1, durationMs: 500 });
    expect(changed.scenario).toMatchObject({ seed: 1, durationMs: 500, rules });
  });

  test("needs a scenario, or a world", async () => {
    for (const job of [simulateJob, measureJob])
      await expect(job({ changes: {} }, context(null)).next()).rejects.toThrow(
        new RangeError("neither a scenario nor a world is named"),
      );
    const { value } = await simulateJob({ changes: {}, world: "3/1" }, context(null)).next();
    expect(value).toMatchObject({ kind: "facts", header: { scenario: "world-3-1" } });
  });

  const many = defineScenario({
    ...{ name: "many", duration: "40s", seed: 2, startAt },
    populations: { all: { clients: 80, behaviour } },
  });

  test.each([
    [
      "tells parts of a sixteenth of what it told before, while time stands still",
      0,
      [17, 19, 100, 292, 795],
    ],
    ["also tells at each turn, of which it asks every 200 calls", 60, [17, 19, 100, 281, 744]],
  ])("%s", async (_, tickMs, expected) => {
    let nowMs = 0;
    const clock = (): number => {
      nowMs += tickMs;
      return nowMs;
    };
    const calls: number[] = [];
    for await (const part of simulateJob({ changes: {} }, context(many), clock))
      if (part.kind === "part") calls.push(part.calls);
    expect(calls.at(-1)).toBe(3200);
    expect([16, 17, 40, 60, 80].map((part) => calls[part])).toEqual(expected);
  });

  test("for its figures alone tells its facts and the figures", async () => {
    const job = measureJob({ changes: { durationMs: 3000 }, fault: "double-count" }, context(some));
    expect((await job.next()).value).toEqual({
      kind: "facts",
      scenario: { name: "some", seed: 7, startAtMs: startMs, durationMs: 3000, expect: some.expect },
      notes: [],
    });
    expect(await job.next()).toMatchObject({ done: true, value: { figures: { calls: 6, refused: 0 } } });
  });

  test("for its figures alone tells a step of 65,536 calls", async () => {
    const job = measureJob({ changes: { durationMs: 820_000 } }, context(many));
    const steps = [await job.next(), await job.next(), await job.next()];
    expect(steps).toMatchObject([
      { value: { kind: "facts" } },
      { value: { kind: "step", calls: 65_536 } },
      { done: true, value: { figures: { calls: 65_600 } } },
    ]);
  });
});

const github = parsePolicy(presets["github"]?.policy);
/** Loads by parts of the test's own: one call, then the end, or `end`. */
async function loaded(
  options: Partial<Parameters<typeof loadInto>[1]> = {},
  p99Ms = 3,
  end?: Error,
  checks: NodePart["checks"] = [],
) {
  const at = place();
  const told: string[] = [];
  const part = (calls: number): NodePart => {
    const account = new Account(startMs);
    account.begin("agents/0", startMs);
    if (calls > 0) account.call({ status: 200, sent: startMs, received: startMs + 5 });
    account.end("agents/0");
    const lateness = { calls, p50Ms: 1, p99Ms, maxMs: p99Ms };
    const text = { lines: calls > 0 ? lineByPolicy(0, startMs) : "", count: calls };
    return {
      ...text,
      account: account.finish(0),
      checks,
      lateness,
      elapsedMs: 1000 * calls,
      tightest: null,
    };
  };
  const drive: LoadOptions["drive"] = async function* () {
    yield part(0);
    if (end?.message === "at once") throw end;
    yield part(1);
    if (end !== undefined) throw end;
  };
  const result = loadInto(at, {
    scenario: { scenario: some, path: "/some.ts", digest: "" },
    target: {
      url: "http://127.0.0.1:1",
      tokens: [
        { token: "a-secret", attributes: { user: "ann" } },
        { token: "b-secret", attributes: { user: "bob" } },
      ],
    },
    adjustments: { policy: github },
    by: { driver: "node", because: null },
    drive,
    file: "some.ts",
    command: "npx spillway load some.ts",
    onProgress: (text) => told.push(text),
    ...options,
  });
  return { result, told, out: at.out };
}

describe("a load", () => {
  test("is kept with its record and its notes", async () => {
    const { result, told, out } = await loaded({ notes: ["a note"] });
    const { held, notes, folder: kept, load } = await result;
    expect([held, notes, kept, load.driver]).toEqual([true, ["a note"], out, "node"]);
    expect(await jsonIn(out, "run.json")).toEqual({
      format: "spillway-run",
      version: 1,
      driver: "node",
      scenario: { name: "some", description: "a poller", file: "some.ts" },
      seed: 7,
      startedAt: startMs,
      endedAt: expect.any(Number),
      durationMs: 5000,
      target: "http://127.0.0.1:1",
      command: "npx spillway load some.ts",
      versions,
      rules: null,
      policy: JSON.parse(JSON.stringify(github)),
      expect: { refused: "==0", overAdmission: "<5%" },
      lateness: { calls: 1, p50Ms: 1, p99Ms: 3, maxMs: 3 },
      interrupted: false,
      notes: ["a note"],
    });
    expect(told).toEqual([
      "0 ms of 5 s, 0 requests, 3 ms late",
      expect.stringMatching(/^1 s of 5 s, 1 request(?:, [\d,]+\/s)?, 0% refused, 3 ms late$/),
    ]);
  });

  test.each([
    [99, []],
    [
      100,
      ["the generator was too slow: 1 of 100 calls left 100 ms late or later, so waits are partly its own"],
    ],
  ])("whose calls left %d ms late says so: %j", async (p99Ms, expected) => {
    expect((await (await loaded({}, p99Ms)).result).notes).toEqual(expected);
  });

  test("does not hold where an expectation or a check fails", async () => {
    const { expectations: expect_ } = parseExpectations({ refused: ">0" });
    const unexpected = await loaded({
      scenario: { scenario: { ...some, expect: expect_ }, path: "/some.ts", digest: "" },
    });
    const unlike = await loaded({}, 3, undefined, [{ name: "answers are as the policy says", fails: 1 }]);
    expect([(await unexpected.result).held, (await unlike.result).held]).toEqual([false, false]);
  });

  test("that fails leaves what was measured, and the command that judges it", async () => {
    const failing = new SpillwayError("SCENARIO_FAILED", "a client failed", { hint: "look at it" });
    const { result, out } = await loaded({}, 3, failing);
    const error = await codedErrorOf(result);
    expect([error.code, error.message.split("\n")[0], error.hint]).toEqual([
      "SCENARIO_FAILED",
      "a client failed",
      `look at it; npx spillway verify ${out} judges what was measured until then`,
    ]);
    expect(await hiddenFolders(out)).toHaveLength(1);
  });

  test("that fails before its first call has nothing to be judged", async () => {
    const failing = new SpillwayError("SCENARIO_FAILED", "at once", { hint: "look at it" });
    const { result } = await loaded({}, 3, failing);
    expect((await codedErrorOf(result)).hint).toBe("look at it");
  });

  test("beside a run that is none does not begin", async () => {
    const { result, told, out } = await loaded({ compare: join(folder, "none") });
    await expect(result).rejects.toMatchObject({ code: expect.any(String) });
    expect(told).toEqual([]);
    await expect(stat(out)).rejects.toThrow("ENOENT");
  });
});

test.each([
  [{ driver: "k6", k6: { path: "k6", version: "1.8.1", origin: "cache" } }, "k6 1.8.1 drives the load."],
  [{ driver: "node", because: null }, "Node drives the load (about 7,000 calls/s; k6 reaches 20,000)."],
  [
    { driver: "node", because: "k6 was not found" },
    "k6 was not found, so Node drives the load (about 7,000 calls/s; k6 reaches 20,000). Get k6: npx spillway doctor --get-k6",
  ],
] as const)("%j is told: %s", (choice, said) => {
  expect(driverLine(choice)).toBe(said);
});

test.each([
  [null, ""],
  [{ perSecond: 9.96, leftMs: null }, ", 10.0 calls/s"],
  [{ perSecond: 10, leftMs: 499 }, ", 10 calls/s"],
  [{ perSecond: 1234.5, leftMs: 500 }, ", 1,235 calls/s, about 500 ms left"],
])("a speed of %j: %s", (speed, said) => {
  expect(paceText(speed, "call")).toBe(said);
});
