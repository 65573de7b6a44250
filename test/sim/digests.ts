// The bytes that simulations come to, as digests, world by world: what must be the same on every Node, in every thread.
import { createHash } from "node:crypto";
import ciFleet from "../../scenarios/ci-fleet.ts";
import herd from "../../scenarios/herd.ts";
import loneClient from "../../scenarios/lone-client.ts";
import steady from "../../scenarios/steady.ts";
import { measure } from "../../sim/measure.ts";
import { type SimulateOptions, simulate } from "../../sim/simulate.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import {
  aimd,
  burst,
  defineScenario,
  exponential,
  fixed,
  paced,
  pipelinesQuery,
  rest,
  type Scenario,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";
import { crowd, crowdRules } from "../faults/crowd.ts";

const call = rest("/v2/user");

/** Arrivals an hour, by the hour of the day. */
const hours = Array.from({ length: 24 }, (_, hour) => 100 * (1 + (hour % 12)));

/** Whatever draws or rounds: curves, losses, servers, clocks, arrivals. */
const weather = defineScenario({
  name: "weather",
  duration: "4m",
  rules: {
    organization: { rest: { limit: 90, windowSeconds: 20 } },
    user: { rest: { limit: 30, windowSeconds: 20 } },
  },
  network: {
    latency: { median: "40ms", p95: "300ms" },
    execution: { quantiles: ["5ms", "20ms", "600ms"] },
    loss: 0.02,
    timeout: "3s",
  },
  service: { servers: 3, time: { median: "60ms", p95: "250ms" }, queue: 20 },
  outages: [{ at: "50s", for: "5s", answer: 503 }],
  clocks: { apart: "700ms" },
  populations: {
    workers: {
      clients: 9,
      user: 4,
      startWithin: "10s",
      behaviour: worker({
        calls: [{ call, weight: 3 }, { call: pipelinesQuery(100) }, { call: status() }],
        think: { least: "100ms", most: "3s" },
      }),
      onRefused: waitReset({ of: "both", jitter: { least: 0, most: "2s" } }),
    },
    polite: { clients: 3, behaviour: aimd({ call, start: 20 }) },
    paced: { clients: 3, behaviour: paced({ calls: [{ call }], least: "500ms" }) },
    passers: {
      arrivals: { executor: "poisson-arrival-rate", rate: 40, timeUnit: "1m", preAllocatedVUs: 5 },
      behaviour: burst({ call, size: 1 }),
      onRefused: fixed({ wait: { median: "2s", p95: "9s" }, attempts: 3 }),
    },
    crons: {
      arrivals: { executor: "cron", schedule: "*/2 * * * *", clients: 5, spread: "4s", preAllocatedVUs: 5 },
      behaviour: burst({ call: pipelinesQuery(20), size: 2 }),
    },
    office: {
      arrivals: { executor: "business-day", rates: hours, shape: "lines", preAllocatedVUs: 5 },
      behaviour: burst({ call, size: 1 }),
    },
    fleet: {
      arrivals: {
        executor: "ramping-vus",
        stages: [
          { target: 4, duration: "1m" },
          { target: 1, duration: "2m" },
        ],
      },
      behaviour: worker({ calls: [{ call }], think: { median: "1s", p95: "6s" } }),
    },
    visitors: {
      arrivals: {
        executor: "ramping-arrival-rate",
        stages: [{ target: 3, duration: "2m" }],
        preAllocatedVUs: 5,
      },
      user: "shared",
      behaviour: burst({ call, size: 2 }),
      onRefused: exponential({ first: "300ms", most: "20s", jitter: "decorrelated" }),
    },
  },
});

/** Windows of each world end and are followed by others in it. */
const minute = { durationMs: 70_000 } as const;

const worlds: readonly (readonly [name: string, scenario: Scenario, options?: SimulateOptions])[] = [
  ["lone-client", loneClient, minute],
  ["ci-fleet", ciFleet, { ...minute, seed: 4 }],
  ["herd", herd, minute],
  ["steady, by the documented rules", steady, { ...minute, rules: parseRules(presets.documented) }],
  ["a crowd", crowd, { ...minute, rules: parseRules(crowdRules), seed: 2 ** 40 + 3 }],
  [
    "a crowd under a fault that draws",
    crowd,
    { ...minute, rules: parseRules(crowdRules), fault: parseFault("per-instance-counters") },
  ],
  ["weather", weather],
  ["weather, later", weather, { ...minute, seed: 8, startAtMs: Date.UTC(2031, 1, 28, 23, 59, 59, 999) }],
];

/** Trace and figures of each world, digested. */
export function digests(): Record<string, string> {
  return Object.fromEntries(worlds.map(([name, scenario, options]) => [name, digest(scenario, options)]));
}

function digest(scenario: Scenario, options?: SimulateOptions): string {
  const { header, calls } = simulate(scenario, options);
  const hash = createHash("sha256").update(encodeHeader(header));
  for (const line of calls) hash.update(encodeCall(line));
  return hash.update(JSON.stringify(measure(scenario, options))).digest("hex");
}
