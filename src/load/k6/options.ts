// A scenario as k6's options: one k6 scenario a population, one iteration a client's whole life.
import type { Scenario as K6Scenario, Options } from "k6/options";
import type { Population } from "../../scenario/scenario.ts";
import { thresholdsOf } from "../thresholds.ts";
import type { Settings } from "./settings.ts";

/** The exported function that every population runs. */
const clientFunction = "client";

/** What clients need beyond the last answer, to write their last lines. */
const slackMs = 5_000;

export function k6Options({ scenario, timeoutMs, keepAlive }: Settings): Options {
  const scenarios = scenario.populations.map((population) => [
    population.name,
    k6Scenario(population, scenario.durationMs, timeoutMs),
  ]);
  return {
    scenarios: Object.fromEntries(scenarios) as Record<string, K6Scenario>,
    thresholds: thresholdsOf(scenario.expect),
    // On a kept-alive connection that breaks after the target counted, Go's transport silently sends a GET
    // again: one answer, charged twice, and a right deployment would be accused.
    noConnectionReuse: !keepAlive,
    // A redirect may lead to a host that nobody allowed.
    maxRedirects: 0,
    throw: false,
    userAgent: "spillway",
    summaryTrendStats: ["avg", "min", "med", "max", "p(50)", "p(90)", "p(95)", "p(99)"],
  };
}

/**
 * Clients end by themselves at the scenario's end, when their calls are answered or given up: k6 is given the
 * time for that and cuts off only what hangs. Closed: `per-vu-iterations`, so that a client's index is its
 * iteration's number, 0 to n - 1 (a VU's number is not). Open: each arrival is a client.
 */
function k6Scenario(population: Population, durationMs: number, timeoutMs: number): K6Scenario {
  const leeway = `${timeoutMs + slackMs}ms`;
  const { arrivals } = population;
  if (arrivals === null)
    return {
      executor: "per-vu-iterations",
      exec: clientFunction,
      vus: population.clients,
      iterations: 1,
      maxDuration: `${durationMs + timeoutMs + slackMs}ms`,
      gracefulStop: "0s",
    };
  const { preAllocatedVUs, maxVUs } = arrivals;
  const open = {
    exec: clientFunction,
    timeUnit: `${arrivals.timeUnitMs}ms`,
    preAllocatedVUs,
    maxVUs,
    gracefulStop: leeway,
  };
  if (arrivals.executor === "constant-arrival-rate")
    return { ...open, executor: arrivals.executor, rate: arrivals.rate, duration: `${durationMs}ms` };
  return {
    ...open,
    executor: arrivals.executor,
    startRate: arrivals.startRate,
    stages: arrivals.stages.map(({ target, durationMs: ms }) => ({ target, duration: `${ms}ms` })),
  };
}
