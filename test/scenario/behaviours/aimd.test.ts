import { expect, test } from "vitest";
import { aimd, rest } from "../../../src/scenario/index.ts";
import { Rig } from "../rig.ts";

const options = { call: rest("/v2/user"), start: 60, increase: 12, decrease: 0.5 };

test("each answer makes it a little faster, each refusal much slower", () => {
  const rig = new Rig(aimd(options));
  let call = rig.only(rig.start(0));
  const pauses: number[] = [];
  for (const status of [200, 200, 429, 200]) {
    const nowMs = call.atMs + 10;
    call = rig.only(rig.answer(call, nowMs, { status }));
    pauses.push(call.atMs - nowMs);
  }
  // 72, 84, 42 and 54 calls a minute.
  expect(pauses).toEqual([834, 715, 1_429, 1_112]);
});

test.each([0, 500, 503])("silence and failures slow it down as refusals do: status %d", (status) => {
  const rig = new Rig(aimd(options));
  const call = rig.only(rig.start(0));
  expect(rig.answer(call, 20, { status })).toMatchObject([{ attempt: 1, wantedMs: 0, atMs: 2_020 }]);
});

test("a refused call is made again, and was wanted when it was first due", () => {
  const rig = new Rig(aimd(options));
  const call = rig.only(rig.start(5));
  expect(rig.answer(call, 20, { status: 429 })).toMatchObject([{ attempt: 1, wantedMs: 5, atMs: 2_020 }]);
});

test("stays between `least` and `most`", () => {
  const rig = new Rig(aimd({ ...options, start: 60, least: 30, most: 61 }));
  let call = rig.only(rig.start(0));
  const pauseAfter = (status: number): number => {
    const nowMs = call.atMs + 1;
    call = rig.only(rig.answer(call, nowMs, { status }));
    return call.atMs - nowMs;
  };
  expect(pauseAfter(200)).toBe(Math.ceil(60_000 / 61));
  expect([pauseAfter(429), pauseAfter(429), pauseAfter(429)]).toEqual([1_968, 2_000, 2_000]);
});

test.each([
  ["start", { start: 0 }],
  ["decrease", { decrease: 1 }],
  ["increase", { increase: -1 }],
  ["most", { least: 10, most: 5 }],
])("a wrong %s is named", (name, wrong) => {
  expect(() => aimd({ ...options, ...wrong })).toThrow(`aimd.${name}`);
});
