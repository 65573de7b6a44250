// Callers who do their parts in turn: jobs of one part never begin while another's is open, though by chance they would.
import { describe, expect, test } from "vitest";
import { RecordedJob } from "../../sim/fit/jobs.ts";
import type { FittedPart } from "../../sim/fit/model.ts";
import type { Profile } from "../../sim/fit/profile.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import type { FittedSpan } from "../../sim/fit/spread.ts";
import { areInTurn } from "../../sim/fit/turns.ts";

const kind = { operation: "rest", asked: undefined, free: false, cost: 1, actual: 1, key: "rest 1" };
/** Jobs of `lastingMs` at instants. */
const jobsAt = (lastingMs: number, startsMs: readonly number[]): RecordedJob[] =>
  startsMs.map(
    (atMs) =>
      new RecordedJob(
        new RecordedCall({
          atMs,
          endMs: atMs + lastingMs,
          wantedMs: atMs,
          attempt: 0,
          status: 200,
          said: null,
          kind,
        }),
      ),
  );
const steps = (fromMs: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => fromMs + 1000 * index);

interface Parts {
  readonly clocked?: readonly RecordedJob[];
  readonly woken?: readonly RecordedJob[];
  readonly rest?: readonly RecordedJob[];
  readonly retries?: number;
  readonly explained?: number;
}
function profileOf({ clocked = [], woken = [], rest = [], retries = 0, explained }: Parts): Profile {
  const apart = {
    timetables: [{ jobs: clocked }],
    wakes: [{ sessions: [{ jobs: woken }] }],
    rest: rest.length === 0 ? null : { jobs: rest },
  };
  return {
    apart,
    jobs: [...clocked, ...woken, ...rest],
    retries: new Array(retries).fill(null),
    guess: explained === undefined ? null : { explained },
  } as unknown as Profile;
}

const worker = { kind: "worker", think: { kind: "constant", ms: 0 }, atOnce: null, jobs: null } as const;
const parts = (...behaviours: object[]): FittedPart[] =>
  behaviours.map((behaviour) => ({ behaviour: behaviour as FittedPart["behaviour"], mix: [] }));
const two = parts({ kind: "poller", everyMs: 1000 }, worker);
/** 1,024 ms for each of 256 jobs; the slack of its clock is 5 ms. */
const recording = { startedAtMs: 0, endedAtMs: 262_144, resolutionMs: 0 } as Recording;
const inTurn = (profiles: readonly Profile[], of = two): boolean => areInTurn(profiles, of, recording);

// A job is open for 128 ms, besides slack. In each ms 1 of 2,048 jobs of the other part begins by chance: 16 meet.
const clocked = jobsAt(133, steps(0, 128));
const apart = profileOf({ clocked, rest: jobsAt(133, steps(500, 128)) });
const meeting = (count: number, more: Parts = {}): Profile =>
  profileOf({
    clocked,
    rest: jobsAt(133, [...steps(127, count), ...steps(500 + 1000 * count, 128 - count)]),
    ...more,
  });
const alone: Profile = { ...apart, apart: null };

describe("parts", () => {
  test("that never meet are done in turn", () => {
    expect(inTurn([apart])).toBe(true);
    expect(inTurn([profileOf({ clocked, woken: jobsAt(133, steps(500, 128)) })])).toBe(true);
  });

  test("may meet in a quarter of the cases in which they would by chance", () => {
    expect([4, 5].map((count) => inTurn([meeting(count)]))).toEqual([true, false]);
    expect([8, 9].map((count) => inTurn([meeting(count), apart]))).toEqual([true, false]);
  });

  test("meet only where the slack of the clock does not explain it", () => {
    const touching = (fromMs: number): Profile =>
      profileOf({ clocked, rest: jobsAt(133, [...steps(fromMs, 6), ...steps(6500, 122)]) });
    expect([127, 128].map((fromMs) => inTurn([touching(fromMs)]))).toEqual([false, true]);
  });

  test("have to be expected to meet five times", () => {
    const shorter = { ...recording, endedAtMs: 81_920 };
    const few = (lastingMs: number, restMs = lastingMs): Profile =>
      profileOf({ clocked: jobsAt(lastingMs, steps(0, 40)), rest: jobsAt(restMs, steps(500, 40)) });
    const are = (...profiles: Profile[]): boolean => areInTurn(profiles, two, shorter);
    expect([132, 133].map((lastingMs) => are(few(lastingMs)))).toEqual([false, true]);
    // Jobs that end within slack meet nobody.
    expect([260, 261].map((lastingMs) => are(few(lastingMs, 3)))).toEqual([false, true]);
    expect(are(few(132), alone)).toBe(false);
    const late = { ...recording, startedAtMs: 81_920, endedAtMs: 163_840 };
    expect(areInTurn([few(133)], two, late)).toBe(true);
  });

  test("meet by retries that the policy does not explain", () => {
    const rest = jobsAt(133, steps(500, 128));
    const retried = (retries: number) => inTurn([profileOf({ clocked, rest, retries, explained: 0.75 })]);
    expect([16, 17].map(retried)).toEqual([true, false]);
    expect([4, 5].map((count) => inTurn([meeting(count, { retries: 100 })]))).toEqual([true, false]);
  });

  test("of one caller alone say nothing", () => {
    expect(inTurn([alone])).toBe(false);
    expect([4, 5].map((count) => inTurn([meeting(count), alone]))).toEqual([true, false]);
  });

  test("of no time count by the millisecond", () => {
    const at = { ...recording, startedAtMs: 5, endedAtMs: 5 };
    const both = (lastingMs: number): Profile[] => [
      profileOf({ clocked: jobsAt(lastingMs, [1]), rest: jobsAt(lastingMs, [50]) }),
    ];
    expect([7, 8].map((lastingMs) => areInTurn(both(lastingMs), two, at))).toEqual([false, true]);
  });
});

describe("behaviours", () => {
  const span: FittedSpan & { kind: "uniform" } = { kind: "uniform", least: 1, most: 2 };
  const pace = { think: { kind: "constant", ms: 1 }, times: null, atOnce: null, next: [1] };
  const paced = (atOnce: object | null) => ({
    ...worker,
    think: { kind: "paces", paces: [pace, { ...pace, atOnce }], first: [1] },
  });
  const poller = { kind: "poller", everyMs: 1000 };
  test.each<[string, readonly object[], boolean]>([
    ["one", [poller], false],
    ["two", [poller, poller], true],
    ["one that makes several calls at once", [poller, { ...worker, atOnce: span }], false],
    ["one of paces", [poller, paced(null)], true],
    ["one of paces of several calls at once", [poller, paced(span)], false],
    ["a burst", [poller, { kind: "burst", size: 2, everyMs: null }], false],
    ["sessions", [poller, { kind: "sessions", of: worker }], true],
    [
      "sessions of several calls at once",
      [{ kind: "sessions", of: { ...worker, atOnce: span } }, poller],
      false,
    ],
  ])("%s", (_, behaviours, isInTurn) => {
    expect(inTurn([apart], parts(...behaviours))).toBe(isInTurn);
  });
});
