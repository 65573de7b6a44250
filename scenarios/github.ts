// Robots of an organization on GitHub: a bot that keeps dependencies up to date, release notes, a board, and a script
// that comments. Run `npx spillway simulate github --policy github`: without the policy the default rules limit it.
import {
  defineScenario,
  exponential,
  graphql,
  poller,
  rest,
  retryAfter,
  status,
  waitReset,
  worker,
} from "spillway/scenario";

const pulls = rest("/repos/acme/app/pulls");
const search = rest("/search/issues?q=is:open", "search");
const comment = rest("/repos/acme/app/issues/1/comments", { method: "POST", name: "comment" });
const board = graphql("{ viewer { projectsV2(first: 20) { nodes { id } } } }", { cost: 1, name: "board" });

export default defineScenario({
  name: "github",
  description:
    "Bots share a token's hour; a search every two seconds is one too many; a script comments too fast",
  seed: 11,
  duration: "2h",
  populations: {
    updaters: {
      clients: 6,
      user: 2,
      startWithin: "5m",
      behaviour: worker({
        calls: [
          { call: pulls, weight: 9 },
          { call: comment, weight: 1 },
        ],
        think: { least: "1s", most: "5s" },
      }),
      onRefused: waitReset({ of: "both", jitter: { least: 0, most: "1m" } }),
    },
    searchers: {
      clients: 1,
      behaviour: poller({ every: "2s", call: search }),
      onRefused: waitReset({ of: "both" }),
    },
    boards: {
      clients: 5,
      user: "shared",
      startWithin: "30s",
      behaviour: poller({ every: "30s", call: board }),
      onRefused: exponential({ first: "1m", most: "15m", attempts: 5 }),
    },
    script: {
      clients: 4,
      user: "shared",
      behaviour: worker({ calls: [{ call: comment }], think: { least: "200ms", most: "600ms" } }),
      onRefused: retryAfter({ fallback: "1m" }),
    },
    watchers: { clients: 1, behaviour: poller({ every: "1m", call: status() }) },
  },
  expect: {
    "updaters.refusedShare": "<5%",
    "boards.refused": "==0",
    unanswered: "==0",
  },
});
