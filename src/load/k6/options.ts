// A scenario as k6's options: one k6 scenario for each population, one iteration for each client's whole life.
import type { Scenario as K6Scenario, Options } from "k6/options";
import { mostAtOnce } from "../../scenario/fleet.ts";
import type { Population } from "../../scenario/scenario.ts";
import { thresholdsOf } from "../thresholds.ts";
import { isKnownToK6, type KnownArrivals } from "./known-arrivals.ts";
import type { Settings } from "./settings.ts";

/** Name of the exported function that every population runs. */
const clientFunction = "client";

/** Time beyond the last answer that clients need to write their last lines, ms. */
const slackMs = 5_000;

export function k6Options(settings: Settings): Options {
  const { scenario, keepAlive, certificate } = settings;
  const scenarios = scenario.populations.map((population, place) => [
    population.name,
    k6Scenario(settings, population, place),
  ]);
  return {
    scenarios: Object.fromEntries(scenarios) as Record<string, K6Scenario>,
    thresholds: thresholdsOf(scenario.expect, scenario.policy === undefined),
    // A kept-alive connection may break after the target counted. Go's transport then silently repeats a GET: one
    // answer with two charges, for which a right deployment would be accused.
    noConnectionReuse: !keepAlive,
    // A redirect may lead to a host that nobody allowed.
    maxRedirects: 0,
    throw: false,
    ...(certificate === null ? {} : { tlsAuth: [certificate] }),
    userAgent: "spillway",
    summaryTrendStats: ["avg", "min", "med", "max", "p(50)", "p(90)", "p(95)", "p(99)"],
  };
}

/**
 * Returns a population as a k6 scenario. Clients end by themselves at the scenario's end, once their calls are answered
 * or given up. k6 gets time for that, and cuts off only what hangs. A closed population uses `per-vu-iterations`: a
 * client's index is its iteration's number, 0 to n - 1, unlike a VU's. In an open one each arrival is a client.
 */
function k6Scenario(settings: Settings, population: Population, place: number): K6Scenario {
  const { timeoutMs } = settings;
  const { durationMs } = settings.scenario;
  const { arrivals } = population;
  const toTheEnd = {
    exec: clientFunction,
    maxDuration: `${durationMs + timeoutMs + slackMs}ms`,
    gracefulStop: "0s",
  };
  if (arrivals === null)
    return { ...toTheEnd, executor: "per-vu-iterations", vus: population.clients, iterations: 1 };
  if (isKnownToK6(arrivals)) return byRate(arrivals, durationMs, timeoutMs);
  // Iterations are taken in the order of their numbers, and stays are in the order of their starts. The n-th iteration
  // is therefore the n-th client. (k6's own `ramping-vus` cuts removed clients off in the middle of a call.)
  const stays = settings.stays[place] ?? [];
  const most = arrivals.executor === "ramping-vus" ? mostAtOnce(stays, timeoutMs) : arrivals.preAllocatedVUs;
  const iterations = Math.max(1, stays.length);
  return {
    ...toTheEnd,
    executor: "shared-iterations",
    vus: Math.max(1, Math.min(most, iterations)),
    iterations,
  };
}

function byRate(arrivals: KnownArrivals, durationMs: number, timeoutMs: number): K6Scenario {
  const { preAllocatedVUs, maxVUs } = arrivals;
  const open = {
    exec: clientFunction,
    timeUnit: `${arrivals.timeUnitMs}ms`,
    preAllocatedVUs,
    maxVUs,
    gracefulStop: `${timeoutMs + slackMs}ms`,
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
