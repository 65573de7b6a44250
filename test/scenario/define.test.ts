import { describe, expect, test } from "vitest";
import type { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import {
  adjustScenario,
  adviseScenario,
  burst,
  defineScenario,
  exponential,
  graphql,
  pager,
  pipelinesQuery,
  poller,
  rest,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { ScenarioInput } from "../../src/scenario/scenario.ts";
import { codedError } from "../support/coded-error.ts";

const behaviour = poller({ every: "5s", call: rest("/v2/user") });
const right: ScenarioInput = {
  name: "right",
  duration: "1m",
  populations: { agents: { clients: 2, behaviour } },
};

const paths = (error: SpillwayError): string[] => error.problems.map(({ path }) => path);
/** Values that JavaScript lets through, and TypeScript does not. */
const define = (input: unknown) => () => defineScenario(input as ScenarioInput);

test("what is left out is filled in", () => {
  expect(defineScenario(right)).toEqual({
    format: "spillway-scenario",
    name: "right",
    description: "",
    seed: 1,
    durationMs: 60_000,
    startAtMs: Date.UTC(2026, 0, 1),
    rules: null,
    populations: [
      {
        name: "agents",
        organization: null,
        user: "each",
        behaviour,
        onRefused: expect.objectContaining({ name: "none" }),
        clients: 2,
        arrivals: null,
        startWithinMs: 0,
      },
    ],
    network: {
      latencyMs: { least: 2, most: 8 },
      roundTripMs: null,
      executionMs: { least: 5, most: 20 },
      latenessMs: { least: 0, most: 0 },
      loss: 0,
      timeoutMs: 30_000,
    },
    service: null,
    outages: [],
    clocks: { apartMs: 0 },
    expect: [],
    fitError: null,
  });
});

test("a fit's error says what its recording does not tell, by known words", () => {
  const given = (untold: unknown) =>
    defineScenario({ ...right, fitError: { refused: 0.1, untold } as never });
  expect(given(["weekdays"]).fitError).toEqual({
    calls: 0,
    refused: 0.1,
    waitP95Ms: 0,
    untold: ["weekdays"],
  });
  expect(given([]).fitError).toEqual({ calls: 0, refused: 0.1, waitP95Ms: 0 });
  expect(defineScenario({ ...right, fitError: { waitP95Ms: null } }).fitError).toEqual({
    calls: 0,
    refused: 0,
    waitP95Ms: null,
  });
  for (const wrong of ["weekdays", ["mondays"], null]) expect(() => given(wrong)).toThrow("scenario");
});

test("durations become milliseconds, rules become complete, bounds become expectations", () => {
  const scenario = defineScenario({
    ...right,
    duration: "1m30s",
    startAt: "2026-03-01T12:00:30+01:00",
    rules: { user: { rest: { limit: 7 } } },
    populations: { agents: { clients: 1, behaviour, startWithin: "250ms" } },
    network: { latency: "0.02s", execution: { least: 0, most: "1s" } },
    expect: { "agents.refusedShare": "<5%" },
  });
  expect(scenario).toMatchObject({
    durationMs: 90_000,
    startAtMs: Date.UTC(2026, 2, 1, 11, 0, 30),
    rules: parseRules({ user: { rest: { limit: 7 } } }),
    populations: [{ startWithinMs: 250 }],
    network: { latencyMs: { least: 20, most: 20 }, executionMs: { least: 0, most: 1_000 } },
    expect: [{ population: "agents", name: "refusedShare", operator: "<", value: 0.05 }],
  });
});

test("a scenario may start with 1970", () => {
  expect(defineScenario({ ...right, startAt: "1970-01-01T00:00:00Z" }).startAtMs).toBe(0);
});

test("what stands around the limiter becomes milliseconds, too", () => {
  const scenario = defineScenario({
    ...right,
    network: { roundTrip: { quantiles: ["1ms", 4, "0.2s"] }, loss: 0.01, timeout: "10s" },
    service: { servers: 4, time: "20ms", queue: 100 },
    outages: [{ at: "30s", for: "5s", answer: "none" }],
    clocks: { apart: "250ms" },
  });
  expect(scenario).toMatchObject({
    network: { roundTripMs: { shape: "quantiles", quantilesMs: [1, 4, 200] }, loss: 0.01, timeoutMs: 10_000 },
    service: { servers: 4, timeMs: { least: 20, most: 20 }, queue: 100 },
    outages: [{ atMs: 30_000, forMs: 5_000, answer: "none", share: 1 }],
    clocks: { apartMs: 250 },
  });
});

test("arrivals are an open population, one user where nothing else is said", () => {
  const arrivals = { executor: "constant-arrival-rate", rate: 3, preAllocatedVUs: 5 } as const;
  const { populations } = defineScenario({ ...right, populations: { visitors: { arrivals, behaviour } } });
  expect(populations).toMatchObject([
    {
      clients: null,
      user: "shared",
      arrivals: { rate: 3, timeUnitMs: 1_000, preAllocatedVUs: 5, maxVUs: 5 },
    },
  ]);
});

describe("each mistake is told by its path", () => {
  const agents = right.populations["agents"];
  const population = (change: object) => ({ ...right, populations: { agents: { ...agents, ...change } } });
  const arrivals = { executor: "constant-arrival-rate", rate: 1_000_000, preAllocatedVUs: 1 };

  test.each([
    ["nothing at all", undefined, "scenario"],
    ["a name with a slash", { ...right, name: "a/b" }, "name"],
    ["a name that is too long", { ...right, name: "a".repeat(65) }, "name"],
    ["an unknown member", { ...right, populatons: {} }, "populatons"],
    ["seed -1", { ...right, seed: -1 }, "seed"],
    ["seed 2^53", { ...right, seed: 2 ** 53 }, "seed"],
    ["no duration", { ...right, duration: undefined }, "duration"],
    ["duration 0", { ...right, duration: 0 }, "duration"],
    ["a duration without a unit", { ...right, duration: "90" }, "duration"],
    ["a duration of parts of a millisecond", { ...right, duration: "0.5ms" }, "duration"],
    ["a duration of two years", { ...right, duration: "17520h" }, "duration"],
    ["a start without a zone", { ...right, startAt: "2026-01-01T00:00:00" }, "startAt"],
    ["a start before 1970", { ...right, startAt: "1969-12-31T23:59:59Z" }, "startAt"],
    ["a start on a day that there is not", { ...right, startAt: "2026-02-30T00:00:00+01:00" }, "startAt"],
    ["a start that is no date", { ...right, startAt: "2026-13-01T00:00:00Z" }, "startAt"],
    ["rules that are wrong", { ...right, rules: { user: { rest: { limit: 0 } } } }, "rules.user.rest.limit"],
    ["rules that are none", { ...right, rules: 5 }, "rules"],
    ["no populations", { ...right, populations: {} }, "populations"],
    ["a population's name with a slash", { ...right, populations: { "a/b": agents } }, "populations.a/b"],
    ["0 clients", population({ clients: 0 }), "populations.agents.clients"],
    ["-1 clients", population({ clients: -1 }), "populations.agents.clients"],
    ["NaN clients", population({ clients: Number.NaN }), "populations.agents.clients"],
    ["1.5 clients", population({ clients: 1.5 }), "populations.agents.clients"],
    ["no clients", population({ clients: undefined }), "populations.agents.clients"],
    ["clients and arrivals", population({ arrivals }), "populations.agents.clients"],
    ["far too many arrivals", population({ clients: undefined, arrivals }), "populations.agents.arrivals"],
    [
      "an organization that is no slug",
      population({ organization: "../x" }),
      "populations.agents.organization",
    ],
    ["0 users", population({ user: 0 }), "populations.agents.user"],
    ["a user that is a word", population({ user: "me" }), "populations.agents.user"],
    ["no behaviour", population({ behaviour: undefined }), "populations.agents.behaviour"],
    ["a behaviour that is a function", population({ behaviour: poller }), "populations.agents.behaviour"],
    ["a policy that is none", population({ onRefused: "retry" }), "populations.agents.onRefused"],
    ["a negative start", population({ startWithin: -1 }), "populations.agents.startWithin"],
    ["no latency at all", { ...right, network: { latency: 0 } }, "network.latency"],
    [
      "a span that ends early",
      { ...right, network: { latency: { least: 9, most: 3 } } },
      "network.latency.most",
    ],
    ["a loss of everything", { ...right, network: { loss: 1 } }, "network.loss"],
    ["a negative loss", { ...right, network: { loss: -0.1 } }, "network.loss"],
    ["a loss of NaN", { ...right, network: { loss: Number.NaN } }, "network.loss"],
    ["a time-out of nothing", { ...right, network: { timeout: 0 } }, "network.timeout"],
    ["a negative latency", { ...right, network: { latency: -5 } }, "network.latency"],
    ["a lateness that is early", { ...right, network: { lateness: -1 } }, "network.lateness"],
    ["a trip of two days", { ...right, network: { roundTrip: "48h" } }, "network.roundTrip"],
    ["two kinds of trips", { ...right, network: { latency: 5, roundTrip: 9 } }, "network.roundTrip"],
    ["a service without servers", { ...right, service: { servers: 0, time: 5 } }, "service.servers"],
    ["a service without a time", { ...right, service: { servers: 1 } }, "service.time"],
    ["a queue of minus one", { ...right, service: { servers: 1, time: 5, queue: -1 } }, "service.queue"],
    ["outages that are one", { ...right, outages: { at: 0, for: 5, answer: 503 } }, "outages"],
    ["an outage at no time", { ...right, outages: [{ for: 5, answer: 503 }] }, "outages.0.at"],
    [
      "an outage that ends before it begins",
      { ...right, outages: [{ at: 0, for: -5, answer: 503 }] },
      "outages.0.for",
    ],
    [
      "an outage that answers 500",
      { ...right, outages: [{ at: 0, for: 5, answer: 500 }] },
      "outages.0.answer",
    ],
    [
      "an outage of no call",
      { ...right, outages: [{ at: 0, for: 5, answer: 503, share: 0 }] },
      "outages.0.share",
    ],
    ["clocks an hour apart", { ...right, clocks: { apart: "1h" } }, "clocks.apart"],
    ["clocks that are none", { ...right, clocks: "1s" }, "clocks"],
    ["expectations that are a list", { ...right, expect: [] }, "expect"],
    ["an unknown figure", { ...right, expect: { refusedShar: "<5%" } }, 'expect["refusedShar"]'],
    ["an unknown population", { ...right, expect: { "agent.refused": "==0" } }, 'expect["agent.refused"]'],
    ["a bound without a sign", { ...right, expect: { refused: "5" } }, 'expect["refused"]'],
  ])("%s", (_, input, path) => {
    const error = codedError(define(input));
    expect(error.code).toBe("SCENARIO_INVALID");
    expect(paths(error)).toContain(path);
  });

  test("all of them at once, each with what was got and what is allowed", () => {
    const error = codedError(
      define({ ...right, seed: 1.5, populations: { agents: { ...agents, clients: 0, users: 3 } } }),
    );
    expect(error.problems).toEqual([
      { path: "seed", got: "1.5", allowed: "a whole number from 0 to 9007199254740991" },
      { path: "populations.agents.users", got: '"users"', allowed: '"user", if that was meant' },
      { path: "populations.agents.clients", got: "0", allowed: "a whole number from 1 to 1000000" },
    ]);
  });
});

describe("behaviours, policies and calls say at once what is wrong with them", () => {
  const call = rest("/v2/user");
  const wrong = (value: unknown) => value as never;

  test.each([
    ["poller.every", () => poller({ every: 0, call })],
    ["poller.call", () => poller({ every: 1, call: wrong("/v2/user") })],
    ["poller.evry", () => poller(wrong({ evry: "1s", call }))],
    ["burst.size", () => burst({ call, size: 0 })],
    ["burst.every", () => burst({ call, size: 1, every: "soon" })],
    ["pager.pages", () => pager({ call, pages: 0 })],
    ["pager.perPage", () => pager({ call, pages: 1, perPage: 101 })],
    ["pager.parallel", () => pager({ call, pages: 1, parallel: 0 })],
    ["worker.calls", () => worker({ calls: [] })],
    ["worker.calls.0.weight", () => worker({ calls: [{ call, weight: 0 }] })],
    ["worker.think.most", () => worker({ calls: [{ call }], think: { least: 5, most: 4 } })],
    ["worker.jobs", () => worker({ calls: [{ call }], jobs: 0.5 })],
    ["waitReset.of", () => waitReset({ of: wrong("user") })],
    ["waitReset.attempts", () => waitReset({ of: "both", attempts: 0 })],
    ["exponential.factor", () => exponential({ first: 1, factor: 0.5, most: 9 })],
    ["exponential.first", () => exponential({ first: 0, most: 9 })],
    ["exponential.jitter", () => exponential({ first: 1, most: 9, jitter: wrong("some") })],
    ["rest.path", () => rest("v2/user")],
    ["rest.name", () => rest("/v2/user", "the user")],
    ["graphql.name", () => graphql("{ user { id } }", { cost: 3, name: "the user" })],
    ["graphql.actual", () => graphql("{ user { id } }", { cost: 3, actual: 4 })],
    ["graphql.cost", () => graphql("{ user { id } }", { cost: 1.5 })],
    ["pipelinesQuery.first", () => pipelinesQuery(501)],
  ])("%s", (path, act) => {
    const error = codedError(act);
    expect(error.code).toBe("SCENARIO_INVALID");
    expect(paths(error)).toContain(path);
  });
});

describe("adjustScenario", () => {
  const scenario = defineScenario(right);

  test("changes what is given and nothing else", () => {
    const rules = parseRules({ organization: { rest: { limit: 9 } } });
    const changed = adjustScenario(scenario, { durationMs: 5_000, seed: undefined, rules });
    expect(changed).toEqual({ ...scenario, durationMs: 5_000, rules });
  });

  test.each([["seed"], ["durationMs"], ["startAtMs"]])("refuses a %s that is no whole number", (field) => {
    expect(() => adjustScenario(scenario, { [field]: 0.5 })).toThrow(
      `${field}: got 0.5, allowed: a whole number`,
    );
  });
});

describe("adviseScenario: calls that can never be admitted (SPEC.md §2.7)", () => {
  const advice = (call: ReturnType<typeof rest>, rules: object) => {
    const agents = { clients: 1, behaviour: poller({ every: "5s", call }) };
    return adviseScenario(defineScenario({ ...right, populations: { agents } }), parseRules(rules));
  };

  const unenforced = (userEnforced: string) => ({
    organization: { graphql: { enforced: false } },
    user: { graphql: { limit: 499 } },
    semantics: { userEnforced },
  });

  test.each([
    ["above a user's limit", pipelinesQuery(500), { user: { graphql: { limit: 500 } } }, 1],
    ["above the organization's", pipelinesQuery(500), { organization: { graphql: { limit: 500 } } }, 1],
    ["just the limit", pipelinesQuery(497), { user: { graphql: { limit: 500 } } }, 0],
    ["one above", pipelinesQuery(498), { user: { graphql: { limit: 500 } } }, 1],
    ["just the organization's", pipelinesQuery(497), { organization: { graphql: { limit: 500 } } }, 0],
    ["a user's, enforced always", pipelinesQuery(500), unenforced("always"), 1],
    ["a user's, enforced with the organization's", pipelinesQuery(500), unenforced("with-organization"), 0],
    ["more than one query may ask for", graphql("{ a { b } }", { cost: 50_001 }), {}, 1],
    ["not enforced", pipelinesQuery(500), { organization: { graphql: { limit: 1, enforced: false } } }, 0],
    [
      "charged afterwards",
      pipelinesQuery(500),
      { ...presets.documented, user: { graphql: { limit: 9 } } },
      0,
    ],
    ["the free status call", status(), { organization: { rest: { limit: 1 } } }, 0],
  ])("%s", (_, call, rules, sentences) => {
    expect(advice(call, rules)).toHaveLength(sentences);
  });
});

describe("adviseScenario: what never happens", () => {
  const advised = (change: Partial<ScenarioInput>) =>
    adviseScenario(defineScenario({ ...right, ...change }), parseRules({}));

  test("a population of whom nobody comes in this run", () => {
    const arrivals = { executor: "cron", schedule: "0 3 * * *", clients: 9, preAllocatedVUs: 1 } as const;
    const populations = { nightly: { arrivals, behaviour } };
    expect(advised({ populations })).toEqual(["nightly: nobody comes in this run"]);
    expect(advised({ populations, startAt: "2026-01-01T02:59:30Z" })).toEqual([]);
  });

  test("an outage after the run's end", () => {
    const outages = [
      { at: "59s", for: "1s", answer: 503 } as const,
      { at: "1m", for: "1s", answer: 503 } as const,
    ];
    expect(advised({ outages })).toEqual([
      "outages.1 begins 60000 ms into a run of 60000 ms: it never happens",
    ]);
    expect(advised({ outages: [...outages, ...outages] })).toEqual([
      "2 outages begin after the run's end: they never happen",
    ]);
  });
});
