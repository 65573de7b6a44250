// The ends of every range that options have: both are taken, and the next value beyond each is refused by its path.
import { describe, expect, test } from "vitest";
import * as s from "../../src/scenario/index.ts";
import { made, mistakesOf } from "./mistakes.ts";

const call = s.rest("/v2/user");
const calls = [call];
const safe = Number.MAX_SAFE_INTEGER;
const year = 366 * 24 * 3_600_000;
const day = 24 * 3_600_000;
const million = 1_000_000;
const populationOf = (population: object) => (value: unknown) =>
  made(s.defineScenario, {
    ...{ name: "own", duration: "1s" },
    populations: { all: { behaviour: s.poller({ every: "1s", call }), ...population, ...(value as object) } },
  });
const scenarioOf = (name: string) => (value: unknown) =>
  made(s.defineScenario, {
    ...{ name: "own", duration: "1s", [name]: value },
    populations: { all: { clients: 1, behaviour: s.poller({ every: "1s", call }) } },
  });
const adjusted = (name: string) => (value: unknown) =>
  made(s.adjustScenario, scenarioOf("seed")(1), { [name]: value });
const inScenario =
  (of: string, member: string, beside: object = {}) =>
  (value: unknown) =>
    scenarioOf(of)({ ...beside, [member]: value });
const inArrivals =
  (executor: string, member: string, beside: object) =>
  (value: unknown): unknown =>
    populationOf({})({ arrivals: { executor, ...beside, [member]: value } });
const option =
  (of: unknown, member: string, beside: object) =>
  (value: unknown): unknown =>
    made(of, { ...beside, [member]: value });
const ready = { preAllocatedVUs: 1 };
const stages = [{ target: 1, duration: 1 }];
const wakes = (member: string, beside: object) => (value: unknown) =>
  made(s.sessions, {
    of: s.poller({ every: "1s", call }),
    wakes: { ...beside, [member]: value },
    calls: 1,
  });

describe("whole numbers", () => {
  test.each<[path: string, make: (value: unknown) => unknown, least: number, most: number]>([
    ["seed", scenarioOf("seed"), 0, safe],
    ["populations.all.clients", (value) => populationOf({})({ clients: value }), 1, million],
    ["seed", adjusted("seed"), 0, safe],
    ["durationMs", adjusted("durationMs"), 1, year],
    ["startAtMs", adjusted("startAtMs"), 0, 8.64e15],
    ["service.servers", inScenario("service", "servers", { time: 1 }), 1, 10_000],
    ["service.queue", inScenario("service", "queue", { servers: 1, time: 1 }), 0, 10_000_000],
    ["rest.cost", (cost) => made(s.rest, "/", { cost, actual: 0 }), 0, safe],
    ["rest.actual", (actual) => made(s.rest, "/", { cost: 7, actual }), 0, 7],
    ["graphql.cost", (cost) => made(s.graphql, "{ a }", { cost, actual: 0 }), 0, safe],
    ["graphql.actual", (actual) => made(s.graphql, "{ a }", { cost: 7, actual }), 0, 7],
    ["pipelinesQuery.first", (first) => made(s.pipelinesQuery, first), 1, 500],
    ["pipelinesQuery.existing", (existing) => made(s.pipelinesQuery, 1, existing), 0, safe],
    ["burst.size", option(s.burst, "size", { call }), 1, 10_000],
    ["queue.workers", option(s.queue, "workers", { call, jobs: 1 }), 1, 1_000],
    ["queue.jobs", option(s.queue, "jobs", { call, workers: 1 }), 1, safe],
    ["worker.jobs", option(s.worker, "jobs", { calls }), 1, safe],
    ["worker.calls.0.weight", (weight) => made(s.worker, { calls: [{ call, weight }] }), 1, million],
    ["pager.perPage", option(s.pager, "perPage", { call, pages: 1 }), 1, 100],
    ["pager.parallel", option(s.pager, "parallel", { call, pages: 1 }), 1, 100],
    ["looker.leave", option(s.looker, "leave", { calls }), 0, safe],
    ["looker.callsPerLook", option(s.looker, "callsPerLook", { calls }), 1, million],
    ["paced.sharedBy", option(s.paced, "sharedBy", { calls }), 1, million],
    ["paced.userSharedBy", option(s.paced, "userSharedBy", { calls }), 1, million],
    ["paced.jobs", option(s.paced, "jobs", { calls }), 1, safe],
    ["octokit.retries", option(s.octokit, "retries", {}), 0, 1_000],
    ["openaiNode.tokens", option(s.openaiNode, "tokens", { used: 0 }), 0, safe],
    ["openaiNode.used", option(s.openaiNode, "used", { tokens: 7 }), 0, 7],
    ["openaiNode.maxRetries", option(s.openaiNode, "maxRetries", {}), 0, 1_000],
    ["ghApiPaginate.entries", option(s.ghApiPaginate, "entries", {}), 0, 10_000_000],
    ["ghApiPaginate.perPage", option(s.ghApiPaginate, "perPage", {}), 1, 100],
    ["fixed.attempts", option(s.fixed, "attempts", { wait: 1 }), 1, safe],
    ["populations.all.arrivals.startVUs", inArrivals("ramping-vus", "startVUs", { stages }), 0, million],
    [
      "populations.all.arrivals.preAllocatedVUs",
      inArrivals("constant-arrival-rate", "preAllocatedVUs", { rate: 1 }),
      1,
      million,
    ],
    [
      "populations.all.arrivals.clients",
      inArrivals("cron", "clients", { ...ready, schedule: "* * * * *" }),
      1,
      million,
    ],
    [
      "populations.all.arrivals.maxVUs",
      inArrivals("constant-arrival-rate", "maxVUs", { rate: 1, preAllocatedVUs: 5 }),
      5,
      million,
    ],
  ])("%s", (path, make, least, most) => {
    const wrong = [expect.stringMatching(new RegExp(`^${path}: a whole number from ${least} to ${most}$`))];
    expect([least, most].map((value) => mistakesOf(() => make(value)))).toEqual([[], []]);
    for (const value of [least - 1, most + 1, least + 0.5, "1"])
      expect(mistakesOf(() => make(value)).slice(0, 1), String(value)).toEqual(wrong);
  });
});

describe("times", () => {
  test.each<[path: string, make: (value: unknown) => unknown, leastMs: number, mostMs: number]>([
    ["duration", (duration) => populationOf({ clients: 1 })({}) && scenarioOf("duration")(duration), 1, year],
    ["populations.all.startWithin", (startWithin) => populationOf({ clients: 1 })({ startWithin }), 0, year],
    ["network.latency", inScenario("network", "latency"), 1, day],
    ["network.roundTrip", inScenario("network", "roundTrip"), 1, day],
    ["network.execution", inScenario("network", "execution"), 0, day],
    ["network.lateness", inScenario("network", "lateness"), 0, day],
    ["network.timeout", inScenario("network", "timeout"), 1, year],
    ["service.time", inScenario("service", "time", { servers: 1 }), 0, day],
    ["outages.0.at", (at) => scenarioOf("outages")([{ at, for: 1, answer: 503 }]), 0, year],
    ["outages.0.for", (length) => scenarioOf("outages")([{ at: 0, for: length, answer: "none" }]), 0, year],
    ["clocks.apart", inScenario("clocks", "apart"), 0, 60_000],
    ["poller.every", option(s.poller, "every", { call }), 1, year],
    ["burst.every", option(s.burst, "every", { call, size: 1 }), 1, year],
    ["pager.every", option(s.pager, "every", { call, pages: 1 }), 1, year],
    ["queue.every", option(s.queue, "every", { call, workers: 1 }), 1, year],
    ["worker.think", option(s.worker, "think", { calls }), 0, year],
    ["worker.atOnce", option(s.worker, "atOnce", { calls }), 1, 1_000],
    ["looker.think", option(s.looker, "think", { calls }), 0, year],
    ["paced.least", option(s.paced, "least", { calls }), 0, year],
    ["exponential.first", option(s.exponential, "first", { most: year }), 1, year],
    ["exponential.most", option(s.exponential, "most", { first: 1 }), 1, year],
    ["exponential.deadline", option(s.exponential, "deadline", { first: 1, most: 1 }), 1, year],
    ["fixed.wait", option(s.fixed, "wait", {}), 0, year],
    ["retryAfter.fallback", option(s.retryAfter, "fallback", {}), 0, year],
    ["retryAfter.most", option(s.retryAfter, "most", {}), 0, year],
    ["retryAfter.jitter", option(s.retryAfter, "jitter", {}), 0, year],
    ["waitReset.least", option(s.waitReset, "least", { of: "both" }), 0, year],
    ["waitReset.most", option(s.waitReset, "most", { of: "both" }), 0, year],
    ["waitReset.fallback", option(s.waitReset, "fallback", { of: "both" }), 0, year],
    ["waitReset.jitter", option(s.waitReset, "jitter", { of: "both" }), 0, year],
    [
      "populations.all.arrivals.spread",
      inArrivals("cron", "spread", { ...ready, clients: 1, schedule: "* * * * *" }),
      0,
      day,
    ],
    ...(["constant", "ramping", "poisson"] as const).map(
      (name): [string, (value: unknown) => unknown, number, number] => [
        "populations.all.arrivals.timeUnit",
        inArrivals(`${name}-arrival-rate`, "timeUnit", {
          ...ready,
          ...(name === "ramping" ? { stages } : { rate: 1 }),
        }),
        1,
        day,
      ],
    ),
    [
      "populations.all.arrivals.timeUnit",
      inArrivals("business-day", "timeUnit", { ...ready, rates: Array(24).fill(1) }),
      1,
      day,
    ],
    [
      "populations.all.arrivals.stages.0.duration",
      (duration) => inArrivals("ramping-vus", "stages", {})([{ target: 1, duration }]),
      0,
      year,
    ],
    ["sessions.wakes.late", wakes("late", { at: "* * * * *" }), 0, year],
    ["sessions.wakes.within", wakes("within", { perDay: 1 }), 0, year],
    ["sessions.wakes.lasts", wakes("lasts", { perDay: 1 }), 1, year],
  ])("%s", (path, make, leastMs, mostMs) => {
    expect([leastMs, mostMs].map((ms) => mistakesOf(() => make(ms)))).toEqual([[], []]);
    const most = mostMs === year ? "a year" : `${mostMs} ms`;
    for (const ms of [leastMs - 1, mostMs + 1, leastMs + 0.5, "soon"]) {
      const [mistake = "", ...others] = mistakesOf(() => make(ms));
      expect([mistake.split(": ")[0], others], String(ms)).toEqual([path, []]);
      expect(mistake).toContain(`from ${leastMs} ms to ${most}`);
    }
  });
});

describe("other numbers", () => {
  test.each<[path: string, make: (value: unknown) => unknown, good: number[], bad: unknown[]]>([
    ["network.loss", inScenario("network", "loss"), [0, 0.99], [-0.01, 0.991, "0"]],
    [
      "outages.0.share",
      (share) => scenarioOf("outages")([{ at: 0, for: 1, answer: 503, share }]),
      [0.01, 1],
      [0, 1.01, "1"],
    ],
    ["exponential.factor", option(s.exponential, "factor", { first: 1, most: 1 }), [1, 100], [0.99, 100.1]],
    [
      "populations.all.arrivals.rate",
      inArrivals("poisson-arrival-rate", "rate", ready),
      [0.001, 1],
      [0, -1, "1"],
    ],
    [
      "populations.all.arrivals.rates.3",
      (rate) => inArrivals("business-day", "rates", ready)([...Array(3).fill(0), rate, ...Array(20).fill(0)]),
      [0, 0.5],
      [-0.1],
    ],
    [
      "populations.all.user",
      (user) => populationOf({ clients: 1 })({ user }),
      [1, million],
      [0, million + 1, 1.5],
    ],
    ["fitError.calls", inScenario("fitError", "calls"), [-1, 1], [-1.01, 1.01]],
    ["sessions.wakes.perDay", wakes("perDay", {}), [0.001, 1_000], [0, 1_000.5]],
    ["sessions.wakes.share", wakes("share", { perDay: 1 }), [0.001, 1], [0, 1.001]],
    ["sessions.wakes.group", wakes("group", { perDay: 1 }), [0, 999], [-1, 1_000, 1.5]],
    [
      "sessions.rhythm.days",
      (days) => made(s.sessions, { of: s.poller({ every: 1, call }), away: 1, rhythm: { days } }),
      [0, 2],
      [-0.1, 2.1],
    ],
  ])("%s", (path, make, good, bad) => {
    for (const value of good)
      expect(
        mistakesOf(() => make(value)),
        String(value),
      ).toEqual([]);
    for (const value of bad)
      expect(
        mistakesOf(() => make(value)).map((one) => one.split(": ")[0]),
        String(value),
      ).toEqual([path]);
  });
});

test("names have 64 letters at most", () => {
  expect(mistakesOf(() => scenarioOf("name")("a".repeat(64)))).toEqual([]);
  expect(mistakesOf(() => scenarioOf("name")("a".repeat(65)))).toHaveLength(1);
});
