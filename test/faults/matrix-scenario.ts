// The real run under which faults must show, in windows of seconds: a crowd of overlapping calls on one
// organization, users of one proxy in another, two clients each alone in its own, of which one meets its organization's
// limit before its user's, and one that rests longer than a window needs to end.
import {
  burst,
  defineScenario,
  none,
  pipelinesQuery,
  poller,
  rest,
  status,
  withHeaders,
  worker,
} from "spillway/scenario";

const call = rest("/v2/user");
const from = (address: string) => withHeaders(call, { "X-Forwarded-For": address });
const alone = worker({
  calls: [
    { call: from("203.0.113.1"), weight: 3 },
    { call: from("203.0.113.2"), weight: 3 },
    { call: pipelinesQuery(20), weight: 3 },
    { call: status(), weight: 2 },
  ],
  think: { least: "20ms", most: "120ms" },
});

export default defineScenario({
  name: "fault-matrix",
  description: "The real run of the fault matrix",
  seed: 1,
  duration: "15s",
  rules: {
    organization: { rest: { limit: 70, windowSeconds: 5 }, graphql: { limit: 400, windowSeconds: 7 } },
    user: { rest: { limit: 20, windowSeconds: 5 }, graphql: { limit: 150, windowSeconds: 7 } },
    organizations: {
      free: { rest: { limit: 10, enforced: false }, graphql: { limit: 100, enforced: false } },
      // One client meets them in each window, however slowly it is answered.
      narrow: { rest: { limit: 6 }, graphql: { limit: 60 } },
    },
  },
  populations: {
    workers: {
      clients: 6,
      user: 3,
      startWithin: "1s",
      behaviour: worker({
        calls: [{ call, weight: 3 }, { call: pipelinesQuery(20) }, { call: status() }],
        think: { least: "30ms", most: "400ms" },
      }),
    },
    bursts: { clients: 2, behaviour: burst({ call, size: 8, every: "1700ms" }), onRefused: none() },
    noisy: { clients: 1, behaviour: worker({ calls: [{ call }], think: { least: "20ms", most: "90ms" } }) },
    graphs: { clients: 2, behaviour: burst({ call: pipelinesQuery(40), size: 3, every: "2s" }) },
    dear: { clients: 1, behaviour: poller({ call: pipelinesQuery(490), every: "3s" }) },
    watchers: { clients: 2, behaviour: poller({ call: status(), every: "250ms" }) },
    guests: {
      clients: 2,
      organization: "free",
      behaviour: worker({
        calls: [{ call, weight: 4 }, { call: pipelinesQuery(10) }, { call: status() }],
        think: { least: "50ms", most: "300ms" },
      }),
    },
    neighbours: {
      clients: 3,
      organization: "proxied",
      behaviour: worker({
        calls: [{ call, weight: 3 }, { call: pipelinesQuery(10) }, { call: status() }],
        think: { least: "60ms", most: "300ms" },
      }),
    },
    auditor: { clients: 1, organization: "solo", behaviour: alone },
    pinched: { clients: 1, organization: "narrow", behaviour: alone },
    // Its window is over for seconds before the next call, and the first of these status calls comes in between.
    visitor: {
      clients: 1,
      organization: "quiet",
      startWithin: "1s",
      behaviour: poller({ call, every: "8500ms" }),
    },
    "visitor-watcher": {
      clients: 1,
      organization: "quiet",
      behaviour: poller({ call: status(), every: "900ms" }),
    },
  },
});
