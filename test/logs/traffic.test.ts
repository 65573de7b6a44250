// A factor on traffic multiplies callers: every copy calls when the log's own caller does.
import { expect, test } from "vitest";
import type { LogBatch, LogRows } from "../../src/logs/rows.ts";
import { copiesOfCalls, multiplyCallers } from "../../src/logs/traffic.ts";
import { trafficOf } from "../../src/runs/log-flags.ts";
import { call } from "../trace/samples.ts";

/** Three users of one organization, two calls each in turn. */
function log(): LogRows {
  const callers = ["ann", "bob", "cid"].map((user) => ({ organization: "acme", user }));
  const places = [0, 1, 2, 0, 1, 2];
  const same = (value: number): number[] => places.map(() => value);
  const batch: LogBatch = {
    count: places.length,
    atMs: Float64Array.from(places, (_, place) => 1000 * place),
    durationMs: Float64Array.from(same(Number.NaN)),
    caller: Int32Array.from(places),
    kind: Uint8Array.from(same(0)),
    cost: Int32Array.from(same(1)),
    actual: Int32Array.from(same(-1)),
    status: Int16Array.from(same(200)),
  };
  const batches = async function* (): AsyncGenerator<LogBatch> {
    yield batch;
  };
  return {
    batches: batches(),
    callers,
    read: 6,
    unread: 0,
    examples: [],
    unplaced: 0,
    anonymous: 0,
    notes: [],
  };
}

async function calls(factor: number): Promise<string[]> {
  const { batches, callers } = multiplyCallers(log(), factor);
  const said: string[] = [];
  for await (const { count, caller, atMs, cost, actual, status, durationMs } of batches)
    for (let row = 0; row < count; row++) {
      said.push(`${(atMs[row] ?? 0) / 1000} ${callers[caller[row] ?? -1]?.user}`);
      expect([cost[row], actual[row], status[row], durationMs[row]]).toEqual([1, -1, 200, Number.NaN]);
    }
  return said;
}

test("2x has each caller twice, at the same instants", async () => {
  expect((await calls(2)).slice(0, 6)).toEqual(["0 ann", "0 ann#2", "1 bob", "1 bob#2", "2 cid", "2 cid#2"]);
  expect(await calls(2)).toHaveLength(12);
});

test("1.5x has every second caller twice, 0.5x every second one alone, 1x all as they are", async () => {
  expect((await calls(1.5)).slice(0, 4)).toEqual(["0 ann", "1 bob", "1 bob#2", "2 cid"]);
  expect(await calls(0.5)).toEqual(["1 bob", "4 bob"]);
  expect(await calls(1)).toEqual(["0 ann", "1 bob", "2 cid", "3 ann", "4 bob", "5 cid"]);
});

test("factors are read as people write them", () => {
  const read = ["2x", "1.5x", "0.5", "10", undefined].map((traffic) => trafficOf({ traffic }));
  expect(read).toEqual([2, 1.5, 0.5, 10, 1]);
  for (const traffic of ["0", "-1x", "two", "2xx", "1001x", ""])
    expect(() => trafficOf({ traffic })).toThrow("--traffic");
});

test("a trace's users are multiplied with their clients", () => {
  const copies = copiesOfCalls(1.5);
  const named = (user: string | null, client: string): string[] =>
    copies({ ...call(), org: "acme", user, client }).map((copy) => `${copy.user} ${copy.client}`);
  expect(named("ann", "agents/0")).toEqual(["ann agents/0"]);
  expect(named("bob", "agents/1")).toEqual(["bob agents/1", "bob#2 agents/1#2"]);
  expect(named("bob", "agents/2")).toEqual(["bob agents/2", "bob#2 agents/2#2"]);
  expect(named(null, "agents/3")).toEqual(["null agents/3"]);
});

test.each([true, false])(
  "a copied row has all values of its own, and the names of its copy (attempts told: %j)",
  async (tells) => {
    const named = (user: string) => ({
      organization: "acme",
      user,
      attributes: { user, plan: "pro", tenant: user },
    });
    const numbers = (step: number) => Float64Array.of(step, 2 * step);
    const batch: LogBatch = {
      count: 2,
      atMs: numbers(1000.5),
      durationMs: numbers(2.5),
      caller: Int32Array.of(1, 0),
      kind: Uint8Array.of(1, 2),
      cost: Int32Array.of(3, 4),
      actual: Int32Array.of(5, 6),
      status: Int16Array.of(200, 429),
      attempt: tells ? Int32Array.of(7, 8) : undefined,
      wantedMs: tells ? numbers(900.5) : undefined,
    };
    const batches = async function* (): AsyncGenerator<LogBatch> {
      yield batch;
    };
    const rows = { ...log(), batches: batches(), callers: [named("ann"), named("bob")] };
    const copied = multiplyCallers(rows, 1.5);
    const found: LogBatch[] = [];
    for await (const one of copied.batches) found.push(one);
    expect(found).toEqual([
      {
        count: 3,
        atMs: Float64Array.of(1000.5, 1000.5, 2001),
        durationMs: Float64Array.of(2.5, 2.5, 5),
        caller: Int32Array.of(1, 2, 0),
        kind: Uint8Array.of(1, 1, 2),
        cost: Int32Array.of(3, 3, 4),
        actual: Int32Array.of(5, 5, 6),
        status: Int16Array.of(200, 200, 429),
        attempt: tells ? Int32Array.of(7, 7, 8) : undefined,
        wantedMs: tells ? Float64Array.of(900.5, 900.5, 1801) : undefined,
      },
    ]);
    expect(copied.callers).toEqual([
      named("ann"),
      named("bob"),
      { organization: "acme", user: "bob#2", attributes: { user: "bob#2", plan: "pro", tenant: "bob#2" } },
    ]);
  },
);
