import { describe, expect, test } from "vitest";
import { Likeness } from "../../sim/likeness.ts";
import { simulate } from "../../sim/simulate.ts";
import { defineScenario, pipelinesQuery, poller, rest, status, worker } from "../../src/scenario/index.ts";
import { seatingLike } from "../../src/scenario/seats.ts";
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
  const fallback = { latencyMs: { least: 1, most: 2 }, executionMs: { least: 3, most: 4 } };

  test("is found again, about", () => {
    const { latencyMs, executionMs } = likenessOf(simulate(measured).calls).network(fallback);
    // Two trips of 10 to 30 ms add up to 26 to 54 ms in nine cases of ten, and to 40 ms in the middle.
    expect(latencyMs.least).toBeGreaterThanOrEqual(12);
    expect(latencyMs.least).toBeLessThanOrEqual(14);
    expect(latencyMs.most).toBeGreaterThanOrEqual(26);
    expect(latencyMs.most).toBeLessThanOrEqual(28);
    expect(executionMs.least).toBeGreaterThanOrEqual(95);
    expect(executionMs.most).toBeLessThanOrEqual(205);
  });

  const call = (took: number, change: Partial<TraceCall> = {}): TraceCall => {
    const [first] = simulate(measured).calls;
    if (first === undefined) throw new Error("no call");
    return { ...first, scope: "rest", kind: "call", status: 200, received: first.sent + took, ...change };
  };

  test("a trip takes 1 ms at the least", () => {
    expect(likenessOf([call(0), call(1)]).network(fallback).latencyMs).toEqual({ least: 1, most: 1 });
  });

  test("calls without an answer say nothing of it", () => {
    const timedOut = call(60_000, { status: 0 });
    expect(likenessOf([call(20), timedOut]).network(fallback).latencyMs).toEqual({ least: 10, most: 10 });
  });

  test("what was never called stays as it was", () => {
    expect(likenessOf([]).network(fallback)).toEqual(fallback);
    expect(likenessOf([call(20)]).network(fallback)).toEqual({
      ...fallback,
      latencyMs: { least: 10, most: 10 },
    });
  });

  test("a query takes no less time than a REST call", () => {
    const quick = call(4, { scope: "graphql" });
    expect(likenessOf([call(20), quick]).network(fallback).executionMs).toEqual({ least: 0, most: 0 });
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
    const { seats } = seatingLike(measured, new Map([["agents/1", { organization: "globex", user: "ann" }]]));
    expect(seats.slice(0, 2)).toEqual([
      { organization: "acme", user: "agents-0", token: null },
      { organization: "globex", user: "ann", token: null },
    ]);
  });
});
