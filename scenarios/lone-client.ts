// One client alone in its organization, for the checks inside k6. It knows each charge, so each answer tells what the
// next one may show. It makes every kind of call, each under two addresses of a proxy. It exceeds both of its limits,
// and goes on calling when refused.
import { defineScenario, graphql, rest, status, withHeaders, worker } from "spillway/scenario";

const from = (address: string) => withHeaders(rest("/v2/user"), { "X-Forwarded-For": address });

/** Query of 3 points and 33 for each of the ten pipelines: fifteen such queries use up a user's window. */
const builds = graphql(
  `{ organization(slug: ":org") { pipelines(first: 10) { edges { node {
    builds(first: 30) { edges { node { number } } } } } } } }`,
  { cost: 333, name: "builds" },
);

export default defineScenario({
  name: "lone-client",
  description: "One client alone: every answer is held to the one before",
  seed: 5,
  duration: "150s",
  populations: {
    auditor: {
      clients: 1,
      behaviour: worker({
        calls: [
          { call: from("203.0.113.1"), weight: 4 },
          { call: from("203.0.113.2"), weight: 4 },
          { call: builds, weight: 2 },
          { call: status(), weight: 2 },
        ],
        think: { least: "400ms", most: "800ms" },
      }),
    },
  },
  expect: { refusedShare: "<60%", unanswered: "==0" },
});
