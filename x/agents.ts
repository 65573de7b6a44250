// Twelve agents of one organization that list pipelines and wait for the reset when they are refused.
// Try it in virtual time:   npx spillway simulate x/agents.ts
// and for real, by k6:      npx spillway load x/agents.ts
import { defineScenario, poller, rest, waitReset } from "spillway/scenario";

export default defineScenario({
  name: "agents",
  description: "Twelve agents that each list pipelines every four seconds",
  seed: 1,
  duration: "2m",
  populations: {
    agents: {
      clients: 12,
      user: "each",
      startWithin: "4s",
      behaviour: poller({ every: "4s", call: rest("/v2/organizations/:org/pipelines") }),
      onRefused: waitReset({ of: "both", jitter: { least: "0s", most: "2s" } }),
    },
  },
  expect: { refusedShare: "<5%", waitP95Ms: "<1000" },
});
