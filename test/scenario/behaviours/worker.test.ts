import { describe, expect, test } from "vitest";
import { rest, worker } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const [often, seldom] = [rest("/v2/often"), rest("/v2/seldom")];

test("the first call comes at once, the next a think time after each answer", () => {
  const rig = new Rig(worker({ calls: [{ call: often }], think: "2s" }));
  const first = rig.only(rig.start(100));
  expect(first).toMatchObject({ atMs: 100, wantedMs: 100 });
  const second = rig.only(rig.answer(first, 150));
  expect(second).toMatchObject({ atMs: 2_150, wantedMs: 2_150 });
  expect(times(rig.answer(second, 5_000, { status: 429 }))).toEqual([7_000]);
});

test("after `jobs` answers it is over", () => {
  const rig = new Rig(worker({ calls: [{ call: often }], jobs: 2 }));
  const second = rig.only(rig.answer(rig.only(rig.start(0)), 10));
  expect(rig.stopped).toBe(false);
  expect(rig.answer(second, 20)).toEqual([]);
  expect(rig.stopped).toBe(true);
});

/** The first n calls of a worker that is always answered at once. */
function play(rig: Rig, n: number): { template: number; pauseMs: number }[] {
  let call = rig.only(rig.start(0));
  return Array.from({ length: n }, () => {
    const answered = call;
    call = rig.only(rig.answer(answered, answered.atMs));
    return { template: answered.template, pauseMs: call.atMs - answered.atMs };
  });
}

describe("draws", () => {
  const think = { least: 10, most: 12 };

  test("calls are chosen by weight", () => {
    const rig = new Rig(worker({ calls: [{ call: often, weight: 9 }, { call: seldom }], think }));
    const share = play(rig, 10_000).filter(({ template }) => template === 1).length / 10_000;
    // Four standard deviations of 10,000 draws at 0.1 are 0.012; the seed is fixed.
    expect(Math.abs(share - 0.1)).toBeLessThan(0.012);
  });

  test("a call without a weight stands for itself, and weighs 1", () => {
    const bare = new Rig(worker({ calls: [often, { call: seldom, weight: 3 }], think }));
    const whole = new Rig(worker({ calls: [{ call: often }, { call: seldom, weight: 3 }], think }));
    expect(play(bare, 200)).toEqual(play(whole, 200));
    expect(() => worker({ calls: [{ weight: 2 } as never] })).toThrow("worker.calls.0.call: got nothing");
    expect(() => worker({ calls: ["call" as never] })).toThrow(
      'worker.calls.0.call: got "call", allowed: a call, such as rest("/v2/user")',
    );
  });

  test("think times are whole milliseconds from `least` to `most`, each of them taken", () => {
    const rig = new Rig(worker({ calls: [{ call: often }], think }));
    expect(new Set(play(rig, 200).map(({ pauseMs }) => pauseMs))).toEqual(new Set([10, 11, 12]));
  });

  test("the same seed draws the same life, another one another", () => {
    const behaviour = worker({ calls: [{ call: often }, { call: seldom }], think: { least: 0, most: "1s" } });
    const life = (seed: number) => play(new Rig(behaviour, undefined, seed), 50);
    expect(life(7)).toEqual(life(7));
    expect(life(7)).not.toEqual(life(8));
  });
});
