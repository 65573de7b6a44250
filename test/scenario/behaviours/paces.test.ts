// Pauses of several paces, and several calls at once: what a worker does with them.
import { describe, expect, test } from "vitest";
import { type PacesInput, rest, sessions, worker } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const calls = [{ call: rest("/v2/any") }];
/** Polls that grow further apart, twice at the longest, then two uploads and the end. */
const growing: PacesInput = {
  paces: [
    { think: "1s", next: [0, 1, 0, 0] },
    { think: "2s", next: [0, 0, 1, 0] },
    { think: "100ms", atOnce: 2, next: [0, 0, 0, 1] },
  ],
  first: [1, 0, 0],
};

test("each pause says by its pace what comes next, and when nothing does", () => {
  const rig = new Rig(worker({ calls, think: growing }));
  let call = rig.only(rig.start(0));
  for (const pauseMs of [1_000, 2_000]) {
    const answeredMs = call.atMs + 50;
    call = rig.only(rig.answer(call, answeredMs));
    expect(call.atMs - answeredMs).toBe(pauseMs);
  }
  const [one, other] = rig.answer(call, 10_000);
  expect([one?.atMs, other?.atMs]).toEqual([10_100, 10_100]);
  expect(rig.answer(one as typeof call, 10_200)).toEqual([]);
  expect(rig.stopped).toBe(false);
  expect(rig.answer(other as typeof call, 10_300)).toEqual([]);
  expect(rig.stopped).toBe(true);
});

test("a pace of several times asks what comes next when they are over, in each session anew", () => {
  const think: PacesInput = {
    paces: [
      { think: "1s", times: 3, next: [0, 1, 0] },
      { think: "5s", next: [0, 0, 1] },
    ],
    first: [1, 0],
  };
  const rig = new Rig(sessions({ of: worker({ calls, think }), away: "1h" }));
  let call = rig.only(rig.start(0));
  const pauses: number[] = [];
  for (let step = 0; step < 10; step++) {
    const next = rig.only(rig.answer(call, call.atMs));
    pauses.push((next.atMs - call.atMs) / 1_000);
    call = next;
  }
  expect(pauses).toEqual([1, 1, 1, 5, 3_600, 1, 1, 1, 5, 3_600]);
});

test("calls at once are thought about when all of them are answered, and never more than `jobs`", () => {
  const rig = new Rig(worker({ calls, think: "1s", atOnce: 3, jobs: 4 }));
  const volley = rig.start(0);
  expect(times(volley)).toEqual([0, 0, 0]);
  expect(rig.answer(volley[0] as never, 10)).toEqual([]);
  expect(rig.answer(volley[1] as never, 500)).toEqual([]);
  const last = rig.only(rig.answer(volley[2] as never, 20));
  expect(last.atMs).toBe(1_020);
  expect(rig.answer(last, 1_100)).toEqual([]);
  expect(rig.stopped).toBe(true);
});

test("a session ends as its paces say, and the next begins with the first pace", () => {
  const rig = new Rig(sessions({ of: worker({ calls, think: growing }), away: "1h" }));
  const pauses: number[] = [];
  let [call] = rig.start(0);
  for (let step = 0; step < 8 && call !== undefined; step++) {
    const { atMs } = call;
    const next = rig.answer(call, atMs);
    // Of two at once the other one is answered later.
    const after =
      next.length > 1 ? [...rig.answer(next[0] as never, (next[0]?.atMs ?? 0) + 1), next[1]] : next;
    call = after[0] as typeof call;
    if (call !== undefined) pauses.push(call.atMs - atMs);
  }
  expect(pauses).toEqual([1_000, 2_000, 100, 3_600_000, 1_000, 2_000, 100, 3_600_000]);
});

test("weights are chances", () => {
  const think: PacesInput = {
    paces: [
      { think: 1, next: [3, 1] },
      { think: 2, next: [1, 0] },
    ],
    first: [1, 0],
  };
  const rig = new Rig(worker({ calls, think }));
  let call = rig.only(rig.start(0));
  let long = 0;
  const draws = 10_000;
  for (let draw = 0; draw < draws; draw++) {
    const { atMs } = call;
    call = rig.only(rig.answer(call, atMs));
    if (call.atMs - atMs === 2) long += 1;
  }
  // One in five: of four pauses of the first pace one is followed by the second. Four deviations are 0.016.
  expect(Math.abs(long / draws - 0.2)).toBeLessThan(0.016);
});

describe("mistakes are named by their path", () => {
  test.each<[string, unknown, string]>([
    ["no paces", { paces: [], first: [] }, "worker.think.paces"],
    ["a weight too few", { paces: [{ think: 1, next: [] }], first: [1] }, "worker.think.paces.0.next"],
    ["no pause", { paces: [{ think: 1, times: 0, next: [1] }], first: [1] }, "worker.think.paces.0.times"],
    ["weights of nothing", { paces: [{ think: 1, next: [1] }], first: [0] }, "worker.think.first"],
    ["a pace of another form", { paces: [{ wait: 1, next: [1] }], first: [1] }, "worker.think.paces.0"],
    [
      "none at once",
      { paces: [{ think: 1, atOnce: 0, next: [1] }], first: [1] },
      "worker.think.paces.0.atOnce",
    ],
  ])("%s", (_name, think, path) => {
    expect(() => worker({ calls, think: think as PacesInput })).toThrow(path);
  });
});
