// A model's scenario, word by word: each kind of behaviour, arrivals and reaction, with and without what may be left out.
import { describe, expect, test } from "vitest";
import type { FittedBehaviour, FittedCall, FittedModel, FittedPopulation } from "../../sim/fit/model.ts";
import { fittedScenario, fittedSource } from "../../sim/fit/source.ts";
import type { FittedSpread } from "../../sim/fit/spread.ts";
import { parseRules } from "../../src/rules/parse.ts";

const restCall: FittedCall = { operation: "rest", free: false, cost: 1, actual: 1, weight: 3 };
const query: FittedCall = { operation: "graphql", free: false, cost: 700, actual: 400, weight: 1 };
const constant = (ms: number): FittedSpread => ({ kind: "constant", ms });
const rhythm = {
  hours: Array.from({ length: 24 }, (_, hour) => (hour < 8 ? 0 : 1)),
  weekend: null,
  weekdays: null,
  days: [],
};

const population = (name: string, change: Partial<FittedPopulation>): FittedPopulation => ({
  ...{
    name,
    organization: "acme",
    user: "each",
    callers: 1,
    users: ["ann"],
    calls: 1,
    refused: 0,
    unexplained: 0,
  },
  behaviour: { kind: "poller", everyMs: 5_000 },
  mix: [restCall],
  arrivals: { kind: "closed", clients: 2, startWithinMs: 0 },
  onRefused: { kind: "none" },
  ...{ retriesExplained: null, attempts: null, failedWaitMs: null },
  reasons: {
    population: "Two callers",
    behaviour: "polls",
    arrivals: "all at once",
    onRefused: "none is known",
  },
  ...change,
});

const model = (change: Partial<FittedModel>): FittedModel => ({
  name: "monday",
  ...{
    startAtMs: Date.UTC(2026, 0, 5),
    durationMs: 600_000,
    settledAtMs: 0,
    rules: parseRules({}),
    rulesFrom: "defaults",
  },
  network: { roundTrip: null, execution: null, lateness: null, reason: "Nothing says how long calls took" },
  ...{
    outages: [],
    populations: [population("polls", {})],
    calls: 1_000,
    callers: 2,
    unexplained: 0,
    uncounted: 0,
  },
  ...{ doubts: [], untold: [] },
  ...change,
});

/** Text of the only population, of which each line break is a space. */
function populationText(change: Partial<FittedPopulation>): string {
  const one = model({ populations: [population("polls", change)] });
  // It is a scenario that can be run, too.
  expect(fittedScenario(one).populations).toHaveLength(1);
  const [, text = ""] = /\n {4}polls: \{\n(.*?)\n {4}\},\n/s.exec(fittedSource(one)) ?? [];
  return text.trim().replace(/\s+/g, " ");
}
const restText = 'rest("/v2/organizations/:org/pipelines")';
const pollsText = `// Polls. behaviour: poller({ every: "5s", call: ${restText} }),`;

const headText = (explained: string, more = "", doubts = ""): string =>
  `// Fitted by spillway from 1,000 calls of 2 callers, from 2026-01-05T00:00:00Z on, 10m long. The populations below make ${explained} % of these calls.${more} Of each call its kind and its cost are kept, not the request: the calls are stand-ins.${doubts}`;
/** The source with its head in one line. */
const sourceOf = (...args: Parameters<typeof fittedSource>): string =>
  fittedSource(...args).replace(/^(\/\/ .*\n)+/, (text) => `${text.trim().replaceAll("\n// ", " ")}\n`);

const limitsText = `organization: {
      rest: { limit: 200, windowSeconds: 60, enforced: true },
      graphql: { limit: 20000, windowSeconds: 300, enforced: true },
    },
    user: { rest: { limit: 50, windowSeconds: 60 }, graphql: { limit: 5000, windowSeconds: 300 } },`;
const fileText = (head: string, rules: string, more = ""): string => `${head}
import { defineScenario, none, poller, rest } from "spillway/scenario";

export default defineScenario({
  name: "monday",
  description: "Fitted from 1,000 recorded calls",
  seed: 1,
  duration: "10m",
  startAt: "2026-01-05T00:00:00Z",
  ${rules}
  },
${more}  populations: {
    // Two callers.
    polls: {
      clients: 2,
      // Polls.
      behaviour: poller({ every: "5s", call: ${restText} }),
      // None is known.
      onRefused: none(),
    },
  },
});
`;
const defaultsText = `// Nothing says what the rules were: these are the defaults.
  rules: {
    ${limitsText}`;
const error = { calls: 0.1, refused: 0, waitP95Ms: -0.2 };

describe("a model's file", () => {
  test("leaves out what it knows nothing of", () => {
    expect(sourceOf(model({}))).toBe(fileText(headText("100"), defaultsText));
  });

  test("tells what was left out, what nobody knows, and all that surrounds the limiter", () => {
    const whole = model({
      ...{
        rulesFrom: "given",
        uncounted: 1,
        unexplained: 1,
        doubts: ["One doubt.", "Two."],
        untold: ["attempts"],
      },
      network: {
        roundTrip: constant(20),
        execution: null,
        lateness: constant(3),
        reason: "Half of each trip",
      },
      outages: [
        { atMs: 60_000, forMs: 30_000, answer: 503, share: 1 },
        { atMs: 120_000, forMs: 30_000, answer: "none", share: 0.5 },
      ],
      rules: parseRules({
        semantics: { refused: "counted", reset: { rest: "floor" } },
        organizations: { globex: { rest: { limit: 5 } } },
      }),
    });
    const left = " 1 call that no quota counts were left out.";
    const doubts = " What the recording does not tell: One doubt. Two.";
    const rules = `// As they were given.
  rules: {
    ${limitsText}
    semantics: { refused: "counted", reset: { rest: "floor", graphql: "ceil" } },
    organizations: { globex: { rest: { limit: 5 } } },`;
    const around = `  // Half of each trip.
  network: { roundTrip: "20ms", lateness: "3ms" },
  // As they were recorded, from the start of a run: take them out to ask for days without.
  outages: [
    { at: "1m", for: "30s", answer: 503 },
    { at: "2m", for: "30s", answer: "none", share: 0.5 },
  ],
  // Recorded less simulated, as shares of the greater; and what the recording does not tell.
  fitError: { calls: 0.1, refused: 0, waitP95Ms: -0.2, untold: ["attempts"] },
`;
    expect(sourceOf(whole, error)).toBe(fileText(headText("99.9", left, doubts), rules, around));
  });

  test("has an error without questions, questions without an error, and executions without trips", () => {
    const sentence =
      "  // Recorded less simulated, as shares of the greater; and what the recording does not tell.\n";
    expect(sourceOf(model({}), error)).toBe(
      fileText(
        headText("100"),
        defaultsText,
        `${sentence}  fitError: { calls: 0.1, refused: 0, waitP95Ms: -0.2 },\n`,
      ),
    );
    expect(sourceOf(model({ untold: ["attempts"] }))).toBe(
      fileText(headText("100"), defaultsText, `${sentence}  fitError: { untold: ["attempts"] },\n`),
    );
    const network = { roundTrip: null, execution: constant(9), lateness: null, reason: "Of queries" };
    expect(sourceOf(model({ network }))).toBe(
      fileText(headText("100"), defaultsText, '  // Of queries.\n  network: { execution: "9ms" },\n'),
    );
  });
});

const none = "// None is known. onRefused: none(),";
const hoursText = `hours: [${rhythm.hours.join(", ")}]`;

test.each<[Partial<FittedPopulation>, string]>([
  [{}, `clients: 2, ${pollsText} ${none}`],
  [
    {
      arrivals: { kind: "closed", clients: 2, startWithinMs: 5_000 },
      ...{ organization: "globex", user: 2, attempts: 4, failedWaitMs: 2_000 },
      onRefused: { kind: "waitReset", of: "both", from: "answer", jitter: { least: 0, most: 0 } },
    },
    `clients: 2, // All at once. startWithin: "5s", organization: "globex", user: 2, ${pollsText} // None is known. onRefused: waitReset({ of: "both", fallback: "2s", attempts: 4, unanswered: true }),`,
  ],
  [{ user: "shared" }, `clients: 2, user: "shared", ${pollsText} ${none}`],
  [
    { arrivals: { kind: "steady", perHour: 12, even: true }, user: "shared" },
    `// All at once. arrivals: { executor: "constant-arrival-rate", rate: 288, timeUnit: "24h", preAllocatedVUs: 10 }, ${pollsText} ${none}`,
  ],
  [
    { arrivals: { kind: "steady", perHour: 12, even: false }, user: "each" },
    `// All at once. arrivals: { executor: "poisson-arrival-rate", rate: 288, timeUnit: "24h", preAllocatedVUs: 10 }, user: "each", ${pollsText} ${none}`,
  ],
  [
    { arrivals: { kind: "hours", perHour: rhythm.hours }, user: 3 },
    `// All at once. arrivals: { executor: "business-day", rates: [${rhythm.hours.map((rate) => 24 * rate).join(", ")}], timeUnit: "24h", preAllocatedVUs: 10, }, user: 3, ${pollsText} ${none}`,
  ],
])("a population of %j is written", (change, text) => {
  expect(populationText(change)).toBe(text);
});

const worker = { kind: "worker", think: constant(1_000), atOnce: null, jobs: null } as const;
const workerText = `worker({ calls: [{ call: ${restText} }], think: "1s" })`;
const queryText =
  'graphql(\'{ organization(slug: ":org") { slug } }\', { cost: 700, actual: 400, name: "points-700", })';
const sessions = { kind: "sessions", of: worker, away: constant(60_000), rhythm: null } as const;
const timetable = { kind: "timetable", of: worker, at: "0 * * * *" } as const;
const woken = { kind: "woken", of: worker, within: constant(4_000) } as const;
const parts = [
  { behaviour: worker, mix: [restCall] },
  { behaviour: { kind: "poller", everyMs: 9_000 }, mix: [query] },
] as const;

test.each<[FittedBehaviour, string]>([
  [
    { ...worker, adapt: { decrease: 0.6, increase: 0.05, least: 0.1, waits: true } },
    `worker({ calls: [{ call: ${restText} }], think: "1s", adapt: { decrease: 0.6, increase: 0.05, least: 0.1 }, })`,
  ],
  [
    { ...worker, atOnce: constant(3), jobs: 5 },
    `worker({ calls: [{ call: ${restText} }], think: "1s", atOnce: 3, jobs: 5, })`,
  ],
  [{ kind: "burst", size: 4, everyMs: null }, `burst({ call: ${restText}, size: 4 })`],
  [{ kind: "burst", size: 4, everyMs: 60_000 }, `burst({ call: ${restText}, size: 4, every: "1m" })`],
  [
    { kind: "queue", jobs: 9, workers: 2, everyMs: null },
    `queue({ call: ${restText}, jobs: 9, workers: 2 })`,
  ],
  [
    { kind: "queue", jobs: 9, workers: 2, everyMs: 90_000 },
    `queue({ call: ${restText}, every: "90s", jobs: 9, workers: 2 })`,
  ],
  [
    { kind: "pager", pages: 8, last: null, parallel: 1, everyMs: null },
    `pager({ call: ${restText}, pages: 8 })`,
  ],
  [
    { kind: "pager", pages: 8, last: 6, parallel: 3, everyMs: 5_000 },
    `pager({ call: ${restText}, pages: 8, parallel: 3, every: "5s", entries: 180, })`,
  ],
  [{ ...sessions, calls: null, length: null }, `sessions({ of: ${workerText}, away: "1m", })`],
  [
    { ...sessions, rhythm, calls: constant(7), length: constant(90_000) },
    `sessions({ of: ${workerText}, calls: 7, length: "90s", away: "1m", rhythm: { ${hoursText} }, })`,
  ],
  [
    { ...timetable, withinMs: 0, calls: null, length: null },
    `sessions({ of: ${workerText}, at: "0 * * * *", })`,
  ],
  [
    { ...timetable, withinMs: 9_000, calls: constant(7), length: constant(90_000) },
    `sessions({ of: ${workerText}, calls: 7, length: "90s", at: "0 * * * *", within: "9s", })`,
  ],
  [
    {
      ...{ ...woken, events: { kind: "clock", at: "0 9 * * *", lateMs: 0 }, calls: null, lasts: null },
      ...{ share: 1, group: 0, byUser: false },
    },
    `sessions({ of: ${workerText}, wakes: { at: "0 9 * * *", within: "4s" }, })`,
  ],
  [
    {
      ...{ ...woken, events: { kind: "clock", at: "0 9 * * *", lateMs: 2_000 }, calls: constant(7) },
      ...{ lasts: constant(60_000), share: 0.5, group: 2, byUser: true },
    },
    `sessions({ of: ${workerText}, calls: 7, wakes: { at: "0 9 * * *", late: "2s", within: "4s", lasts: "1m", share: 0.5, group: 2, by: "user" }, })`,
  ],
  [
    {
      ...{ ...woken, events: { kind: "chance", perDay: 3, rhythm }, calls: null, lasts: null },
      ...{ share: 1, group: 0, byUser: false },
    },
    `sessions({ of: ${workerText}, wakes: { perDay: 3, rhythm: { ${hoursText} }, within: "4s", }, })`,
  ],
  [
    { kind: "together", inTurn: true, parts },
    `together( [ ${workerText}, poller({ every: "9s", call: ${queryText}, }), ], { inTurn: true }, )`,
  ],
  [
    { kind: "together", inTurn: false, parts },
    `together([ ${workerText}, poller({ every: "9s", call: ${queryText}, }), ])`,
  ],
])("a behaviour %j is written", (behaviour, text) => {
  expect(populationText({ behaviour })).toBe(`clients: 2, // Polls. behaviour: ${text}, ${none}`);
});

test("calls of several kinds have weights", () => {
  const mix = [restCall, query, { ...restCall, free: true, weight: 2 }];
  expect(populationText({ behaviour: worker, mix })).toBe(
    `clients: 2, // Polls. behaviour: worker({ calls: [ { call: ${restText}, weight: 3 }, { call: ${queryText}, weight: 1, }, { call: status(), weight: 2 }, ], think: "1s", }), ${none}`,
  );
});
