// The oracle must not accuse a right deployment because the world around it is a bad one: calls get lost, clients give
// up, servers are full, nobody answers, clocks differ.
// @module-tag long
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import {
  burst,
  defineScenario,
  exponential,
  pager,
  pipelinesQuery,
  poller,
  rest,
  type ScenarioInput,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { property } from "../support/property.ts";
import { semantics } from "../support/semantics.ts";
import { numbered } from "./numbered.ts";

const user = rest("/v2/user");
type World = Pick<ScenarioInput, "network" | "service" | "outages" | "clocks">;

/** Clients of every kind in windows of seconds, about half of their calls refused. */
const crowdIn = (world: World) =>
  defineScenario({
    name: "crowd",
    duration: "60s",
    ...world,
    populations: {
      workers: {
        clients: 8,
        user: 4,
        startWithin: "5s",
        behaviour: worker({
          calls: [{ call: user }, { call: pipelinesQuery(30) }, { call: status() }],
          think: { least: 0, most: "1s" },
        }),
        onRefused: waitReset({ of: "both", least: "50ms", fallback: "500ms", unanswered: true }),
      },
      exporters: {
        clients: 2,
        organization: "globex",
        behaviour: pager({ call: user, pages: 8, parallel: 4, every: "3s" }),
        onRefused: exponential({ first: "200ms", most: "5s", jitter: "full", unanswered: true, attempts: 5 }),
      },
      crons: { clients: 3, user: "shared", behaviour: burst({ call: user, size: 9, every: "7s" }) },
      graphs: { clients: 3, behaviour: burst({ call: pipelinesQuery(60), size: 4, every: "4s" }) },
      watchers: { clients: 2, organization: "globex", behaviour: poller({ call: status(), every: "900ms" }) },
      fleet: {
        arrivals: {
          executor: "ramping-vus",
          startVUs: 0,
          stages: [
            { target: 4, duration: "20s" },
            { target: 0, duration: "20s" },
          ],
        },
        user: 2,
        behaviour: worker({ calls: [{ call: user }], think: "700ms" }),
      },
      visitors: {
        arrivals: { executor: "poisson-arrival-rate", rate: 2, preAllocatedVUs: 1 },
        behaviour: worker({ calls: [{ call: user }, { call: pipelinesQuery(5) }], jobs: 3 }),
      },
    },
  });
const limits: RulesInput = {
  organization: { rest: { limit: 60, windowSeconds: 7 }, graphql: { limit: 500, windowSeconds: 11 } },
  user: { rest: { limit: 15, windowSeconds: 7 }, graphql: { limit: 200, windowSeconds: 11 } },
};

const network = { latency: { least: 1, most: 300 }, execution: { least: 0, most: 900 } };
const worlds: Record<string, World> = {
  loss: { network: { ...network, loss: 0.05, timeout: "2s" } },
  "time-outs": { network: { ...network, timeout: "400ms" } },
  "an outage that answers": { network, outages: [{ at: "10s", for: "8s", answer: 503 }] },
  "an outage that does not": {
    network: { ...network, timeout: "1s" },
    outages: [{ at: "10s", for: "8s", answer: "none" }],
  },
  "servers with a queue": { network, service: { servers: 2, time: { median: "80ms", p95: "400ms" } } },
  "servers that are full": { network, service: { servers: 2, time: "150ms", queue: 3 } },
  "clocks apart": { network, clocks: { apart: "900ms" } },
  "round trips of a millisecond": { network: { roundTrip: { least: 1, most: 3 }, execution: 1 } },
  "long tails": {
    network: { latency: { median: "30ms", p95: "700ms" }, execution: { quantiles: [1, 2, 5_000] } },
  },
  everything: {
    network: {
      latency: { median: "30ms", p95: "400ms" },
      execution: { least: 0, most: 900 },
      loss: 0.03,
      timeout: "900ms",
    },
    service: { servers: 3, time: { least: 10, most: 120 }, queue: 6 },
    outages: [
      { at: "12s", for: "5s", answer: "none" },
      { at: "30s", for: "4s", answer: 503 },
    ],
    clocks: { apart: "300ms" },
  },
};

async function judged(world: World, rules: RulesInput, seed: number): Promise<Verdict> {
  const { header, calls } = simulate(crowdIn(world), { rules: parseRules({ ...limits, ...rules }), seed });
  return judge(header, numbered(calls));
}

describe.each(Object.entries(worlds))("in a world of %s", (_, world) => {
  test("the default rules are judged right", async () => {
    for (const seed of [1, 2, 3]) {
      const { verdict, violations, records } = await judged(world, {}, seed);
      expect(violations.slice(0, 3), `seed ${seed}`).toEqual([]);
      expect(verdict).toBe("ok");
      expect(records).toBeGreaterThan(400);
    }
  });

  property([semantics, fc.nat()], { numRuns: 8 })("and any others", async (semantics, seed) => {
    expect((await judged(world, { semantics }, seed)).violations.slice(0, 3)).toEqual([]);
  });
});

test.each(["race-read-then-write", "stale-replica-read", "per-instance-counters"])(
  "a deployment with %s has its calls there, too, each once",
  (name) => {
    const { calls } = simulate(crowdIn(worlds["everything"] ?? {}), {
      rules: parseRules(limits),
      fault: parseFault(name),
    });
    const ids = new Set<string>();
    let count = 0;
    for (const call of calls) {
      ids.add(`${call.client} ${call.call}`);
      count += 1;
    }
    expect(count).toBeGreaterThan(400);
    expect(ids.size).toBe(count);
  },
);

test("such a world hides no fault that shows: a reset that is off is found", async () => {
  const world = worlds["everything"] ?? {};
  const { header, calls } = simulate(crowdIn(world), { rules: parseRules(limits) });
  const lines = [...numbered(calls)];
  const victim = lines.find(
    ({ call }) => call.status === 200 && call.kind === "call" && Number(call.userRemaining) > 5,
  );
  if (victim === undefined) throw new Error("no call to falsify");
  victim.call.userReset = Number(victim.call.userReset) + 5;
  expect((await judge(header, lines)).verdict).toBe("violated");
});
