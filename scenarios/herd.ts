// Everyone waits for the same instant. Thirty clients use up the organization's window and read the same reset. They
// all wake up in the same second, window after window.
import { defineScenario, rest, waitReset, worker } from "spillway/scenario";

export default defineScenario({
  name: "herd",
  description: "Thirty clients that all wake at the reset",
  seed: 30,
  duration: "5m",
  populations: {
    herd: {
      clients: 30,
      startWithin: "2s",
      behaviour: worker({
        calls: [{ call: rest("/v2/organizations/:org/pipelines") }],
        think: { least: "100ms", most: "300ms" },
      }),
      onRefused: waitReset({ of: "organization" }),
    },
  },
  expect: { refused: ">0", refusedShare: "<50%", fairness: ">=50%", unanswered: "==0" },
});
