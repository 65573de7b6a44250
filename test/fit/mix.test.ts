// The kinds of calls of a population: those that are kept, their weights, and the points that they take.
import { expect, test } from "vitest";
import type { Cluster } from "../../sim/fit/clusters.ts";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import { mixOf, mixOfAll } from "../../sim/fit/mix.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";

function jobOf(operation: string, actual = 1, status = 200, attempts = 1): RecordedJob {
  const kind = { operation, asked: undefined, free: false, cost: 5, actual, key: operation };
  const call = { atMs: 0, endMs: 1, wantedMs: 0, attempt: 0, status, said: null, kind };
  const job = new RecordedJob(new RecordedCall(call));
  job.attempts = attempts;
  return job;
}

/** A cluster of as many jobs of each kind as is said. */
function clusterOf(counts: Readonly<Record<string, number>>, jobs?: readonly RecordedJob[]): Cluster {
  const all = Object.entries(counts).flatMap(([name, count]) =>
    Array.from({ length: count }, () => jobOf(name)),
  );
  return {
    profiles: [{ jobs: jobs ?? all }] as unknown as Cluster["profiles"],
    mixture: false,
    mix: new Map(Object.entries(counts)),
    jobs: all.length,
  };
}
const weights = (counts: Readonly<Record<string, number>>, single = false) => {
  const { mix, unexplained } = mixOf(clusterOf(counts), single);
  return [Object.fromEntries(mix.map(({ operation, weight }) => [operation, weight])), unexplained];
};

test.each<[Readonly<Record<string, number>>, Readonly<Record<string, number>>, number]>([
  [{ a: 7 }, { a: 1 }, 0],
  [{ a: 300, b: 900 }, { b: 3, a: 1 }, 0],
  [{ a: 3, b: 5 }, { b: 1, a: 1 }, 0],
  // Both halves are as close as 100 jobs tell; those of 400 jobs tell 5 of 11.
  [{ a: 45, b: 55 }, { b: 1, a: 1 }, 0],
  [{ a: 189, b: 211 }, { b: 6, a: 5 }, 0],
  [{ a: 300, b: 500 }, { b: 5, a: 3 }, 0],
  [{ a: 1, b: 199 }, { b: 100, a: 1 }, 0],
  [{ a: 1, b: 200 }, { b: 1 }, 1],
  [{ a: 4, b: 4, c: 4, d: 4, e: 4, f: 3, g: 2 }, { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, 2],
])("the kinds of %j have the weights %j, and %d calls are of others", (counts, wanted, others) => {
  expect(weights(counts)).toEqual([wanted, others]);
});

test("a population of one kind has the most frequent one", () => {
  expect(weights({ a: 1, b: 2 }, true)).toEqual([{ b: 1 }, 1]);
});

test("weights that no hundred tells are thousandths", () => {
  const { mix } = mixOf(
    {
      ...clusterOf({}, [jobOf("a"), jobOf("b")]),
      mix: new Map([
        ["a", 300],
        ["b", 39_700],
      ]),
      jobs: 40_000,
    },
    false,
  );
  expect(mix.map(({ weight }) => weight)).toEqual([993, 8]);
});

test("a call takes the mean of what admitted ones took, and no more than it asks for", () => {
  const actualOf = (...jobs: RecordedJob[]) =>
    mixOf(clusterOf({ a: jobs.length }, jobs), false).mix.map(({ actual, weight, cost }) => [
      actual,
      weight,
      cost,
    ]);
  expect(actualOf(jobOf("a", 2), jobOf("a", 2), jobOf("a", 3), jobOf("a", 9, 429))).toEqual([[2, 1, 5]]);
  expect(actualOf(jobOf("a", 9))).toEqual([[5, 1, 5]]);
  expect(actualOf(jobOf("a", 2, 429))).toEqual([[5, 1, 5]]);
});

test("each attempt of a kind that is left out counts", () => {
  const jobs = [jobOf("a"), jobOf("b", 1, 200, 3), jobOf("b", 1, 200, 2)];
  expect(mixOf(clusterOf({ a: 900, b: 2 }, jobs), false).unexplained).toBe(5);
});

test("the mix of several callers is that of all their calls", () => {
  const callers = [
    { a: 300, b: 100 },
    { b: 500, c: 300 },
  ].map((counts) => ({ ...clusterOf(counts).profiles[0], mix: new Map(Object.entries(counts)) }));
  expect(mixOfAll(callers as never).map(({ operation, weight }) => [operation, weight])).toEqual([
    ["b", 2],
    ["a", 1],
    ["c", 1],
  ]);
});
