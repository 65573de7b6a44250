// A worker whose pace adapts: pauses grow by refusals, shrink with time, and last from one session to the next.
import { describe, expect, test } from "vitest";
import { fixed, rest, sessions, worker } from "../../../src/scenario/index.ts";
import { Rig } from "../rig.ts";

const calls = [rest("/v2/user")];
const adapt = { decrease: 0.5, increase: 0.6, least: 0.1 };
const adapting = worker({ calls, think: "1s", adapt });

/** Answers call after call, each 10 ms after it was sent, and returns the time until each next one. */
function pausesAfter(rig: Rig, statuses: readonly number[], startMs = 0): number[] {
  let call = rig.only(rig.start(startMs));
  return statuses.map((status) => {
    const nowMs = call.atMs + 10;
    call = rig.only(rig.answer(call, nowMs, { status }));
    return call.atMs - nowMs;
  });
}

test("a refusal halves the pace, and each minute of pauses adds to it, up to the full pace", () => {
  const pauses = pausesAfter(new Rig(adapting), [200, 429, 200, 200, 200, ...Array(60).fill(200)]);
  // Half the pace, then 0.02 more for the first two seconds, and so on.
  expect(pauses.slice(0, 5)).toEqual([1_000, 2_000, 2_000, 1_924, 1_855]);
  expect(pauses.at(-1)).toBe(1_000);
});

test("the pace falls no lower than `least`", () => {
  expect(pausesAfter(new Rig(adapting), [429, 429, 429, 429, 429])).toEqual([
    2_000, 4_000, 8_000, 10_000, 10_000,
  ]);
});

test.each([429, 500, 503, 0])(
  "a call that ends with status %d is made again, and is the same job",
  (status) => {
    const rig = new Rig(worker({ calls, think: "1s", adapt, jobs: 1 }));
    const [again] = rig.answer(rig.only(rig.start(5)), 20, { status });
    expect(again).toMatchObject({ attempt: 1, wantedMs: 5, atMs: 2_020 });
    expect(rig.stopped).toBe(false);
    expect(rig.answer(again as NonNullable<typeof again>, 2_030)).toEqual([]);
    expect(rig.stopped).toBe(true);
  },
);

test("each attempt of the retry policy slows it once, whoever made the last one", () => {
  const rig = new Rig(adapting, fixed({ wait: "100ms", attempts: 2 }));
  let call = rig.only(rig.start(0));
  call = rig.only(rig.answer(call, 10, { status: 429 }));
  expect([call.attempt, call.atMs]).toEqual([1, 110]);
  // The policy gives up: two refusals leave a quarter of the pace.
  call = rig.only(rig.answer(call, 120, { status: 429 }));
  expect([call.attempt, call.atMs]).toEqual([2, 4_120]);
  call = rig.only(rig.answer(call, 4_130));
  expect([call.attempt, call.atMs]).toEqual([0, 8_130]);
  // A new call counts its attempts anew.
  call = rig.only(rig.answer(call, 8_140, { status: 429 }));
  call = rig.only(rig.answer(call, 8_250));
  expect(call.atMs - 8_250).toBe(Math.ceil(1_000 / (0.5 * (0.25 + 0.04))));
});

test("pauses are drawn from a spread, and stretched", () => {
  const rig = new Rig(worker({ calls, think: { least: 100, most: 200 }, adapt: { ...adapt, increase: 0 } }));
  const pauses = pausesAfter(rig, [429, 429, ...Array(200).fill(200)]).slice(2);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(400);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(800);
  expect(new Set(pauses).size).toBeGreaterThan(50);
});

test("it keeps its pace from one session to the next", () => {
  const slow = worker({ calls, think: "1s", adapt: { ...adapt, increase: 0 } });
  const rig = new Rig(sessions({ of: slow, calls: 2, away: "1h" }));
  const pauses = pausesAfter(rig, [429, 200, 200, 429, 200, 200, 200]);
  expect(pauses.map((ms) => (ms < 3_600_000 ? ms : "away"))).toEqual([
    2_000,
    2_000,
    "away",
    4_000,
    4_000,
    "away",
    4_000,
  ]);
});

test("a call is made again after its session's end, too; nothing else begins then", () => {
  const rig = new Rig(sessions({ of: adapting, length: "1s", away: "1h" }));
  let call = rig.only(rig.start(0));
  const endMs = call.atMs + 1_000;
  call = rig.only(rig.answer(call, call.atMs + 10, { status: 429 }));
  expect([call.attempt, call.atMs]).toEqual([1, endMs + 1_010]);
  call = rig.only(rig.answer(call, call.atMs + 10));
  expect([call.attempt, call.atMs > endMs + 3_600_000]).toEqual([0, true]);
});

test("without numbers of its own it halves, adds a tenth a minute, and keeps a hundredth", () => {
  const rig = new Rig(worker({ calls, think: "1s", adapt: {} }));
  const pauses = pausesAfter(rig, [429, 200, 200, ...Array(8).fill(429)]);
  expect(pauses.slice(0, 3)).toEqual([2_000, 2_000, Math.ceil(1_000 / (0.5 + 0.2 / 60))]);
  expect(pauses.at(-1)).toBe(100_000);
});

describe("mistakes are named", () => {
  test.each([
    ["worker.adapt.decrease: got 1, allowed: a share above 0 and below 1", { decrease: 1 }],
    ["worker.adapt.decrease: got 0, allowed: a share above 0 and below 1", { decrease: 0 }],
    ["worker.adapt.increase: got -1, allowed: a share of the full pace, 0 or more", { increase: -1 }],
    ["worker.adapt.least: got 0, allowed: a share above 0 and at most 1", { least: 0 }],
    ["worker.adapt.least: got 1.5, allowed: a share above 0 and at most 1", { least: 1.5 }],
    ["worker.adapt.most", { most: 1 } as never],
  ])("%s", (said, wrong) => {
    expect(() => worker({ calls, think: "1s", adapt: wrong })).toThrow(said);
  });

  test("it goes with one call at a time, and with plain pauses above 0", () => {
    expect(() => worker({ calls, think: "1s", adapt: {}, atOnce: 2 })).toThrow(
      "worker.atOnce: got 2, allowed: nothing beside adapt",
    );
    const paces = { paces: [{ think: "1s", next: [1] }], first: [1] };
    for (const think of [undefined, 0, paces])
      expect(() => worker({ calls, ...(think === undefined ? {} : { think }), adapt: {} })).toThrow(
        "allowed: a time above 0, or a spread, beside adapt",
      );
  });
});
