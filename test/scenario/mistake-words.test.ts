// Each mistake that a scenario can have beside ranges, in its words: the place, and what is allowed there; and what is
// just right at the same place.
import { describe, expect, test } from "vitest";
import * as s from "../../src/scenario/index.ts";
import { made, mistakesOf } from "./mistakes.ts";

const call = s.rest("/v2/user");
const query = s.graphql("{ a }", { cost: 3 });
const calls = [call];
const poll = s.poller({ every: "1s", call });
const hours = new Array(24).fill(1);
const with_ = (index: number, value: unknown, list: readonly unknown[] = hours) =>
  list.toSpliced(index, 1, value);

const scenario = (change: object) => () =>
  made(s.defineScenario, {
    name: "own",
    duration: "1s",
    populations: { all: { clients: 1, behaviour: poll } },
    ...change,
  });
const population = (change: object) => scenario({ populations: { all: { behaviour: poll, ...change } } });
const arrivals = (executor: string, change: object) =>
  population({ arrivals: { executor, preAllocatedVUs: 1, ...change } });
const sessions = (change: object) => () => made(s.sessions, { of: poll, away: "1s", ...change });
const woken = (change: object) => () =>
  made(s.sessions, { of: poll, wakes: { perDay: 3, within: 5, ...change }, calls: 1 });
const clocked = (change: object) => () =>
  made(s.sessions, { of: poll, wakes: { at: "0 9 * * *", ...change }, calls: 1 });
const rhythm = (change: object) => sessions({ rhythm: { hours, ...change } });
const think = (value: unknown) => () => made(s.worker, { calls, think: value });
const pace = { think: 5, next: [1] };
const paces = (change: object) => think({ paces: [pace], first: [1], ...change });

const slug = "letters, digits, dashes, underscores, at most 64";
const day = "a number from 0 to 2, or a list of numbers from 0 to 1000";
const factors = (count: number) => `${count} numbers from 0 to 1000, not all of them 0`;
const zone = "a distance from UTC, from -14:00 to +14:00, such as +02:00";
const starts = "a time since 1970 with its zone, such as 2026-01-01T00:00:00Z";

/** A mistake and its words; then what is right at the same place. */
type Case = readonly [words: string, wrong: readonly (() => unknown)[], right?: readonly (() => unknown)[]];

const cases: Readonly<Record<string, readonly Case[]>> = {
  "a scenario": [
    [
      `name: ${slug}`,
      ["", "a b", "x".repeat(65)].map((name) => scenario({ name })),
      ["x".repeat(64), "a-B_9"].map((name) => scenario({ name })),
    ],
    [
      `startAt: ${starts}`,
      ["2026-01-01", "1969-12-31T23:59:59Z", "2026-01-01T00:00:00", 5].map((startAt) =>
        scenario({ startAt }),
      ),
      ["1970-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00"].map((startAt) => scenario({ startAt })),
    ],
    [
      "populations: an object of populations by name, at least one",
      [{}, [], null, 5].map((populations) => scenario({ populations })),
    ],
    [
      "fitError.untold: a list of weekdays, reactions, attempts, caller, demand",
      [5, ["x"]].map((untold) => scenario({ fitError: { untold } })),
      [scenario({ fitError: { untold: ["attempts"] } })],
    ],
    [
      "fitError.calls: a number from -1 to 1",
      [-1.01, 1.01, "1"].map((calls) => scenario({ fitError: { calls } })),
      [-1, 1].map((calls) => scenario({ fitError: { calls } })),
    ],
    [
      'expect: an object of bounds by figure, such as {refusedShare: "<5%"}',
      [5, [], null].map((expect) => scenario({ expect })),
    ],
    [
      "network.roundTrip: nothing beside network.latency",
      [scenario({ network: { roundTrip: 5, latency: 5 } })],
    ],
    [
      "network.loss: a share of trips, from 0 to 0.99",
      [-0.01, 0.991, "1"].map((loss) => scenario({ network: { loss } })),
      [0, 0.99].map((loss) => scenario({ network: { loss } })),
    ],
    [
      'outages: a list such as [{ at: "1m", for: "30s", answer: 503 }]',
      [5, {}].map((outages) => scenario({ outages })),
    ],
    [
      "outages.0.share: a share of calls, above 0 and up to 1",
      [0, 1.01, "1"].map((share) => scenario({ outages: [{ at: 0, for: 1, answer: 503, share }] })),
      [0.01, 1].map((share) => scenario({ outages: [{ at: 0, for: 1, answer: 503, share }] })),
    ],
    [
      'outages.0.answer: 503 or "none"',
      [500, "503", undefined].map((answer) => scenario({ outages: [{ at: 0, for: 1, answer }] })),
    ],
  ],
  "a population": [
    [
      'populations.all.user: "each", "shared" or a number of users from 1',
      [0, 1.5, "all"].map((user) => population({ clients: 1, user })),
      [1, "each", "shared"].map((user) => population({ clients: 1, user })),
    ],
    [
      "populations.all.onRefused: what none, waitReset or exponential make, or a RefusalPolicy of your own",
      [5, {}, "none"].map((onRefused) => population({ clients: 1, onRefused })),
    ],
    ["populations.all.clients: nothing beside arrivals", [arrivalsWith({ clients: 1 })]],
    ["populations.all.startWithin: nothing beside arrivals", [arrivalsWith({ startWithin: 1 })]],
    ["populations.all.arrivals: at most 10000000 arrivals in all", [millions("11s")], [millions("9s")]],
    [
      "populations.all.arrivals.rates: 24 rates, one for each hour of the day (UTC)",
      [5, hours.slice(1), [...hours, 1]].map((rates) => arrivals("business-day", { rates })),
      [arrivals("business-day", { rates: hours })],
    ],
    [
      "populations.all.arrivals.stages: a list of {target, duration}, at least one",
      [5, []].map((stages) => arrivals("ramping-arrival-rate", { stages })),
    ],
  ],
  "a spread": [
    [
      "worker.think: a time, {least, most}, {median, p95} or {quantiles: [...]}",
      [{}, { times: 5 }].map(think),
    ],
    [
      "worker.think.p95: longer than worker.think.median",
      [
        { median: 5, p95: 5 },
        { median: 5, p95: 4 },
      ].map(think),
      [think({ median: 5, p95: 6 })],
    ],
    [
      "worker.think.quantiles: a list of 2 to 10001 times, ascending",
      [5, [1], new Array(10_002).fill(1)].map((quantiles) => think({ quantiles })),
      [[1, 1], new Array(10_001).fill(1)].map((quantiles) => think({ quantiles })),
    ],
    [
      "worker.think.quantiles.2: no less than the one before: they are in ascending order",
      [think({ quantiles: [1, 5, 4] })],
      [think({ quantiles: [1, 5, 5] })],
    ],
    [
      "worker.think.shares: 3 rising numbers from 0 to 1, one for each of quantiles",
      [5, [0, 1], [0, 1, 1], [0, 0, 1], [0.1, 0.5, 1], [0, 0.5, 0.9]].map((shares) =>
        think({ quantiles: [1, 2, 3], shares }),
      ),
      [think({ quantiles: [1, 2, 3], shares: [0, 0.01, 1] })],
    ],
  ],
  "a rhythm": [
    [
      `sessions.rhythm.hours: ${factors(24)}`,
      [
        5,
        hours.slice(1),
        [...hours, 1],
        with_(0, -1),
        with_(23, 1_001),
        with_(3, "1"),
        new Array(24).fill(0),
      ].map((hours) => rhythm({ hours })),
      [with_(0, 1_000), with_(3, 1, new Array(24).fill(0))].map((hours) => rhythm({ hours })),
    ],
    [`sessions.rhythm.weekend: ${factors(24)}`, [rhythm({ weekend: [1] })]],
    [
      `sessions.rhythm.weekdays: ${factors(7)}`,
      [rhythm({ weekdays: [1, 1, 1, 1, 1, 1] }), rhythm({ weekdays: hours })],
      [rhythm({ weekdays: [0, 0, 0, 1, 0, 0, 0] })],
    ],
    [
      `sessions.rhythm.days: ${day}`,
      [-0.1, 2.1, "1", [1_001], [-1], []].map((days) => rhythm({ days })),
      [0, 2, [1_000, 0]].map((days) => rhythm({ days })),
    ],
    [
      `sessions.rhythm.zone: ${zone}`,
      ["+14:01", "-14:01", "+15:00", "2", "+2:00", "+02:60", 5].map((zone) => rhythm({ zone })),
      ["+14:00", "-14:00", "+13:59"].map((zone) => rhythm({ zone })),
    ],
  ],
  sessions: [
    [
      "sessions.of: a behaviour without sessions of its own",
      [sessions({ of: s.sessions({ of: poll, away: "1s", calls: 1 }) })],
    ],
    ["sessions.away: nothing beside wakes", [sessions({ wakes: { perDay: 3 }, calls: 1 })]],
    ["sessions.away: nothing beside at", [sessions({ at: "0 9 * * *", calls: 1 })]],
    [
      'sessions.wakes.by: "user", or nothing',
      [5, "client"].map((by) => woken({ by })),
      [woken({ by: "user" })],
    ],
    ["sessions.wakes.perDay: nothing beside at", [clocked({ perDay: 3 })]],
    ["sessions.wakes.rhythm: nothing beside at", [clocked({ rhythm: { hours } })]],
    ["sessions.wakes.late: nothing without at", [woken({ late: 5 })], [clocked({ late: 5 })]],
  ],
  paces: [
    [
      "worker.think.paces: a list of 1 to 20 paces",
      [5, [], new Array(21).fill(pace)].map((list) => paces({ paces: list })),
    ],
    [
      "worker.think.first: 1 or 2 numbers of at least 0, of which one is above 0",
      [5, [], [0], [1, 1, 1], [-1], [1e9 + 1], ["1"]].map((first) => paces({ first })),
      [[1], [0, 1], [1e9]].map((first) => paces({ first })),
    ],
    [
      "worker.think.paces.0.next: 1 or 2 numbers of at least 0, of which one is above 0",
      [paces({ paces: [{ think: 5, next: [0, 0] }] })],
      [paces({ paces: [{ think: 5, next: [0, 1] }] })],
    ],
    ["worker.think.paces.0: an object of think, times, atOnce, next", [paces({ paces: [5] })]],
  ],
  behaviours: [
    [
      "worker.calls: a list of calls or of {call, weight}, at least one",
      [5, []].map((calls) => () => made(s.worker, { calls })),
    ],
    ["looker.calls.1.call: a REST call", [() => made(s.looker, { calls: [{ call }, { call: query }] })]],
    [
      "queue.jobs: a number of jobs, or queue.every",
      [() => made(s.queue, { call, workers: 1 })],
      [{ jobs: 1 }, { every: 1 }].map((one) => () => made(s.queue, { call, workers: 1, ...one })),
    ],
    [
      "aimd.most: no less than aimd.least",
      [() => made(s.aimd, { call, start: 5, least: 5, most: 4 })],
      [() => made(s.aimd, { call, start: 5, least: 5, most: 5 })],
    ],
    ["together: a list of behaviours, at least one", [5, []].map((list) => () => made(s.together, list))],
    ["together.inTurn: true or false", [() => made(s.together, [poll], { inTurn: 1 })]],
    [
      "together.1: a behaviour of one call at a time, to be done in turn",
      [() => made(s.together, [poll, s.burst({ call, size: 2 })], { inTurn: true })],
      [() => made(s.together, [poll, s.burst({ call, size: 2 })], { inTurn: false })],
    ],
  ],
  policies: [
    [
      "waitReset.most: no less than waitReset.least",
      [() => made(s.waitReset, { of: "both", least: 5, most: 4 })],
      [() => made(s.waitReset, { of: "both", least: 5, most: 5 })],
    ],
    ["waitReset.unanswered: true or false", [() => made(s.waitReset, { of: "both", unanswered: 1 })]],
  ],
  calls: [
    [
      "withHeaders.headers: an object of texts by header",
      [5, null, []].map((headers) => () => made(s.withHeaders, call, headers)),
    ],
    [
      "withHeaders.a b: a header's name, none that the call has anyway",
      [() => made(s.withHeaders, call, { "a b": "x" })],
    ],
    [
      "withHeaders.x: a line of ASCII",
      ["a\nb", "é", 5].map((x) => () => made(s.withHeaders, call, { x })),
      [() => made(s.withHeaders, call, { x: " ~" })],
    ],
  ],
  adjustments: [
    [
      "adjustments: an object of seed, durationMs, startAtMs, rules, policy, network",
      [5, null].map((value) => () => made(s.adjustScenario, scenario({})(), value)),
    ],
    [
      "populations.all.call.cost: 1 under rules; other costs go with --policy",
      [
        () =>
          made(
            s.adjustScenario,
            made(s.defineScenario, {
              name: "x",
              duration: "1s",
              populations: {
                all: { clients: 1, behaviour: s.poller({ every: "1s", call: s.rest("/", { cost: 2 }) }) },
              },
            }),
            { rules: {} },
          ),
      ],
    ],
  ],
};

/** A million arrivals a second. */
function millions(duration: string) {
  const arrivals = { executor: "constant-arrival-rate", preAllocatedVUs: 1, rate: 1_000_000 };
  return scenario({ duration, populations: { all: { behaviour: poll, arrivals } } });
}

function arrivalsWith(change: object) {
  return population({
    arrivals: { executor: "constant-arrival-rate", preAllocatedVUs: 1, rate: 1 },
    ...change,
  });
}

describe.each(Object.entries(cases))("%s", (_, all) => {
  for (const [words, wrong, right = []] of all)
    test(words, () => {
      expect(wrong.map((act) => mistakesOf(act))).toEqual(wrong.map(() => expect.arrayContaining([words])));
      expect(right.map((act) => mistakesOf(act))).toEqual(right.map(() => []));
    });
});
