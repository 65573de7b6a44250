// The queue before servers, by cases and by a second reading: each call waits for the server that is free first, and is
// turned away where as many wait as may.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FULL, Servers } from "../../sim/servers.ts";
import type { Service } from "../../src/scenario/network.ts";
import { property } from "../support/property.ts";

type Queue = Pick<Service, "servers" | "queue">;
const serversOf = (queue: Queue): Servers => new Servers(queue as Service);

/** Takes calls at times, each of 10 ms. */
const taken = (queue: Queue, ...timesMs: readonly number[]): number[] => {
  const servers = serversOf(queue);
  return timesMs.map((ms) => servers.take(ms, 10));
};

test.each<[Queue, times: number[], done: number[]]>([
  [{ servers: 1, queue: null }, [0, 0, 5, 40], [10, 20, 30, 50]],
  [{ servers: 2, queue: null }, [0, 0, 5, 5, 5], [10, 10, 20, 20, 30]],
  [{ servers: 1, queue: 0 }, [0, 9, 10, 19, 20], [10, FULL, 20, FULL, 30]],
  // At 10 the second call begins, and leaves its place to another.
  [{ servers: 1, queue: 1 }, [0, 1, 2, 9, 10, 10], [10, 20, FULL, FULL, 30, FULL]],
  [{ servers: 1, queue: 2 }, [0, 1, 1, 1, 10, 10, 30], [10, 20, 30, FULL, 40, FULL, 50]],
])("%j takes calls at %j until %j", (queue, times, done) => {
  expect(taken(queue, ...times)).toEqual(done);
});

test("a long queue is served in turn, however often it grows and moves on", () => {
  const servers = serversOf({ servers: 1, queue: null });
  const times = Array.from({ length: 1_000 }, (_, at) => at * 7);
  expect(times.map((ms) => servers.take(ms, 10))).toEqual(times.map((_, at) => 10 * (at + 1)));
});

/** Times at which calls are done, by looking at all calls before each. */
function slowly(
  { servers, queue }: Queue,
  calls: readonly (readonly [ms: number, busyMs: number])[],
): number[] {
  const made: { readonly beginMs: number; readonly doneMs: number }[] = [];
  return calls.map(([nowMs, busyMs]) => {
    const free = made.map(({ doneMs }) => doneMs).toSorted((one, other) => other - one);
    const beginMs = Math.max(nowMs, free[servers - 1] ?? 0);
    const waiting = made.filter((one) => one.beginMs > nowMs).length;
    if (beginMs > nowMs && queue !== null && waiting >= queue) return FULL;
    made.push({ beginMs, doneMs: beginMs + busyMs });
    return beginMs + busyMs;
  });
}

describe("any calls", () => {
  const queue = fc.record({
    servers: fc.integer({ min: 1, max: 7 }),
    queue: fc.option(fc.integer({ min: 0, max: 90 }), { nil: null }),
  });
  const calls = fc.array(fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 40 })), { maxLength: 200 });
  property([queue, calls], { numRuns: 60 })("are served as a slow reading says", (given, drawn) => {
    const timed = drawn.map(([, busyMs], at) => {
      const nowMs = drawn.slice(0, at + 1).reduce((sum, [laterMs]) => sum + laterMs, 0);
      return [nowMs, busyMs] as const;
    });
    const servers = serversOf(given);
    expect(timed.map(([ms, busyMs]) => servers.take(ms, busyMs))).toEqual(slowly(given, timed));
  });
});
