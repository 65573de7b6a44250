// A fleet of build agents, an exporter and some dashboards, and one user whose script knows no bounds. The per-user
// limit exists for that user: the others must hardly notice.
import {
  defineScenario,
  pager,
  pipelinesQuery,
  poller,
  rest,
  status,
  waitReset,
  worker,
} from "spillway/scenario";

const pipelines = rest("/v2/organizations/:org/pipelines");
const builds = rest("/v2/organizations/:org/pipelines/api/builds");

export default defineScenario({
  name: "ci-fleet",
  description: "REST and GraphQL mixed; one noisy user must not starve the others",
  seed: 7,
  duration: "5m",
  populations: {
    agents: {
      clients: 12,
      startWithin: "6s",
      behaviour: worker({
        calls: [
          { call: pipelines, weight: 4 },
          { call: builds, weight: 2 },
          { call: pipelinesQuery(50), weight: 3 },
        ],
        think: { least: "4s", most: "7s" },
      }),
      onRefused: waitReset({ of: "both", jitter: { least: 0, most: "2s" } }),
    },
    exporter: {
      clients: 1,
      behaviour: pager({ call: builds, pages: 5, perPage: 100, parallel: 2, every: "20s", entries: 240 }),
      onRefused: waitReset({ of: "both" }),
    },
    dashboards: {
      clients: 3,
      user: "shared",
      startWithin: "5s",
      behaviour: poller({ every: "5s", call: status() }),
    },
    noisy: {
      clients: 4,
      user: "shared",
      behaviour: worker({
        calls: [
          { call: pipelines, weight: 3 },
          { call: pipelinesQuery(100), weight: 1 },
        ],
        think: { least: "50ms", most: "150ms" },
      }),
    },
  },
  expect: {
    "agents.refusedShare": "<1%",
    "agents.waitP95Ms": "<2s",
    "exporter.refused": "==0",
    "noisy.refusedShare": ">30%",
    unanswered: "==0",
  },
});
