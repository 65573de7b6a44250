// The two ways out of one simulator: a trace's records, and numbers alone.
import { describe, expect, test } from "vitest";
import { simulate, simulateNumbers } from "../../sim/simulate.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { scopes } from "../../src/rules/rules.ts";
import { ABSENT } from "../../src/scenario/client.ts";
import {
  burst,
  defineScenario,
  pipelinesQuery,
  poller,
  rest,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { readStatus } from "../../src/wire/bodies.ts";
import type { HeaderValue } from "../../src/wire/fields.ts";
import { refusedBy } from "../../src/wire/outcome.ts";

const scenario = defineScenario({
  name: "numbers",
  duration: "3m",
  rules: { organization: { rest: { limit: 40 } }, user: { rest: { limit: 15 } } },
  populations: {
    workers: {
      clients: 5,
      user: 3,
      behaviour: worker({
        calls: [{ call: rest("/v2/user") }, { call: pipelinesQuery(100) }],
        think: { least: "200ms", most: "2s" },
      }),
      onRefused: waitReset({ of: "both", jitter: { least: 0, most: "1s" } }),
    },
    watchers: { clients: 2, behaviour: poller({ call: status(), every: "7s" }) },
    visitors: {
      arrivals: { executor: "constant-arrival-rate", rate: 1, preAllocatedVUs: 1 },
      user: "shared",
      behaviour: burst({ call: rest("/v2/user"), size: 2 }),
    },
  },
});

const number = (value: HeaderValue = null): number => (typeof value === "number" ? value : ABSENT);

describe.each([
  ["the right deployment", undefined],
  ["one with a fault", parseFault("headers-missing-on-429")],
])("simulateNumbers shows what simulate records: %s", (_, fault) => {
  const records = [...simulate(scenario, { fault }).calls];

  test("call by call, in the same order", () => {
    const shown: unknown[] = [];
    const { endedAtMs } = simulateNumbers(scenario, { fault }, (call) => {
      const { client, number, attempt, wantedMs, sentMs, receivedMs, status, refusedBy } = call;
      const { limit, remaining, reset, userLimit, userRemaining, userReset, retryAfter } = call;
      const organization = [limit, remaining, reset, retryAfter];
      const user = [userLimit, userRemaining, userReset];
      const resets = client.startsWith("watchers/") ? scopes.map((scope) => call.statusReset(scope)) : [];
      shown.push([
        client,
        number,
        attempt,
        wantedMs,
        sentMs,
        receivedMs,
        status,
        refusedBy,
        organization,
        user,
        resets,
      ]);
    });
    const recorded = records.map((call) => {
      const owner = call.status === 429 ? refusedBy(call) : null;
      const organization = [call.limit, call.remaining, call.reset, call.retryAfter].map(number);
      const user = [call.userLimit, call.userRemaining, call.userReset].map(number);
      const refused = owner === null ? 0 : owner === "organization" ? 1 : 2;
      const times = [call.wanted, call.sent, call.received];
      const resets = call.kind === "status" ? scopes.map((scope) => readStatus(call.body, scope).reset) : [];
      const told = [call.status, refused, organization, user, resets];
      return [call.client, call.call, call.attempt, ...times, ...told];
    });
    expect(shown).toEqual(recorded);
    expect(endedAtMs).toBe(records.at(-1)?.received);
  });

  test("refusals by both windows are among them", () => {
    const owners = new Set<number>();
    simulateNumbers(scenario, { fault }, (call) => owners.add(call.refusedBy));
    expect([...owners].sort()).toEqual([0, 1, 2]);
  });
});

test("a call is three events, an executed query four, and a client's start one", () => {
  const populations = {
    one: { clients: 1, behaviour: burst({ call: rest("/v2/user"), size: 1 }) },
    two: { clients: 1, behaviour: burst({ call: pipelinesQuery(1), size: 1 }) },
  };
  const { events } = simulateNumbers(
    defineScenario({ name: "few", duration: "1m", populations }),
    {},
    () => {},
  );
  expect(events).toBe(1 + 3 + 1 + 4);
});
