import { describe, expect, test } from "vitest";
import { Likeness } from "../../sim/likeness.ts";
import { simulate } from "../../sim/simulate.ts";
import {
  defineScenario,
  pipelinesQuery,
  poller,
  queue,
  rest,
  status,
  worker,
} from "../../src/scenario/index.ts";
import type { Network } from "../../src/scenario/network.ts";
import { seatingLike, seatsOf } from "../../src/scenario/seats.ts";
import type { TraceCall } from "../../src/trace/record.ts";

const measured = defineScenario({
  name: "measured",
  duration: "5m",
  network: { latency: { least: 10, most: 30 }, execution: { least: 100, most: 200 } },
  populations: {
    agents: {
      clients: 10,
      behaviour: worker({ calls: [{ call: rest("/v2/user") }, { call: pipelinesQuery(10) }], think: "1s" }),
    },
    watchers: { clients: 1, behaviour: poller({ every: "5s", call: status() }) },
  },
});
const likenessOf = (calls: Iterable<TraceCall>): Likeness => {
  const likeness = new Likeness();
  for (const call of calls) likeness.add(call);
  return likeness;
};

describe("the network of a trace", () => {
  const fallback: Network = {
    latencyMs: { least: 1, most: 2 },
    roundTripMs: null,
    executionMs: { least: 3, most: 4 },
    latenessMs: { least: 0, most: 0 },
    loss: 0.01,
    timeoutMs: 9_000,
  };
  const roundTripMs = (value: number) => ({
    shape: "quantiles",
    shares: null,
    quantilesMs: Array(201).fill(value),
  });

  const took = (calls: Iterable<TraceCall>, scope: string): number[] =>
    Array.from(calls)
      .filter((call) => call.scope === scope && call.status === 200)
      .map((call) => call.received - call.sent)
      .sort((a, b) => a - b);
  const at = (sorted: readonly number[], share: number): number =>
    sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;

  test("is found again: simulated calls take what measured ones took", () => {
    const network = likenessOf(simulate(measured).calls).network(fallback);
    const again = simulate(measured, { network, seed: 99 });
    const [before, after] = [took(simulate(measured).calls, "rest"), took(again.calls, "rest")];
    // Two trips of 10 to 30 ms add up to a triangle from 20 to 60 ms; one draw for both gives the same one.
    for (const share of [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])
      expect(Math.abs(at(after, share) - at(before, share)), `at ${share}`).toBeLessThanOrEqual(2);
  });

  test("executed queries take what they took, but for the spread of their trips", () => {
    const network = likenessOf(simulate(measured).calls).network(fallback);
    const again = simulate(measured, { network, seed: 99 });
    const [before, after] = [took(simulate(measured).calls, "graphql"), took(again.calls, "graphql")];
    for (const share of [0.05, 0.25, 0.5, 0.75, 0.95])
      expect(Math.abs(at(after, share) - at(before, share)), `at ${share}`).toBeLessThanOrEqual(7);
  });

  test("what it has nothing to say of stays: loss and time-out", () => {
    expect(likenessOf(simulate(measured).calls).network(fallback)).toMatchObject({
      loss: 0.01,
      timeoutMs: 9_000,
    });
  });

  test("clients are as late as they were", () => {
    const late = { ...measured, network: { ...measured.network, latenessMs: { least: 5, most: 60 } } };
    const network = likenessOf(simulate(late).calls).network(fallback);
    const lateness = (scenario: typeof measured): number[] =>
      Array.from(simulate(scenario).calls)
        .filter(({ call }) => call > 0)
        .map(({ sent, wanted = Number.NaN }) => sent - wanted)
        .sort((a, b) => a - b);
    const [before, after] = [lateness(late), lateness({ ...measured, network, seed: 99 })];
    expect([at(before, 0), at(before, 1)]).toEqual([5, 60]);
    for (const share of [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1])
      expect(Math.abs(at(after, share) - at(before, share)), `at ${share}`).toBeLessThanOrEqual(2);
  });

  test("a job that waited for its worker was not late", () => {
    const jobs = { clients: 1, behaviour: queue({ call: rest("/v2/user"), jobs: 50, workers: 1 }) };
    const busy = defineScenario({ name: "busy", duration: "5m", populations: { jobs } });
    expect(likenessOf(simulate(busy).calls).network(fallback).latenessMs).toEqual(fallback.latenessMs);
  });

  const call = (took: number, change: Partial<TraceCall> = {}): TraceCall => {
    const [first] = simulate(measured).calls;
    if (first === undefined) throw new Error("no call");
    return { ...first, scope: "rest", kind: "call", status: 200, received: first.sent + took, ...change };
  };

  test("the first second, in which a run warms up, is left out where there is more", () => {
    const [cold, warm] = [call(40), call(3)];
    const later = { ...warm, sent: warm.sent + 1_000, received: warm.received + 1_000 };
    expect(likenessOf([cold, later]).network(fallback).roundTripMs).toEqual(roundTripMs(3));
    expect(likenessOf([cold]).network(fallback).roundTripMs).toEqual(roundTripMs(40));
  });

  test("a round trip takes 1 ms at the least", () => {
    expect(likenessOf([call(0), call(1)]).network(fallback).roundTripMs).toEqual(roundTripMs(1));
  });

  test.each([
    ["calls without an answer", { status: 0 }],
    ["refusals, which are quicker", { status: 429 }],
    ["failures", { status: 500 }],
    ["overload", { status: 503 }],
  ])("%s say nothing of it", (_, change) => {
    expect(likenessOf([call(20), call(60_000, change)]).network(fallback).roundTripMs).toEqual(
      roundTripMs(20),
    );
  });

  test("what was never called stays as it was", () => {
    expect(likenessOf([]).network(fallback)).toEqual(fallback);
    expect(likenessOf([call(20)]).network(fallback)).toEqual({ ...fallback, roundTripMs: roundTripMs(20) });
  });

  test("a query takes no less time than a REST call", () => {
    const quick = call(4, { scope: "graphql" });
    expect(likenessOf([call(20), quick]).network(fallback).executionMs).toEqual(roundTripMs(0));
  });
});

describe("the users of a trace", () => {
  const tokens = Array.from({ length: 11 }, (_, n) => ({
    token: `t${n}`,
    user: `person-${n}`,
    organization: "globex",
    scopes: [],
  }));

  test("sit where they sat", () => {
    const first = simulate(measured, { tokens });
    const seating = seatingLike(measured, likenessOf(first.calls).users);
    const again = simulate(measured, { seating });
    expect([...again.calls]).toEqual([...first.calls]);
  });

  test("clients that were not seen are named after their population", () => {
    const seating = seatingLike(measured, new Map([["agents/1", { organization: "globex", user: "ann" }]]));
    expect(seatsOf(measured, seating)[0]?.slice(0, 2)).toEqual([
      { organization: "acme", user: "agents-0", token: null },
      { organization: "globex", user: "ann", token: null },
    ]);
  });
});
