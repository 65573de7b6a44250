// Small scenarios whose answers can be worked out by hand.
import {
  burst,
  defineScenario,
  fixed,
  poller,
  rest,
  type Scenario,
  status,
  waitReset,
  worker,
} from "spillway/scenario";

const pipelines = rest("/v2/organizations/:org/pipelines");

/**
 * Each client asks once, at the start of the only window: of n clients `limit` are admitted, n - limit refused. No
 * seed changes that.
 */
export function crowd({ clients = 10, limit = 20 } = {}): Scenario {
  return defineScenario({
    name: "crowd",
    duration: "10s",
    rules: { organization: { rest: { limit } } },
    populations: { crowd: { clients, behaviour: burst({ call: pipelines, size: 1 }) } },
  });
}

/**
 * 150 calls a minute come evenly, one every 400 ms, each of a user of its own, and are tried again at the reset until
 * they are admitted; the limit is 200. What is left over from one window takes from the 50 that the next one has to
 * spare.
 */
export function steady({ perMinute = 150, minutes = 6 } = {}): Scenario {
  return defineScenario({
    name: "steady-arrivals",
    duration: `${minutes}m`,
    populations: {
      calls: {
        arrivals: {
          executor: "constant-arrival-rate",
          rate: perMinute,
          timeUnit: "1m",
          preAllocatedVUs: 1,
        },
        user: "each",
        behaviour: burst({ call: pipelines, size: 1 }),
        onRefused: waitReset({ of: "both", jitter: { least: 0, most: "2s" } }),
      },
    },
  });
}

/** As many calls as there is room for, each tried again after three seconds, again and again, until it is admitted. */
export function hammering(): Scenario {
  return defineScenario({
    name: "hammering",
    duration: "6m",
    rules: { organization: { rest: { limit: 100 } } },
    populations: {
      agents: {
        arrivals: { executor: "constant-arrival-rate", rate: 100, timeUnit: "1m", preAllocatedVUs: 1 },
        user: "each",
        behaviour: burst({ call: pipelines, size: 1 }),
        onRefused: fixed({ wait: "3s" }),
      },
    },
  });
}

/** Clients that ask again and again and wait for the reset when refused: some are refused in each window. */
export function herd(clients = 30): Scenario {
  return defineScenario({
    name: "small-herd",
    duration: "2m",
    seed: 30,
    populations: {
      herd: {
        clients,
        behaviour: worker({ calls: [{ call: pipelines }], think: { least: "100ms", most: "300ms" } }),
        onRefused: waitReset({ of: "organization" }),
      },
      quiet: { clients: 2, behaviour: poller({ every: "30s", call: status() }), startWithin: "20s" },
    },
    expect: { "quiet.refused": "==0" },
  });
}
