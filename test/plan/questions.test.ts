// Storms that are searched for by outcomes that are given, and questions that cannot be answered.
import { burst, defineScenario, fixed, rest, status } from "spillway/scenario";
import { describe, expect, test } from "vitest";
import type { CountsByWindow, JobOutcome } from "../../src/plan/job.ts";
import { changeScenario } from "../../src/plan/paths.ts";
import { type PlanOptions, preparePlan } from "../../src/plan/plan.ts";
import { Outcomes, samplingOf } from "../../src/plan/sampling.ts";
import { parseStorm, recoveredAfter, searchStorm } from "../../src/plan/storm.ts";
import { overAtMs, withTrigger } from "../../src/plan/trigger.ts";
import { parseVary } from "../../src/plan/vary.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { driven } from "./driven.ts";
import { crowd, steady } from "./worlds.ts";

/** The first mistake that a text makes. */
function problemOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    if (error instanceof SpillwayError) return error.problems[0];
    throw error;
  }
  return null;
}

describe("a storm", () => {
  const minutes = (calls: number, ...bad: number[]): JobOutcome => ({
    figures: [],
    windows: bad.map((one) => [calls, one] as const),
  });

  test("is searched for by runs with and without its trigger", () => {
    const question = parseStorm("outage=10s,20s,30s,40s", steady());
    const sampling = samplingOf(16, 0.95);
    const { result, batches } = driven(
      searchStorm({ outcomes: new Outcomes() }, question, sampling),
      ({ variant: { trigger } }) => {
        if (trigger === null) return minutes(100, 0, 0, 0, 0, 0, 0);
        return trigger.size < 30_000 ? minutes(100, 0, 50, 50, 2, 0, 0) : minutes(100, 0, 50, 50, 50, 50, 2);
      },
    );
    const [first = 0] = sampling.looks;
    expect(batches.map(({ jobs }) => jobs.length)).toEqual([5 * first]);
    expect(result).toMatchObject({
      ...{
        trigger: "outage",
        unit: "ms",
        atMs: 60_000,
        windowMs: 60_000,
        withinWindows: null,
        from: 10_000,
        to: 40_000,
      },
      answer: { kind: "value", value: 20_000, holds: 20_000, fails: 30_000 },
      series: [
        { size: 0, shares: [0, 0, 0, 0, 0, 0] },
        { size: 20_000, shares: [0, 0.5, 0.5, 0.02, 0, 0] },
        { size: 30_000, shares: [0, 0.5, 0.5, 0.5, 0.5, 0.02] },
      ],
    });
    expect(
      result.triggers.map(({ size, recovered, windowsToRecover, state }) => [
        size,
        recovered,
        windowsToRecover,
        state,
      ]),
    ).toEqual([
      [10_000, first, 2, "holds"],
      [20_000, first, 2, "holds"],
      [30_000, 0, null, "fails"],
      [40_000, 0, null, "fails"],
    ]);
  });

  test.each([
    [1, null, "none"],
    [2, 2, "all"],
  ])("within %s windows: %s windows until it is back: %s", (within, _, kind) => {
    const question = parseStorm("burst=10,20", steady(), within);
    const sampling = samplingOf(16, 0.95);
    const { result } = driven(
      searchStorm({ outcomes: new Outcomes() }, question, sampling),
      ({ variant: { trigger } }) =>
        trigger === null ? minutes(100, 0, 0, 0, 0, 0, 0) : minutes(100, 0, 50, 50, 2, 0, 0),
    );
    expect([result.unit, result.answer.kind, result.series.map(({ size }) => size)]).toEqual([
      "count",
      kind,
      [0, 20],
    ]);
  });

  test.each([
    [undefined, 6, "holds"],
    [0.9, 32, "unclear"],
  ])("decides by the share of runs that was asked for: %s", (inRuns, runs, state) => {
    // Recovers in each run but every tenth.
    const { steps } = preparePlan(steady(), { storm: "outage=10s", inRuns });
    const { result } = driven(steps(), ({ variant: { trigger }, replication }) =>
      trigger === null || replication % 10 !== 9
        ? minutes(100, 0, 0, 0, 0, 0, 0)
        : minutes(100, 0, 9, 9, 9, 9, 9),
    );
    const [tried] = result.storm?.triggers ?? [];
    expect(tried).toMatchObject({ state });
    expect(result.storm?.share).toBe(inRuns ?? 0.5);
    expect(tried?.replications).toBeGreaterThanOrEqual(runs);
  });

  test("a window without calls is back where the calm run has none there, too, and no share is drawn of it", () => {
    const at = { atMs: 0, windowMs: 1_000 };
    const hit = (...windows: [number, number][]): CountsByWindow => windows;
    const calm = hit([10, 1], [0, 0], [10, 0]);
    expect(recoveredAfter(calm, hit([10, 9], [0, 0], [10, 1]), at, 500)).toBe(0);
    expect(recoveredAfter(calm, hit([10, 9], [0, 0], [0, 0]), at, 500)).toBeNull();
    expect(recoveredAfter(calm, hit([10, 9], [10, 5], [10, 1]), at, 1_000)).toBe(1);
    expect(recoveredAfter(calm, hit([10, 9], [10, 5], [10, 1]), at, 2_000)).toBe(0);
    // Windows before the trigger say nothing of what is normal.
    expect(recoveredAfter(calm, hit([10, 9], [0, 0], [10, 1]), { ...at, atMs: 1_000 }, 500)).toBeNull();
  });

  test.each([
    ["flood", { path: "--storm", got: '"flood"', allowed: "outage, burst, outage=1s..60s or burst=10..500" }],
    ["burst=0", { path: "--storm", got: '"burst=0"', allowed: "burst=FROM..TO, such as burst=10..500" }],
    [
      "outage=often",
      { path: "--storm", got: '"outage=often"', allowed: "outage=FROM..TO, such as outage=1s..60s" },
    ],
    [
      "outage=240001ms",
      {
        path: "--storm",
        got: '"outage=240001ms"',
        allowed: "a trigger that is over a window before the end, at 300000 ms",
      },
    ],
    [
      "outage=1ms..3ms:0.5ms",
      { path: "--storm", got: '"outage=1ms..3ms:0.5ms"', allowed: expect.any(String) },
    ],
    ["outage=1s..5s=x", { path: "--storm", got: '"outage=1s..5s=x"', allowed: expect.any(String) }],
    [
      "burst=1..1000000",
      { path: "--storm", got: expect.any(String), allowed: expect.stringContaining("STEP") },
    ],
    [
      "burst=1..1000001:1000",
      { path: "--storm", got: '"burst=1..1000001:1000"', allowed: "bursts of at most 1000000 calls" },
    ],
    ["outage=240s", null],
    ["burst=1..1000000:1000", null],
    ["burst=1", null],
  ])("%s: %j", (text, problem) => {
    expect(problemOf(() => parseStorm(text, steady()))).toEqual(problem);
  });

  test("needs four windows, of the shortest limit that its calls touch", () => {
    const short = (duration: string) =>
      changeScenario(steady(), [{ path: "duration", value: Number(duration) }]);
    expect(problemOf(() => parseStorm("burst", short("239999")))).toEqual({
      ...{ path: "duration", got: "239999 ms", allowed: "240000 ms or more: 4 windows" },
    });
    expect(() => parseStorm("burst", short("239999"))).toThrow(
      expect.objectContaining({ hint: "--duration 8m shows whether the load recovers" }),
    );
    expect(parseStorm("burst", short("240000")).sizes).toHaveLength(2_000);
    expect(parseStorm("outage", short("240000")).sizes.at(-1)).toBe(90_000);
    const limited = changeScenario(crowd(), [{ path: "rules.organization.rest.windowSeconds", value: 2 }]);
    expect(parseStorm("burst=1", limited)).toMatchObject({ atMs: 2_000, windowMs: 2_000 });
    // Too short for an outage of two seconds.
    const brief = changeScenario(crowd(), [
      { path: "rules.organization.rest.windowSeconds", value: 1 },
      { path: "duration", value: 4_000 },
    ]);
    const { sizes } = parseStorm("outage", brief);
    expect([sizes[0], sizes.at(-1)]).toEqual([1, 1_500]);
  });

  test("takes at most 100,000 windows, which are counted one by one", () => {
    const lasting = (ms: number) =>
      changeScenario(crowd(), [
        { path: "rules.organization.rest.windowSeconds", value: 1 },
        { path: "duration", value: ms },
      ]);
    expect(parseStorm("burst=1", lasting(100_000_000)).windowMs).toBe(1_000);
    const long = () => parseStorm("burst=1", lasting(100_000_001));
    expect(problemOf(long)).toEqual({
      path: "duration",
      got: "100000001 ms",
      allowed: "100000000 ms or less: 100000 windows of 1000 ms",
    });
    expect(long).toThrow(expect.objectContaining({ hint: "--duration 100000s is short enough" }));
  });

  test("of calls that do not count needs calls that do, and a crowd has a name of its own", () => {
    const watching = defineScenario({
      name: "watching",
      duration: "5m",
      populations: {
        burst: { clients: 1, behaviour: burst({ call: status(), size: 1 }) },
        more: { clients: 9, behaviour: burst({ call: status(), size: 1 }) },
      },
    });
    const trigger = { kind: "burst", atMs: 60_000, size: 7 } as const;
    expect(problemOf(() => withTrigger(watching, trigger))).toEqual({
      ...{ path: "populations.more", got: "status calls alone", allowed: "a REST or GraphQL call" },
    });
    const { populations } = withTrigger(
      defineScenario({
        name: "calling",
        duration: "5m",
        populations: {
          burst: {
            clients: 1,
            organization: "globex",
            behaviour: burst({ call: rest("/v2/user"), size: 9 }),
            onRefused: fixed({ wait: "2s" }),
          },
          more: { clients: 9, behaviour: burst({ call: status(), size: 1 }) },
        },
      }),
      trigger,
    );
    expect(populations[2]).toMatchObject({
      ...{ name: "burst-", organization: "globex", user: "each", clients: null },
      arrivals: { executor: "ramping-arrival-rate" },
    });
    expect(populations[2]?.onRefused).toBe(populations[0]?.onRefused);
    expect([overAtMs(trigger), overAtMs({ ...trigger, kind: "outage" })]).toEqual([61_000, 60_007]);
  });
});

describe("a question", () => {
  const asked = (options: PlanOptions) => problemOf(() => preparePlan(crowd(), options));
  const vary = ["crowd.clients=10..20"];
  test.each<[PlanOptions, unknown]>([
    [{}, { path: "--vary", got: "nothing", allowed: expect.stringContaining("--storm") }],
    [
      { vary: [...vary, ...vary, ...vary] },
      { path: "--vary", got: "3 of them", allowed: "one, or two for a heat map" },
    ],
    [
      { vary: [...vary, ...vary] },
      { path: "--vary", got: "crowd.clients twice", allowed: "two different paths" },
    ],
    [
      { storm: "burst", until: ["refused < 1%"] },
      { path: "--until", got: "a goal with --storm alone", allowed: expect.any(String) },
    ],
    [
      { storm: "burst", until: ["refused < 1%", "points < 1"] },
      { path: "--until", got: "goals with --storm alone", allowed: expect.any(String) },
    ],
    [
      { find: "largest", storm: "outage" },
      { path: "--find", got: "largest without --vary", allowed: expect.any(String) },
    ],
    [
      { find: "smallest", compare: true },
      { path: "--find", got: "smallest without --vary", allowed: expect.any(String) },
    ],
    [
      { vary, inRuns: 0.49 },
      { path: "--in-runs", got: "0.49", allowed: expect.any(String) },
    ],
    [
      { vary, inRuns: 1 },
      { path: "--in-runs", got: "1", allowed: expect.any(String) },
    ],
    [
      { vary, confidence: 0.5 },
      { path: "--confidence", got: "0.5", allowed: expect.any(String) },
    ],
    [
      { vary, confidence: 1 },
      { path: "--confidence", got: "1", allowed: expect.any(String) },
    ],
    [
      { vary, within: 1 },
      { path: "--within", got: "1", allowed: "a whole number of windows, with --storm" },
    ],
    [
      { compare: true, storm: "burst=1", within: -1 },
      { path: "--within", got: "-1", allowed: expect.any(String) },
    ],
    [
      { vary, inRuns: 0.5, replications: 5 },
      {
        path: "--replications",
        got: "5",
        allowed: expect.stringMatching(
          /^6 to \d+: fewer than 6 that all agree tell nothing of 50% of runs at 95% confidence$/,
        ),
      },
    ],
    [
      { vary, replications: 5, inRuns: 0.9 },
      { path: "--replications", got: "5", allowed: expect.stringContaining("; --in-runs 50% takes 6") },
    ],
    [{ vary, inRuns: 0.5, replications: 6 }, null],
    [{ vary, confidence: 0.51 }, null],
  ])("%j", (options, problem) => {
    expect(asked(options)).toEqual(problem);
  });

  test("both ends of one span are tried together before any run", () => {
    const spread = { ...crowd(), network: { ...crowd().network, latencyMs: { least: 2, most: 9 } } };
    const of = (least: string, most: string) =>
      problemOf(() =>
        preparePlan(spread, { vary: [`network.latency.least=${least}`, `network.latency.most=${most}`] }),
      );
    expect(of("1ms..5ms", "5ms..9ms")).toBeNull();
    expect(of("1ms..5ms", "4ms..9ms")).toEqual({
      path: "network.latency.most",
      got: "4",
      allowed: expect.stringMatching(/^a whole number of ms from 5 to /),
    });
  });

  test.each([
    ["crowd.clients=10..20", "largest"],
    ["rules.organization.rest.limit=10..20", "smallest"],
  ])("by default the far end of %s is looked for: %s", (text, find) => {
    const { question } = preparePlan(crowd(), { vary: [text], until: ["refused < 1%"] });
    expect(question).toMatchObject({ find, share: 0.95, confidence: 0.95, replicationsMost: 128 });
    expect(
      preparePlan(crowd(), { vary: [text], until: ["refused < 1%"], inRuns: 0.5 }).question,
    ).toMatchObject({
      ...{ share: 0.5, replicationsMost: 64 },
    });
    expect(preparePlan(crowd(), { vary: [text] }).question).toMatchObject({
      find: null,
      share: 0.5,
      goals: [],
    });
  });
});

test.each(["capacity=1..9", "refill.amount=1..9"])("the smallest %s of a bucket is looked for", (values) => {
  const policy = parsePolicy({
    version: 2,
    name: "bucket",
    quotas: {
      pool: {
        algorithm: { kind: "token-bucket", capacity: 5, refill: { amount: 1, everyMs: 1_000 } },
        key: ["user"],
      },
    },
    operations: { read: { uses: { pool: 1 } } },
    routes: [{ methods: ["GET"], path: "/**", operation: "read" }],
  });
  const world = crowd();
  const vary = [`policy.quotas.pool.algorithm.${values}`];
  const { question } = preparePlan({ ...world, rules: null, policy }, { vary, until: ["refused < 1%"] });
  expect(question.find).toBe("smallest");
});

test.each([
  ["crowd.clients=10..30x2", [10, 20, 30]],
  ["crowd.clients=5,3,5", [3, 5]],
  ["crowd.clients=1..3", [1, 2, 3]],
  ["network.loss=0%..50%:20%", [0, 0.2, 0.4, 0.5]],
  ["network.timeout=1s..3s:1s", [1_000, 2_000, 3_000]],
])("%s has these values", (text, values) => {
  const { candidates, axis } = parseVary(text, crowd());
  expect(candidates).toEqual(values);
  expect(axis).toMatchObject({ from: values[0], to: values.at(-1), values: values.length });
});
