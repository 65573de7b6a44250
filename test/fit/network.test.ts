// The network of a recording: round trips, execution beyond them, and how late clients wake.
import { describe, expect, test } from "vitest";
import { fittedNetwork } from "../../sim/fit/network.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";

interface Given {
  readonly operation?: string;
  readonly atMs?: number;
  readonly lastsMs?: number;
  readonly wantedMs?: number;
  readonly attempt?: number;
  readonly status?: number;
  readonly free?: boolean;
}
function call({
  operation = "rest",
  atMs = 5000,
  lastsMs = 10,
  wantedMs = atMs,
  attempt = 0,
  status = 200,
  free = false,
}: Given): RecordedCall {
  const kind = { operation, asked: undefined, free, cost: 1, actual: 1, key: operation };
  return new RecordedCall({ atMs, endMs: atMs + lastsMs, wantedMs, attempt, status, said: null, kind });
}
const network = (calls: readonly Given[], more: Partial<Recording> = {}) =>
  fittedNetwork({
    ...{ knowsDurations: true, knowsAttempts: true, callers: [{ calls: calls.map(call) }] },
    ...more,
  } as unknown as Recording);
const constant = (ms: number) => ({ kind: "constant", ms });
const many = (given: Given, count = 20): Given[] => new Array(count).fill(given);

test("nothing is known where nothing says how long calls took, or no call has an answer", () => {
  const unknown = { roundTrip: null, execution: null, lateness: null };
  expect(network(many({}), { knowsDurations: false })).toEqual({
    ...unknown,
    reason: "nothing says how long calls took: the simulator's defaults",
  });
  const unanswered = [
    { status: 0 },
    { operation: "graphql", status: 500 },
    { operation: "graphql", free: true },
  ];
  expect(network(unanswered)).toEqual({
    ...unknown,
    reason: "no call has an answer: the simulator's defaults",
  });
});

describe("a round trip", () => {
  test("is that of REST, of refusals, and at least 1 ms", () => {
    expect(network(many({ lastsMs: 40 }))).toEqual({
      roundTrip: constant(40),
      execution: null,
      lateness: null,
      reason: "20 REST calls: median 40ms, nine in ten from 40ms to 40ms",
    });
    expect(network(many({ operation: "graphql", status: 429, lastsMs: 40 })).roundTrip).toEqual(constant(40));
    expect(network(many({ lastsMs: 40, status: 500 })).roundTrip).toEqual(constant(40));
    expect(network(many({ lastsMs: 0 })).roundTrip).toEqual(constant(1));
  });

  test("is taken as short as can be where queries alone are known", () => {
    expect(network([{ operation: "graphql", lastsMs: 31 }])).toEqual({
      roundTrip: constant(1),
      execution: constant(30),
      lateness: null,
      reason: "1 query: median 31ms, nine in ten from 31ms to 31ms",
    });
  });
});

describe("the execution of a query", () => {
  test("is what it takes beyond a round trip", () => {
    const { roundTrip, execution, reason } = network([
      ...many({ lastsMs: 40 }),
      ...many({ operation: "graphql", lastsMs: 140 }),
    ]);
    expect([roundTrip, execution]).toEqual([constant(40), constant(100)]);
    expect(reason).toBe(
      "20 REST calls: median 40ms, nine in ten from 40ms to 40ms; 20 queries: median 140ms, nine in ten from 140ms to 140ms",
    );
    const shorter = network([...many({ lastsMs: 40 }), ...many({ operation: "graphql", lastsMs: 30 })]);
    expect(shorter.execution).toEqual(constant(0));
  });

  test("has the deviation that round trips leave", () => {
    // Trips of 70 and 130 deviate by 30, queries of 150 and 250 by 50: 40 are left, around 100.
    const both = (operation: string, less: number, more: number): Given[] => [
      ...many({ operation, lastsMs: less }, 60),
      ...many({ operation, lastsMs: more }, 60),
    ];
    const { execution } = network([...both("rest", 70, 130), ...both("graphql", 150, 250)]);
    if (execution?.kind !== "quantiles") throw new Error(JSON.stringify(execution));
    expect([Math.min(...execution.quantiles), Math.max(...execution.quantiles)]).toEqual([60, 140]);
    // Trips that deviate by more explain all of it.
    const wide = network([...both("rest", 40, 160), ...both("graphql", 150, 250)]).execution;
    expect(wide).toEqual(constant(100));
  });

  test("is that of a policy's queries, by its routes", () => {
    const policy = parsePolicy(presets["github"]?.policy);
    const made = [...many({ operation: "read", lastsMs: 40 }), ...many({ operation: "query", lastsMs: 140 })];
    expect(network([...made, ...many({ operation: "status", lastsMs: 40 })], { policy })).toMatchObject({
      roundTrip: constant(40),
      execution: constant(100),
    });
  });
});

describe("how late clients wake", () => {
  const waking = (lateMs: number, more: Given = {}): Given[] => [
    { atMs: 0, lastsMs: 1000 - (more.lastsMs === undefined ? 1 : 0) },
    ...Array.from({ length: 40 }, (_, index) => {
      const wantedMs = 1000 * (index + 1);
      return { atMs: wantedMs + lateMs, wantedMs, ...more };
    }),
  ];
  test("is seen in first attempts that were wanted after the last answer", () => {
    expect(network(waking(7)).lateness).toEqual(constant(7));
    expect(network(waking(1)).lateness).toEqual(constant(1));
    expect(network(waking(0)).lateness).toBeNull();
    expect(network(waking(7), { knowsAttempts: false }).lateness).toBeNull();
    expect(network(waking(7, { attempt: 1 })).lateness).toBeNull();
    expect(network(waking(7, { lastsMs: 993 })).lateness).toBeNull();
    expect(network(waking(7, { lastsMs: 992 })).lateness).toEqual(constant(7));
    expect(network(waking(-1)).lateness).toBeNull();
  });

  test("is not seen while an earlier call is open", () => {
    expect(network([{ atMs: 0, lastsMs: 90_000 }, ...waking(7)]).lateness).toBeNull();
    expect(network([{ atMs: 100, wantedMs: 50 }]).lateness).toBeNull();
  });
});

test("of very many durations every second, third, ... is taken", () => {
  const { reason } = network(many({}, 100_001));
  expect(reason).toBe("50,001 REST calls: median 10ms, nine in ten from 10ms to 10ms");
  expect(network(many({}, 100_000)).reason).toContain("100,000 REST calls");
});
