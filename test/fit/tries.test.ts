// Calls that are tries of a refused one: told by the span of time in which a policy makes them.
import { expect, test } from "vitest";
import { type Jobs, jobsWithin } from "../../sim/fit/jobs.ts";
import { limitsOf } from "../../sim/fit/limits.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import { UsualPauses } from "../../sim/fit/retries.ts";
import { triesInLoop, triesOf } from "../../sim/fit/tries.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { chanceOf } from "../worlds/chance.ts";

const kind = { operation: "rest", free: false, cost: 1, actual: 1, key: "rest 1" };
const limits = limitsOf({ rules: parseRules({}) });
/** A caller of calls that take no time. */
const callerOf = (calls: readonly (readonly [atMs: number, status: number])[]) => ({
  organization: "acme",
  user: "ann",
  group: null,
  calls: calls.map(
    ([atMs, status]) =>
      new RecordedCall({ atMs, endMs: atMs, wantedMs: atMs, attempt: -1, status, said: null, kind }),
  ),
});
const attemptsIn = ({ jobs }: Jobs) => jobs.map(({ startMs, attempts }) => [startMs, attempts]);

test("a call within the span is a try, to the millisecond", () => {
  const after = (waitMs: number) =>
    attemptsIn(
      jobsWithin(
        callerOf([
          [0, 429],
          [waitMs, 200],
        ]),
        limits,
        () => ({ least: 10, most: 20 }),
      ),
    );
  expect(after(9)).toEqual([
    [0, 1],
    [9, 1],
  ]);
  expect(after(10)).toEqual([[0, 2]]);
  expect(after(20)).toEqual([[0, 2]]);
  expect(after(21)).toEqual([
    [0, 1],
    [21, 1],
  ]);
});

test("of several that are due, the one whose span ends first is tried; each once", () => {
  const caller = callerOf([
    [0, 429],
    [5, 429],
    [100, 200],
    [101, 200],
    [102, 200],
  ]);
  const jobs = jobsWithin(caller, limits, ({ nowMs }) => ({ least: 50, most: nowMs === 0 ? 200 : 150 }));
  expect(jobs.retries.map(({ nowMs, waitMs }) => [nowMs, waitMs])).toEqual([
    [5, 95],
    [0, 101],
  ]);
  expect(attemptsIn(jobs)).toEqual([
    [0, 2],
    [5, 2],
    [102, 1],
  ]);
});

test("a failed call is tried at once, where calls have statuses", () => {
  const caller = callerOf([
    [0, 503],
    [1_000, 503],
    [2_001, 200],
  ]);
  expect(attemptsIn(jobsWithin(caller, limits, () => null))).toEqual([
    [0, 2],
    [2_001, 1],
  ]);
});

test("two loops that wait by turns are told apart, and what is given up", () => {
  const calls = Array.from({ length: 60 }, (_, round): [number, number][] => {
    const atMs = 20_000 * round;
    // Refused at 0 and at 400 ms, each tried a second later, and once more two seconds later, in vain.
    return [0, 400, 1_000, 1_400, 3_000, 3_400].map((ms) => [atMs + ms, 429]);
  }).flat();
  const { jobs, guess } = triesOf(callerOf(calls), limits, 5, new UsualPauses([17_000], 5));
  expect(guess?.retry).toMatchObject({ kind: "exponential", first: 1_000, factor: 2, jitter: "none" });
  expect(new Set(jobs.jobs.map(({ attempts }) => attempts))).toEqual(new Set([3]));
});

test("a loop that gives up goes on after its usual pause: the next call is no try of the one before", () => {
  const usualMs = Array.from({ length: 40 }, (_, round) => 200 + 20 * round);
  let atMs = 0;
  const calls = usualMs.flatMap((pauseMs): [number, number][] => {
    const fromMs = atMs;
    atMs += 7_000 + pauseMs;
    return [0, 1_000, 3_000, 7_000].map((ms) => [fromMs + ms, 429]);
  });
  const { jobs, guess } = triesOf(callerOf(calls), limits, 5, new UsualPauses(usualMs, 5));
  expect(guess?.retry).toMatchObject({ kind: "exponential", first: 1_000, factor: 2, jitter: "none" });
  expect(new Set(jobs.jobs.map(({ attempts }) => attempts))).toEqual(new Set([4]));
});

test("a loop leaves a refused call for good once it makes another one", () => {
  const retry = { kind: "fixed", wait: { least: 900, most: 1_100 } } as const;
  const calls: [number, number][] = [
    [0, 429],
    [1_000, 429],
    [1_250, 200],
    [2_000, 429],
    [3_000, 200],
  ];
  const jobs = triesInLoop(callerOf(calls), limits, 5, retry);
  expect(jobs && attemptsIn(jobs)).toEqual([
    [0, 2],
    [1_250, 1],
    [2_000, 2],
  ]);
  // Most refusals are followed by nothing in time.
  expect(triesInLoop(callerOf([...calls, [3_250, 429], [3_500, 429], [3_750, 200]]), limits, 5, retry)).toBe(
    null,
  );
});

test("retries after one wait are told from calls of others that come between", () => {
  const chance = chanceOf(3);
  // A call of others about every two seconds; one in eight is refused, and comes back ten seconds later.
  const others = Array.from(
    { length: 400 },
    (_, place) => 2_000 * place + Math.floor(chance.between(0, 1_900)),
  );
  const calls = others
    .flatMap((atMs, place) => {
      const refused = [atMs, 429] as const;
      return place % 8 === 0 ? [refused, [atMs + 10_000, 200] as const] : [[atMs, 200] as const];
    })
    .sort(([a], [b]) => a - b);
  const { guess, jobs } = triesOf(
    callerOf(calls),
    limits,
    6,
    new UsualPauses([0, 500, 1_000, 2_000, 3_900], 6),
  );
  expect(guess?.retry).toEqual({ kind: "fixed", wait: { least: 10_000, most: 10_000 } });
  expect(jobs.retries).toHaveLength(50);
});

test("polls that come a period after refused ones as after others are no retries", () => {
  const chance = chanceOf(4);
  const polls = Array.from(
    { length: 400 },
    (_, place) => [30_000 * place, place % 4 === 0 ? 429 : 200] as const,
  );
  const others = polls.map(([atMs]) => [atMs + Math.floor(chance.between(1_000, 29_000)), 200] as const);
  const calls = [...polls, ...others].sort(([a], [b]) => a - b);
  const { guess } = triesOf(callerOf(calls), limits, 6, new UsualPauses([0, 100, 200], 6));
  expect(guess?.retry).not.toMatchObject({ wait: { least: 30_000, most: 30_000 } });
});
