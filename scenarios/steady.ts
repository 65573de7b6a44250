// Everyone is well-behaved: every window of every user stays far from its limit. A single refusal is thus a fault of
// the deployment, or of its limits.
import { defineScenario, pipelinesQuery, poller, rest, status } from "spillway/scenario";

export default defineScenario({
  name: "steady",
  description: "Under every limit: nothing may be refused",
  seed: 11,
  duration: "3m",
  populations: {
    readers: {
      clients: 8,
      behaviour: poller({ every: "4s", call: rest("/v2/organizations/:org/pipelines") }),
      startWithin: "4s",
    },
    graphs: {
      clients: 4,
      behaviour: poller({ every: "10s", call: pipelinesQuery(50) }),
      startWithin: "10s",
    },
    watcher: {
      clients: 1,
      behaviour: poller({ every: "5s", call: status() }),
    },
  },
  expect: { refused: "==0", unanswered: "==0", waitP99Ms: "<1s" },
});
