// Figures by numbers equal a summary of the same run's trace, to the last digit.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measure } from "../../sim/measure.ts";
import { type SimulateOptions, simulate } from "../../sim/simulate.ts";
import { faults } from "../../src/faults/catalogue.ts";
import type { ChosenFault } from "../../src/faults/choice.ts";
import { engineFactory } from "../../src/laws/engine-factory.ts";
import { parseRules } from "../../src/rules/parse.ts";
import {
  burst,
  defineScenario,
  exponential,
  none,
  pager,
  pipelinesQuery,
  poller,
  rest,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { PopulationInput, Scenario, ScenarioInput } from "../../src/scenario/scenario.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { crowd, crowdRules } from "../faults/crowd.ts";
import { tinyFactory } from "../laws/tiny-limiter.ts";
import { property } from "../support/property.ts";
import { semantics } from "../support/semantics.ts";

function summarized(scenario: Scenario, options: SimulateOptions) {
  const { header, calls } = simulate(scenario, options);
  const { figures, populations, endedAt, records } = summarize(header, calls);
  return { figures, populations, endedAt, records };
}

const user = rest("/v2/user");
/** More points than any query may ask for: answered, and counted by no quota. */
const tooMany = { ...pipelinesQuery(100), cost: 60_000, actual: 60_000 };
const workers: PopulationInput = {
  clients: 7,
  user: 3,
  startWithin: "5s",
  behaviour: worker({
    calls: [{ call: user }, { call: pipelinesQuery(30) }, { call: status() }],
    think: { least: 0, most: "1s" },
  }),
  onRefused: waitReset({ of: "both", jitter: { least: 0, most: "2s" } }),
};
const kinds: readonly PopulationInput[] = [
  workers,
  {
    clients: 2,
    organization: "globex",
    behaviour: pager({ call: user, pages: 8, parallel: 4, every: "3s" }),
    onRefused: exponential({ first: "200ms", most: "5s", jitter: "full" }),
  },
  { clients: 3, user: "shared", behaviour: burst({ call: user, size: 9, every: "7s" }), onRefused: none() },
  { clients: 3, behaviour: burst({ call: pipelinesQuery(60), size: 4, every: "4s" }) },
  { clients: 2, organization: "globex", behaviour: poller({ call: status(), every: "900ms" }) },
  { clients: 1, behaviour: poller({ call: tooMany, every: "5s" }) },
  {
    arrivals: { executor: "constant-arrival-rate", rate: 3, preAllocatedVUs: 1 },
    user: "shared",
    behaviour: burst({ call: user, size: 2 }),
    onRefused: waitReset({ of: "organization" }),
  },
];

const windows = fc.record({
  limit: fc.integer({ min: 1, max: 300 }),
  windowSeconds: fc.constantFrom(1, 2, 5, 7, 30),
});
const owner = fc.record({ rest: windows, graphql: windows });
/** Trips that take longer than a window, too: readings of neighbouring windows overlap then. */
const span = fc
  .tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 3_000 }))
  .map(([one, other]) => ({
    least: Math.min(one, other),
    most: Math.max(one, other),
  }));

/** Surroundings of the limiter. */
const surroundings: Partial<ScenarioInput>[] = [
  { service: { servers: 2, time: { least: 50, most: 400 }, queue: 5 } },
  {
    outages: [
      { at: "5s", for: "4s", answer: 503 },
      { at: "12s", for: "3s", answer: "none" },
    ],
  },
  { clocks: { apart: "2s" } },
];

const world = fc
  .record({
    populations: fc.subarray([...kinds.entries()], { minLength: 1 }),
    rules: fc.record({ organization: owner, user: owner, semantics }),
    network: fc.record({
      latency: span,
      execution: span,
      loss: fc.constantFrom(0, 0, 0.1),
      timeout: fc.constantFrom("1s", "4s", "30s"),
    }),
    around: fc.subarray(surroundings),
    seed: fc.nat(),
    duration: fc.constantFrom("1s", "20s", "150s"),
  })
  .map(({ populations, around, ...others }) =>
    defineScenario({
      name: "measured",
      ...Object.assign({}, ...around),
      ...others,
      populations: Object.fromEntries(populations.map(([place, kind]) => [`kind-${place}`, kind])),
    }),
  );

describe("a measurement is what summarize finds in the trace", () => {
  property([world], { numRuns: 30 })("of worlds drawn at random", (scenario) => {
    expect(measure(scenario)).toEqual(summarized(scenario, {}));
  });

  test.each(faults.map((fault) => [fault.name, fault] as const))("of the fault %s", (_, fault) => {
    const switched = Object.entries(fault.semantics ?? {}).map(([name, values]) => [name, values?.[0]]);
    const rules = parseRules({ ...crowdRules, semantics: Object.fromEntries(switched) });
    const chosen: ChosenFault = { fault, rate: fault.rate?.default ?? 1 };
    const options = { rules, fault: chosen, seed: 5, durationMs: 14_000 };
    expect(measure(crowd, options)).toEqual(summarized(crowd, options));
  });

  test.each([engineFactory, tinyFactory("tiny")])("of somebody else's limiter: $name", (limiter) => {
    const options = { limiter, rules: parseRules(crowdRules), durationMs: 60_000 };
    expect(measure(crowd, options)).toEqual(summarized(crowd, options));
  });

  test("of a run that is stopped, under other conditions than the scenario's", () => {
    const stop = { aborted: false };
    const options = {
      seed: 9,
      startAtMs: Date.UTC(2027, 3, 5, 6, 7, 8, 9),
      durationMs: 40_000,
      signal: stop,
    };
    const scenario = defineScenario({ name: "stopped", duration: "1m", populations: { one: workers } });
    expect(measure(scenario, options)).toEqual(summarized(scenario, options));
    stop.aborted = true;
    expect(measure(scenario, options)).toMatchObject({
      records: 0,
      populations: [],
      endedAt: options.startAtMs,
    });
  });
});
