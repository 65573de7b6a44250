import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type SimulateOptions, simulate } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type Behaviour, STARTED } from "../../src/scenario/client.ts";
import {
  burst,
  defineScenario,
  exponential,
  graphql,
  type PopulationInput,
  pager,
  pipelinesQuery,
  poller,
  rest,
  type Scenario,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { encodeCall, encodeHeader } from "../../src/trace/write.ts";

const START = Date.UTC(2026, 0, 1);
const user = rest("/v2/user");
const scenarioOf = (
  populations: Record<string, PopulationInput>,
  rules?: RulesInput,
  network = { latency: 10, execution: 100 },
): Scenario =>
  defineScenario({ name: "test", duration: "1m", populations, network, ...(rules && { rules }) });
const run = (scenario: Scenario, options?: SimulateOptions): TraceCall[] => [
  ...simulate(scenario, options).calls,
];
const text = (scenario: Scenario, options?: SimulateOptions): string => {
  const { header, calls } = simulate(scenario, options);
  return [encodeHeader(header), ...Array.from(calls, encodeCall)].join("\n");
};

/** A bit of everything, with trips that differ from call to call. */
const mixed = defineScenario({
  name: "mixed",
  duration: "2m",
  seed: 5,
  rules: { organization: { rest: { limit: 60 } } },
  populations: {
    workers: {
      clients: 6,
      user: 3,
      startWithin: "3s",
      behaviour: worker({
        calls: [{ call: user, weight: 2 }, { call: pipelinesQuery(100) }],
        think: { least: "200ms", most: "2s" },
      }),
      onRefused: waitReset({ of: "both", jitter: { least: 0, most: "1s" } }),
    },
    pagers: {
      clients: 2,
      behaviour: pager({ call: user, pages: 9, entries: 200, parallel: 3, every: "10s" }),
      onRefused: exponential({ first: "500ms", most: "20s", attempts: 4, jitter: "full" }),
    },
    bursts: { clients: 2, user: "shared", behaviour: burst({ call: user, size: 5, every: "15s" }) },
    visitors: {
      arrivals: {
        executor: "ramping-arrival-rate",
        stages: [{ target: 2, duration: "1m" }],
        preAllocatedVUs: 1,
      },
      behaviour: worker({ calls: [{ call: user }], jobs: 2 }),
    },
    watchers: { clients: 1, behaviour: poller({ call: status(), every: "7s" }) },
  },
});

describe("same seed, same bytes", () => {
  test("two runs", () => {
    expect(text(mixed)).toBe(text(mixed));
  });

  test("reading the calls of one simulation twice", () => {
    const { calls } = simulate(mixed);
    expect([...calls]).toEqual([...calls]);
  });

  test("two simulations that are read in turn", () => {
    const one = simulate(mixed).calls[Symbol.iterator]();
    const two = simulate(mixed).calls[Symbol.iterator]();
    for (let calls = 0; ; calls++) {
      const [a, b] = [one.next(), two.next()];
      expect(a).toEqual(b);
      if (a.done !== true) continue;
      expect(calls).toBeGreaterThan(100);
      return;
    }
  });

  test("the trace of this scenario is the one it has always been", () => {
    // A change here changes what every seed means: it belongs into the change log. (Texts for people may change.)
    const lines = run(mixed).map(({ warning, userWarning, refusal, ...call }) => encodeCall(call));
    expect(createHash("sha256").update(lines.join("\n")).digest("hex")).toBe(
      "0c85ee09de5b5f74b07e0f5d4dd16328ffd5f19fd67faee6e6c223e4e0e53894",
    );
  });

  test("another seed is another run", () => {
    expect(text(mixed, { seed: 6 })).not.toBe(text(mixed, { seed: 5 }));
  });

  test("shifted by a multiple of all windows, the same run at another time", () => {
    const shiftMs = 300_000;
    const shifted = run(mixed, { startAtMs: START + shiftMs }).map(
      ({ body: _, sent, received, wanted = 0, ...call }) => ({
        ...call,
        sent: sent - shiftMs,
        received: received - shiftMs,
        wanted: wanted - shiftMs,
      }),
    );
    expect(shifted).toEqual(run(mixed).map(({ body: _, ...call }) => call));
  });
});

describe("what is in the trace", () => {
  test("the header", () => {
    expect(simulate(mixed, { seed: 9 }).header).toEqual({
      format: "spillway-trace",
      version: 1,
      source: "simulator",
      scenario: "mixed",
      seed: 9,
      target: null,
      startedAt: START,
      clock: { kind: "virtual", resolutionMs: 0, errorMs: 0 },
      rules: mixed.rules,
      complete: true,
      lost: 0,
    });
  });

  test("a REST call: sent, one trip there, decided, one trip back", () => {
    const [call] = run(scenarioOf({ one: { clients: 1, behaviour: burst({ call: user, size: 1 }) } }));
    expect(call).toEqual({
      sent: START,
      received: START + 20,
      client: "one/0",
      call: 0,
      org: "acme",
      user: "one-0",
      scope: "rest",
      kind: "call",
      cost: 1,
      status: 200,
      scopeName: "rest",
      limit: 200,
      remaining: 199,
      reset: 60,
      userScopeName: "rest_user",
      userLimit: 50,
      userRemaining: 49,
      userReset: 60,
      wanted: START,
      attempt: 0,
    });
  });

  test("a refusal: Retry-After, warning and body of the window that refused; the retry goes on from there", () => {
    const behaviour = burst({ call: user, size: 1, every: "2s" });
    const agents = { clients: 1, behaviour, onRefused: waitReset({ of: "both" }) };
    const [first, refused, retried] = run(
      scenarioOf({ agents }, { user: { rest: { limit: 1, windowSeconds: 5 } } }),
    );
    expect(first).toMatchObject({
      status: 200,
      userRemaining: 0,
      userWarning: expect.stringContaining("5 s"),
    });
    expect(refused).toMatchObject({
      sent: START + 2_000,
      call: 1,
      status: 429,
      remaining: 199,
      userRemaining: 0,
      userReset: 3,
      retryAfter: 3,
      refusal: { scope: "rest_user", limit: 1, current: 1, reset: 3 },
    });
    expect(refused).not.toHaveProperty("warning");
    expect(retried).toMatchObject({
      sent: START + 5_020,
      call: 2,
      wanted: START + 2_000,
      attempt: 1,
      status: 200,
    });
  });

  test("`retryAfter: false` sends none", () => {
    const agents = { clients: 2, user: "shared", behaviour: burst({ call: user, size: 1 }) } as const;
    const rules = { user: { rest: { limit: 1 } }, semantics: { retryAfter: false } };
    expect(run(scenarioOf({ agents }, rules))[1]).not.toHaveProperty("retryAfter");
  });

  test("a status call costs nothing and shows both scopes", () => {
    const population = (call: typeof user) => ({ clients: 1, behaviour: burst({ call, size: 1 }) });
    const calls = run(scenarioOf({ one: population(pipelinesQuery(20)), two: population(status()) }));
    expect(calls[0]).toMatchObject({
      kind: "status",
      scope: "rest",
      cost: null,
      status: 200,
      remaining: 200,
      body: {
        rest: { limit: 200, current: 0, reset: 60, reset_at: "2026-01-01T00:01:00Z", enforced: true },
        graphql: { limit: 20_000, current: 23, reset: 300, reset_at: "2026-01-01T00:05:00Z", enforced: true },
      },
    });
  });

  test("a query above 50,000 points is answered 200, not executed and not counted", () => {
    const query = graphql("{ a { b } }", { cost: 50_001 });
    const [call] = run(scenarioOf({ one: { clients: 1, behaviour: burst({ call: query, size: 1 }) } }));
    expect(call).toMatchObject({ kind: "other", cost: null, status: 200, remaining: 20_000, actual: 0 });
  });
});

describe("an admitted query is settled when it has run (SPEC.md §8 graphqlCharge)", () => {
  /** Two queries of 503 points that are charged 13, the second one sent while the first one runs. */
  const shown = (rules: RulesInput) => {
    const call = pipelinesQuery(500);
    const one = {
      clients: 2,
      user: "shared",
      startWithin: "90ms",
      behaviour: burst({ call, size: 1 }),
    } as const;
    return run(scenarioOf({ one }, rules)).map(({ received, sent, status, actual, remaining, limit }) => ({
      tookMs: received - sent,
      status,
      actual,
      current: Number(limit) - Number(remaining),
    }));
  };

  test.each([
    ["reserved", [516, 26], 13],
    ["prepaid", [503, 1_006], 13],
    ["postpaid", [13, 26], 13],
  ] as const)("%s", (graphqlCharge, [first, second], actual) => {
    expect(shown({ semantics: { graphqlCharge } })).toEqual([
      { tookMs: 120, status: 200, actual, current: first },
      { tookMs: 120, status: 200, actual, current: second },
    ]);
  });

  test("a refused one is answered at once", () => {
    const answers = shown({ user: { graphql: { limit: 600 } } });
    expect(answers.map(({ status, tookMs }) => [status, tookMs])).toEqual([
      [429, 20],
      [200, 120],
    ]);
  });
});

describe("the run's end", () => {
  const agents = { clients: 3, behaviour: worker({ calls: [{ call: user }], think: "150ms" }) };

  test("nothing is sent at `duration` or later; what is on the way is answered", () => {
    const calls = run(scenarioOf({ agents }), { durationMs: 1_000 });
    for (const { sent } of calls) expect(sent).toBeLessThan(START + 1_000);
    expect(calls.at(-1)?.received).toBeGreaterThan(START + 850);
    const edge = { clients: 1, behaviour: poller({ every: "500ms", call: user }) };
    expect(run(scenarioOf({ edge }), { durationMs: 1_000 }).map(({ sent }) => sent - START)).toEqual([
      0, 500,
    ]);
  });

  test("clients that would begin later never do", () => {
    const late = { ...agents, startWithin: "10m", clients: 50 };
    const calls = run(scenarioOf({ late }));
    expect(new Set(calls.map(({ client }) => client)).size).toBeLessThan(20);
  });

  test("a signal ends it early and leaves a whole trace", () => {
    const signal = { aborted: false };
    const calls: TraceCall[] = [];
    for (const call of simulate(scenarioOf({ agents }), { signal }).calls) {
      calls.push(call);
      signal.aborted = calls.length >= 30;
    }
    const endMs = calls[29]?.received ?? 0;
    for (const { sent } of calls) expect(sent).toBeLessThanOrEqual(endMs);
    expect(calls.length).toBeLessThan(34);
    expect(calls).toEqual(run(scenarioOf({ agents })).slice(0, calls.length));
  });
});

test("arrivals begin a client each, by the schedule, with users in turn", () => {
  const open = {
    arrivals: { executor: "constant-arrival-rate", rate: 1, timeUnit: "20s", preAllocatedVUs: 1 },
    user: 2,
    behaviour: burst({ call: user, size: 1 }),
  } as const;
  const seen = run(scenarioOf({ open })).map(({ client, user, sent }) => [client, user, sent - START]);
  expect(seen).toEqual([
    ["open/0", "open-0", 0],
    ["open/1", "open-1", 20_000],
    ["open/2", "open-0", 40_000],
  ]);
});

test("a fleet's clients send nothing after their stay, and are answered", () => {
  const stages = [
    { target: 3, duration: "3s" },
    { target: 1, duration: "2s" },
  ];
  const fleet = {
    arrivals: { executor: "ramping-vus", startVUs: 0, stages },
    behaviour: poller({ every: "100ms", call: user }),
  } as const;
  const calls = run(
    scenarioOf({ fleet }, { user: { rest: { limit: 1_000 } } }, { latency: 150, execution: 0 }),
  );
  const spans = new Map<string, [number, number]>();
  for (const { client, sent } of calls) {
    const first = spans.get(client)?.[0] ?? sent - START;
    spans.set(client, [first, sent - START]);
  }
  // Each call takes 300 ms, so that a poll comes every 300 ms, the last one before 5 s, 5 s (4 s) and 4 s (3 s).
  expect([...spans]).toEqual([
    ["fleet/0", [1_000, 4_900]],
    ["fleet/1", [2_000, 4_700]],
    ["fleet/2", [3_000, 3_900]],
  ]);
  expect(calls.every((call) => call.received === call.sent + 300)).toBe(true);
});

test("a pool of tokens is a number of users: its clients are in each other's windows", () => {
  const pool = { clients: 6, user: 2, behaviour: burst({ call: user, size: 2 }) };
  const calls = run(scenarioOf({ pool }, { user: { rest: { limit: 5 } } }));
  const statuses = (name: string) => calls.filter((call) => call.user === name).map((call) => call.status);
  // Clients 0, 2 and 4 are the one user, 1, 3 and 5 the other: six calls each into a window of five.
  expect(statuses("pool-0")).toEqual([200, 200, 200, 200, 200, 429]);
  expect(statuses("pool-1")).toEqual([200, 200, 200, 200, 200, 429]);
  expect(new Set(calls.filter((call) => call.user === "pool-0").map(({ client }) => client))).toEqual(
    new Set(["pool/0", "pool/2", "pool/4"]),
  );
  expect(calls.filter((call) => call.user === "pool-0").map((call) => call.userRemaining)).toEqual([
    4, 3, 2, 1, 0, 0,
  ]);
});

test("with tokens the trace has their users, and never a token", () => {
  const tokens = ["ann", "bob"].map((name) => ({
    token: `secret-${name}`,
    user: name,
    organization: "globex",
    scopes: [],
  }));
  const agents = { clients: 2, behaviour: burst({ call: user, size: 1 }) };
  const scenario = scenarioOf({ agents });
  expect(
    run(scenario, { tokens })
      .map((call) => `${call.org}/${call.user}`)
      .sort(),
  ).toEqual(["globex/ann", "globex/bob"]);
  expect(text(scenario, { tokens })).not.toContain("secret");
});

test("rules of the run take the place of the scenario's", () => {
  const agents = { clients: 1, behaviour: burst({ call: user, size: 3 }) };
  const rules = parseRules({ user: { rest: { limit: 2 } } });
  const statuses = run(scenarioOf({ agents }), { rules }).map((call) => call.status);
  expect(statuses).toEqual([200, 200, 429]);
});

describe("a behaviour at fault is named, with client and virtual time", () => {
  const faulty = (next: Behaviour["next"]) => {
    const behaviour: Behaviour = { name: "mine", calls: [user], inFlightMost: 2, start: () => ({}), next };
    return () => run(scenarioOf({ agents: { clients: 1, behaviour } }));
  };

  test.each<[string, Behaviour["next"], string]>([
    [
      "one that throws",
      (_record, event, out) => {
        if (event.kind !== STARTED) throw new Error("out of luck");
        out.send(0, event.nowMs + 5_000);
      },
      "failed at 2026-01-01T00:00:05.020Z\n  agents/0 (mine): got out of luck, allowed: no exception",
    ],
    [
      "a time that is none",
      (_record, _event, out) => out.send(0, Number.NaN),
      "agents/0 (mine): got a call at NaN, allowed: a time in whole ms since the epoch",
    ],
    [
      "a time from now in place of an instant",
      (_record, _event, out) => out.send(0, 1_000),
      "agents/0 (mine): got a call at 1000, allowed: a time in whole ms since the epoch, not before the run",
    ],
    [
      "a call that it does not have",
      (_record, event, out) => out.send(1, event.nowMs),
      "agents/0 (mine): got call 1, allowed: 0 to 0, an index of its calls",
    ],
    [
      "calls without end",
      (_record, event, out) => {
        out.send(0, event.nowMs);
        out.send(0, event.nowMs);
      },
      "agents/0 (mine): got 3 calls planned or on the way, allowed: at most 2",
    ],
    [
      "calls at one instant, without end: a scenario that never would",
      (_record, event, out) => {
        for (;;) out.send(0, event.nowMs);
      },
      "failed at 2026-01-01T00:00:00.000Z\n  agents/0 (mine): got more than 100000 calls at the same instant",
    ],
    [
      "a time of parts of a millisecond",
      (_record, event, out) => out.send(0, event.nowMs + 0.5),
      "agents/0 (mine): got a call at 1767225600000.5, allowed: a time in whole ms since the epoch",
    ],
    [
      "a page that is none",
      (_record, event, out) => out.send(0, event.nowMs, Number.NaN),
      "agents/0 (mine): got page NaN, allowed: a whole number below 2^31",
    ],
    [
      "a number of a call that is none",
      (_record, event, out) => out.send(Number.NaN, event.nowMs),
      "agents/0 (mine): got call NaN, allowed: 0 to 0, an index of its calls",
    ],
    [
      "a retry at a time that is none",
      (_record, event, out) =>
        event.kind === STARTED ? out.send(0, event.nowMs) : out.retry(event, Number.NaN),
      "failed at 2026-01-01T00:00:00.020Z\n  agents/0 (mine): got a call at NaN",
    ],
  ])("%s", (_, next, message) => {
    expect(faulty(next)).toThrow(expect.objectContaining({ code: "SCENARIO_FAILED" }));
    expect(faulty(next)).toThrow(message);
  });

  test("a client that cannot begin, at the instant at which it comes", () => {
    const behaviour: Behaviour = {
      name: "mine",
      calls: [user],
      inFlightMost: 1,
      start: () => {
        throw new Error("no beginning");
      },
      next: () => {},
    };
    const arrivals = { executor: "cron", schedule: "* * * * *", clients: 1, preAllocatedVUs: 1 } as const;
    const scenario = { ...scenarioOf({ open: { arrivals, behaviour } }), startAtMs: START + 20_000 };
    expect(() => run({ ...scenario, durationMs: 120_000 })).toThrow(
      "failed at 2026-01-01T00:01:00.000Z\n  open/0 (mine): got no beginning, allowed: no exception",
    );
  });

  test.each([
    ["a negative delay", -5, "late asks for a retry 5 ms before the answer, a negative delay"],
    ["a delay of NaN", Number.NaN, "got a call at NaN, allowed: a time in whole ms since the epoch"],
  ])("a policy with %s", (_, delayMs, message) => {
    const onRefused = {
      name: "late",
      retryAt: (_record: object, event: { nowMs: number }) => event.nowMs + delayMs,
    };
    const agents = { clients: 1, behaviour: burst({ call: user, size: 2 }), onRefused };
    const faulty = () => run(scenarioOf({ agents }, { user: { rest: { limit: 1 } } }));
    expect(faulty).toThrow(expect.objectContaining({ code: "SCENARIO_FAILED" }));
    expect(faulty).toThrow(message);
    expect(faulty).toThrow("failed at 2026-01-01T00:00:00.020Z\n  agents/0 (burst)");
  });

  test("a policy that throws", () => {
    const onRefused = {
      name: "broken",
      retryAt: () => {
        throw new Error("no idea");
      },
    };
    const agents = { clients: 1, behaviour: burst({ call: user, size: 2 }), onRefused };
    expect(() => run(scenarioOf({ agents }, { user: { rest: { limit: 1 } } }))).toThrow(/agents\/0.*no idea/);
  });
});

test("calls of each client are numbered from 0, in the order in which it makes them", () => {
  const calls = run(scenarioOf({ pollers: { clients: 2, behaviour: poller({ every: "10s", call: user }) } }));
  for (const client of ["pollers/0", "pollers/1"])
    expect(calls.filter((call) => call.client === client).map(({ call }) => call)).toEqual([
      0, 1, 2, 3, 4, 5,
    ]);
});
