import { describe, expect, test } from "vitest";
import { paced, pipelinesQuery, rest, status } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const calls = [{ call: rest("/v2/user") }];
const shown = { limit: 200, remaining: 100, reset: 30, userLimit: 50, userRemaining: 50, userReset: 30 };

/** Returns its pause after an answer. */
function pause(options: Partial<Parameters<typeof paced>[0]>, answer: object): number {
  const rig = new Rig(paced({ calls, ...options }));
  return (times(rig.answer(rig.only(rig.start(0)), 1_000, answer))[0] ?? 0) - 1_000;
}

describe("the pause", () => {
  test.each([
    ["the user's window is the tighter one: 30 s over 50 calls", {}, shown, 600],
    ["the organization's is: 30 s over 10 calls", {}, { ...shown, remaining: 10 }, 3_000],
    ["the organization's is shared by four", { sharedBy: 4 }, shown, 1_200],
    ["rounded up to a whole millisecond", {}, { ...shown, remaining: 7 }, 4_286],
    ["nothing is left: to the reset", {}, { ...shown, remaining: 0, reset: 12 }, 12_000],
    ["too little is left for the share: to the reset", { sharedBy: 200 }, shown, 30_000],
    ["never less than `least`", { least: "5s" }, shown, 5_000],
    ["nothing is shown: at once", {}, {}, 0],
  ])("%s", (_, options, answer, expected) => {
    expect(pause(options, answer)).toBe(expected);
  });

  test("counts points where the call costs points", () => {
    const call = pipelinesQuery(97);
    const answer = { remaining: 1_000, reset: 100, userRemaining: 5_000, userReset: 100 };
    expect(call.cost).toBe(100);
    expect(pause({ calls: [{ call }] }, answer)).toBe(10_000);
  });

  test("a free call needs no distance, in a window with nothing left either", () => {
    expect(pause({ calls: [{ call: status() }] }, { ...shown, remaining: 0 })).toBe(0);
  });
});

test("after its jobs it is over", () => {
  const rig = new Rig(paced({ calls, jobs: 1 }));
  expect(rig.answer(rig.only(rig.start(0)), 9)).toEqual([]);
  expect(rig.stopped).toBe(true);
});
