// The network between clients and limiter: to the millisecond if it can be told, else by its statistics.
import { describe, expect, test } from "vitest";
import { simulate, simulateNumbers } from "../../sim/simulate.ts";
import {
  burst,
  defineScenario,
  exponential,
  type PopulationInput,
  pipelinesQuery,
  poller,
  rest,
  type Scenario,
  type ScenarioInput,
  status,
  worker,
} from "../../src/scenario/index.ts";
import type { TraceCall } from "../../src/trace/record.ts";

const START = Date.UTC(2026, 0, 1);
const user = rest("/v2/user");
const scenarioOf = (
  populations: Record<string, PopulationInput>,
  world: Partial<ScenarioInput> = {},
): Scenario =>
  defineScenario({
    name: "test",
    duration: "1m",
    populations,
    network: { latency: 10, execution: 100 },
    ...world,
  });
const run = (scenario: Scenario): TraceCall[] => [...simulate(scenario).calls];
const once = (call = user, clients = 1): PopulationInput => ({
  clients,
  behaviour: burst({ call, size: 1 }),
});
/** A window that no test outlasts, and that nothing fills. */
const wide = {
  organization: { rest: { limit: 1_000_000, windowSeconds: 86_400 } },
  user: { rest: { limit: 1_000_000, windowSeconds: 86_400 } },
};
const unanswered = { status: 0, error: "timeout", limit: null, remaining: null, userReset: null };

describe("time-outs", () => {
  const slow = (latency: number, timeout: number, call = user): TraceCall | undefined =>
    run(scenarioOf({ one: once(call) }, { network: { latency, execution: 100, timeout } }))[0];

  test("an answer of the very instant is taken, one that comes later is none", () => {
    expect(slow(50, 100)).toMatchObject({ status: 200, received: START + 100 });
    expect(slow(50, 99)).toMatchObject({ ...unanswered, received: START + 99, cost: 1, kind: "call" });
  });

  test("a client that gives up while its call is on the way there, at the server, or on the way back", () => {
    for (const timeout of [5, 60, 119])
      expect(slow(10, timeout, pipelinesQuery(5))).toMatchObject({
        ...unanswered,
        received: START + timeout,
      });
    expect(slow(10, 120, pipelinesQuery(5))).toMatchObject({ status: 200 });
  });

  test("what was given up is charged and settled all the same", () => {
    const look = { clients: 1, behaviour: poller({ every: "60ms", call: status() }) };
    const calls = run(
      scenarioOf(
        { one: once(pipelinesQuery(500)), look },
        { duration: "125ms", network: { latency: 10, execution: 100, timeout: 40 } },
      ),
    );
    expect(calls[1]).toMatchObject({ ...unanswered, client: "one/0", received: START + 40 });
    // It arrived at 10 ms, and had run at 110 ms.
    const seen = calls.filter(({ kind }) => kind === "status").map(({ body }) => body);
    expect(seen).toMatchObject([{}, { graphql: { current: 503 } }, { graphql: { current: 13 } }]);
  });

  test("the next call comes after the time-out, with the next number; the late answer is dropped", () => {
    const calls = run(
      scenarioOf(
        { one: { clients: 1, behaviour: worker({ calls: [{ call: user }], think: 10, jobs: 4 }) } },
        { network: { latency: { least: 10, most: 200 }, timeout: 150 }, seed: 4 },
      ),
    );
    expect(calls.map(({ call }) => call)).toEqual([0, 1, 2, 3]);
    expect(new Set(calls.map((call) => call.status))).toEqual(new Set([0, 200]));
    for (const [index, call] of calls.entries()) {
      const took = call.received - call.sent;
      if (call.status === 0) expect(took).toBe(150);
      else expect(took).toBeLessThanOrEqual(150);
      if (index > 0) expect(call.sent).toBe((calls[index - 1]?.received ?? 0) + 10);
    }
  });

  test("a client that has ended leaves nothing behind that another one would trip over", () => {
    const arrivals = { executor: "constant-arrival-rate", rate: 50, preAllocatedVUs: 1 } as const;
    const calls = run(
      scenarioOf(
        { come: { arrivals, user: 7, behaviour: burst({ call: pipelinesQuery(3), size: 2 }) } },
        { duration: "20s", network: { latency: { least: 1, most: 400 }, execution: 300, timeout: 250 } },
      ),
    );
    expect(calls).toHaveLength(2_000);
    for (const { client, user: name } of calls) expect(name).toBe(`come-${Number(client.split("/")[1]) % 7}`);
    expect(new Set(calls.map(({ client, call }) => `${client} ${call}`)).size).toBe(2_000);
  });
});

describe("loss", () => {
  const lossy = (loss: number): Scenario =>
    scenarioOf(
      {
        many: { clients: 20, user: "shared", behaviour: worker({ calls: [{ call: user }], jobs: 500 }) },
        look: { clients: 1, behaviour: burst({ call: status(), size: 1, every: "86000s" }), startWithin: 0 },
      },
      { duration: "24h", rules: wide, network: { latency: 10, loss, timeout: 50 } },
    );

  test("so many calls come to nothing: either trip may be lost", () => {
    const calls = run(lossy(0.1)).filter(({ kind }) => kind === "call");
    const lost = calls.filter((call) => call.status === 0);
    expect(calls).toHaveLength(10_000);
    // 1 - 0.9^2 = 19 %; the standard deviation of 10,000 draws is 0.39 %.
    expect(lost.length / calls.length).toBeGreaterThan(0.178);
    expect(lost.length / calls.length).toBeLessThan(0.202);
    for (const call of lost) expect(call.received - call.sent).toBe(50);
  });

  test("a lost request is never charged, a lost answer is", () => {
    const calls = run(lossy(0.1)).filter(({ kind }) => kind === "call");
    const charged = 1_000_000 - Math.min(...calls.map((call) => Number(call.remaining ?? 1e9)));
    const answered = calls.filter((call) => call.status === 200).length;
    // 90 % of the requests arrive, and of their answers 10 % are lost.
    expect(charged / calls.length).toBeGreaterThan(0.89);
    expect(charged / calls.length).toBeLessThan(0.91);
    expect(answered / charged).toBeGreaterThan(0.89);
    expect(answered / charged).toBeLessThan(0.91);
  });

  test("no loss draws nothing: the run is the one without it", () => {
    const of = (loss?: number): TraceCall[] =>
      run(
        scenarioOf(
          { many: { clients: 5, behaviour: poller({ every: "1s", call: user }) } },
          { network: { latency: { least: 5, most: 50 }, ...(loss === undefined ? {} : { loss }) } },
        ),
      );
    expect(of(0)).toEqual(of());
    // Draws that never lose anything change the latencies: those of a run that draws would be seen.
    expect(of(1e-12).map(({ status }) => status)).toEqual(of().map(({ status }) => status));
    expect(of(1e-12)).not.toEqual(of());
  });
});

describe("outages", () => {
  test("a share of the calls runs into one", () => {
    const calls = run(
      scenarioOf(
        { many: { clients: 10, behaviour: worker({ calls: [{ call: user }], jobs: 400 }) } },
        { duration: "24h", rules: wide, outages: [{ at: 0, for: "24h", answer: 503, share: 0.3 }] },
      ),
    );
    expect(calls).toHaveLength(4_000);
    // The standard deviation of 4,000 draws is 0.7 %.
    expect(Math.abs(calls.filter(({ status }) => status === 503).length / 4_000 - 0.3)).toBeLessThan(0.03);
  });

  const every = { clients: 1, behaviour: poller({ every: "1s", call: user }) };
  const out = (answer: 503 | "none"): TraceCall[] =>
    run(
      scenarioOf(
        { one: every },
        {
          duration: "6s",
          network: { latency: 10, timeout: "900ms" },
          outages: [{ at: "2s", for: "2s", answer }],
        },
      ),
    );

  test("503: at once, without headers, and nothing is charged", () => {
    const calls = out(503);
    expect(calls.map((call) => [call.sent - START, call.status, call.received - call.sent])).toEqual([
      [0, 200, 20],
      [1_000, 200, 20],
      [2_000, 503, 20],
      [3_000, 503, 20],
      [4_000, 200, 20],
      [5_000, 200, 20],
    ]);
    expect(calls[2]).toMatchObject({
      scopeName: null,
      limit: null,
      userScopeName: null,
      kind: "call",
      cost: 1,
    });
    expect(calls[2]).not.toHaveProperty("error");
    expect(calls.at(-1)?.userRemaining).toBe(46);
  });

  test("none: clients wait for their time-out", () => {
    const calls = out("none");
    expect(calls[2]).toMatchObject({ ...unanswered, received: START + 2_900 });
    expect(calls.at(-1)?.userRemaining).toBe(46);
  });

  test("it is the arrival that counts, from the first millisecond to the last but one", () => {
    const one = { clients: 1, behaviour: poller({ every: "1ms", call: user }) };
    const calls = run(
      scenarioOf(
        { one: { ...one, clients: 25, startWithin: "25ms" } },
        { duration: "25ms", network: { latency: 10 }, outages: [{ at: 15, for: 5, answer: 503 }] },
      ),
    );
    expect(calls.length).toBeGreaterThan(10);
    for (const call of calls) {
      const arrived = call.sent - START + 10;
      expect(call.status).toBe(arrived >= 15 && arrived < 20 ? 503 : 200);
    }
  });

  test("clients that try again what was not answered ride it out", () => {
    const onRefused = exponential({ first: "100ms", most: "800ms", unanswered: true });
    const jobs = { clients: 1, behaviour: burst({ call: user, size: 1, every: "1s" }), onRefused };
    const world = { duration: "6s", outages: [{ at: "2s", for: "2s", answer: 503 }] } as const;
    const calls = run(scenarioOf({ jobs }, world));
    const tried = calls.filter(({ wanted }) => wanted === START + 2_000);
    expect(tried.map(({ attempt, status: code }) => [attempt, code])).toEqual([
      [0, 503],
      [1, 503],
      [2, 503],
      [3, 503],
      [4, 503],
      [5, 200],
    ]);
  });
});

describe("servers", () => {
  test("one of them: calls that come together wait for each other", () => {
    const calls = run(scenarioOf({ four: once(user, 4) }, { service: { servers: 1, time: 30 } }));
    expect(calls.map(({ received }) => received - START)).toEqual([50, 80, 110, 140]);
  });

  test("two of them: two at a time", () => {
    const calls = run(scenarioOf({ four: once(user, 4) }, { service: { servers: 2, time: 30 } }));
    expect(calls.map(({ received }) => received - START)).toEqual([50, 50, 80, 80]);
  });

  test("a query holds its server while it runs, and is settled then", () => {
    const calls = run(
      scenarioOf(
        { two: { ...once(pipelinesQuery(500), 2), user: "shared" } },
        { service: { servers: 1, time: 30 } },
      ),
    );
    expect(calls.map(({ received }) => received - START)).toEqual([150, 280]);
    expect(calls.map(({ remaining }) => remaining)).toEqual([20_000 - 13 - 503, 20_000 - 26]);
  });

  test("a full queue answers 503 without headers, after the limiter has charged", () => {
    const calls = run(scenarioOf({ five: once(user, 5) }, { service: { servers: 1, time: 30, queue: 2 } }));
    expect(calls.map((call) => [call.received - START, call.status])).toEqual([
      [20, 503],
      [20, 503],
      [50, 200],
      [80, 200],
      [110, 200],
    ]);
    const look = { clients: 1, behaviour: poller({ every: "40ms", call: status() }) };
    const world = { duration: "80ms", service: { servers: 1, time: 30, queue: 2 } };
    const seen = run(scenarioOf({ five: once(user, 5), look }, world)).filter(
      ({ kind }) => kind === "status",
    );
    expect(seen.at(-1)?.remaining).toBe(195);
  });

  test("refusals and status calls stand in no queue", () => {
    const world = { service: { servers: 1, time: 500 }, rules: { organization: { rest: { limit: 2 } } } };
    const calls = run(scenarioOf({ five: once(user, 5), look: once(status()) }, world));
    expect(calls.filter((call) => call.received === START + 20).map((call) => call.status)).toEqual([
      429, 429, 429, 200,
    ]);
  });

  test("load has a price: as an exact account of every server has it", () => {
    const arrivals = { executor: "poisson-arrival-rate", rate: 90, preAllocatedVUs: 1 } as const;
    const world = {
      duration: "60s",
      rules: wide,
      network: { latency: 1 },
      service: { servers: 3, time: { median: "25ms", p95: "90ms" }, queue: 40 },
    } as const;
    const calls = run(scenarioOf({ come: { arrivals, behaviour: burst({ call: user, size: 1 }) } }, world));
    expect(calls.some((call) => call.status === 503)).toBe(true);
    expect(calls.filter((call) => call.status === 200).length).toBeGreaterThan(4_000);
    // Played again, minute by minute: never more than three at a server, never more than forty waiting, and nobody
    // begins later than the first free server.
    const served = calls
      .filter((call) => call.status === 200)
      .map((call) => ({ came: call.sent + 1, done: call.received - 1 }))
      .sort((a, b) => a.came - b.came);
    const turned = calls.filter((call) => call.status === 503).map((call) => call.sent + 1);
    for (const at of turned) {
      const inside = served.filter(({ came, done }) => came <= at && done > at).length;
      expect(inside).toBeGreaterThanOrEqual(43);
    }
    for (const at of served.filter((_, index) => index % 50 === 0).map(({ came }) => came)) {
      const inside = served.filter(({ came, done }) => came < at && done > at).length;
      expect(inside).toBeLessThanOrEqual(43);
    }
  });
});

describe("a round trip", () => {
  const world = (roundTrip: number | { least: number; most: number }) => ({ network: { roundTrip } });

  test("is drawn once, and its smaller half is the way there", () => {
    for (const [trip, there] of [
      [1, 0],
      [2, 1],
      [7, 3],
    ] as const) {
      // The window of the first second ends while the second call is on its way: that shows when it arrived.
      const outage = [{ at: there, for: 1, answer: 503 }] as const;
      const [call] = run(scenarioOf({ one: once() }, { ...world(trip), outages: outage }));
      expect([call?.status, (call?.received ?? 0) - START]).toEqual([503, trip]);
    }
  });

  test("is spread as it was given", () => {
    const many = { clients: 1, behaviour: worker({ calls: [{ call: user }], jobs: 4_000 }) };
    const calls = run(scenarioOf({ many }, { ...world({ least: 1, most: 9 }), rules: wide, duration: "5m" }));
    const counts = new Map<number, number>();
    for (const { sent, received } of calls)
      counts.set(received - sent, (counts.get(received - sent) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // 444 each; the standard deviation is 20.
    for (const count of counts.values()) expect(Math.abs(count - 444)).toBeLessThan(80);
  });
});

test("lateness: what is waited for is sent late, what is sent at once is not", () => {
  const one = { clients: 1, behaviour: burst({ call: user, size: 2, every: "1s" }) };
  const calls = run(scenarioOf({ one }, { duration: "3s", network: { latency: 10, lateness: 7 } }));
  expect(calls.map((call) => [(call.wanted ?? 0) - START, call.sent - START])).toEqual([
    [0, 0],
    [0, 0],
    [1_000, 1_007],
    [1_000, 1_007],
    [2_000, 2_007],
    [2_000, 2_007],
  ]);
});

describe("clocks", () => {
  const apart = scenarioOf(
    { many: { clients: 200, behaviour: poller({ every: "10s", call: user }) } },
    { clocks: { apart: "500ms" }, rules: wide },
  );

  test("each client shows its own times, up to so far ahead", () => {
    const offsets = new Map<string, Set<number>>();
    for (const { client, sent } of run(apart)) {
      const own = offsets.get(client) ?? new Set();
      offsets.set(client, own.add((sent - START) % 10_000));
    }
    expect(offsets.size).toBe(200);
    const all = [...offsets.values()].flatMap((own) => [...own]);
    expect(all).toHaveLength(200);
    expect(Math.min(...all)).toBeLessThan(25);
    expect(Math.max(...all)).toBeGreaterThan(475);
    expect(Math.max(...all)).toBeLessThanOrEqual(500);
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
    // 250, with a standard deviation of 10.2.
    expect(Math.abs(mean - 250)).toBeLessThan(41);
  });

  test("the header says so", () => {
    expect(simulate(apart).header.clock).toEqual({ kind: "virtual", resolutionMs: 0, errorMs: 250 });
  });

  test("what a call takes is the same on every clock", () => {
    const calls = run(apart);
    expect(calls.length).toBeGreaterThan(1);
    for (const { sent, received, wanted } of calls) {
      expect(received - sent).toBe(20);
      expect(wanted).toBe(sent);
    }
  });
});

describe("all of it together", () => {
  const world: Partial<ScenarioInput> = {
    network: {
      latency: { median: "20ms", p95: "90ms" },
      execution: { quantiles: [5, 20, 400] },
      lateness: { median: 2, p95: 20 },
      loss: 0.02,
      timeout: "300ms",
    },
    service: { servers: 2, time: { least: 5, most: 40 }, queue: 5 },
    outages: [
      { at: "5s", for: "2s", answer: 503 },
      { at: "12s", for: "3s", answer: "none" },
    ],
    clocks: { apart: "70ms" },
  };
  const onRefused = exponential({
    first: "100ms",
    most: "2s",
    jitter: "full",
    unanswered: true,
    attempts: 6,
  });
  const scenario = scenarioOf(
    {
      agents: {
        clients: 12,
        user: 4,
        behaviour: worker({
          calls: [{ call: user }, { call: pipelinesQuery(9) }],
          think: { median: 200, p95: 900 },
        }),
        onRefused,
      },
      crowd: {
        arrivals: { executor: "poisson-arrival-rate", rate: 4, preAllocatedVUs: 1 },
        behaviour: burst({ call: user, size: 3 }),
        onRefused,
      },
    },
    world,
  );

  test("same seed, same calls", () => {
    expect(run(scenario)).toEqual(run(scenario));
    expect(run({ ...scenario, seed: 2 })).not.toEqual(run(scenario));
  });

  test("by numbers as by records", () => {
    const shown: unknown[] = [];
    simulateNumbers(scenario, {}, ({ client, number, status: code, sentMs, receivedMs, limit, isAnswered }) =>
      shown.push([client, number, code, sentMs, receivedMs, limit, isAnswered]),
    );
    expect(shown).toEqual(
      run(scenario).map((call) => {
        const isAnswered = call.status !== 0 && call.status !== 503;
        return [call.client, call.call, call.status, call.sent, call.received, call.limit ?? -1, isAnswered];
      }),
    );
    expect(shown.length).toBeGreaterThan(500);
  });
});
