import { describe, expect, test } from "vitest";
import { queue, rest } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const call = rest("/v2/user");

test("all jobs are there at once: as many on the way as there are workers, each wanted from the start", () => {
  const rig = new Rig(queue({ call, jobs: 5, workers: 2 }));
  const first = rig.start(100);
  expect(first).toMatchObject([
    { atMs: 100, wantedMs: 100 },
    { atMs: 100, wantedMs: 100 },
  ]);
  const [a, b] = first;
  if (a === undefined || b === undefined) throw new Error("two calls were expected");
  const third = rig.only(rig.answer(a, 400));
  expect(third).toMatchObject({ wantedMs: 100 });
  rig.answer(b, 500);
  rig.answer(third, 600);
  expect(rig.stopped).toBe(false);
});

describe("jobs that come one after another", () => {
  const rig = () => new Rig(queue({ call, every: "1s", workers: 1 }));

  test("wait in the queue while the worker is busy, first in, first out", () => {
    const busy = rig();
    const first = busy.only(busy.start(0));
    const second = busy.only(busy.answer(first, 5_000));
    expect(second).toMatchObject({ atMs: 1_000, wantedMs: 1_000 });
    expect(times(busy.answer(second, 5_010))).toEqual([2_000]);
  });

  test("are waited for by a worker that is free", () => {
    const idle = rig();
    expect(times(idle.answer(idle.only(idle.start(0)), 20))).toEqual([1_000]);
  });
});

test("is over after its last job", () => {
  const rig = new Rig(queue({ call, jobs: 1, workers: 3 }));
  expect(rig.answer(rig.only(rig.start(0)), 9)).toEqual([]);
  expect(rig.stopped).toBe(true);
});

test("jobs without number need an interval", () => {
  expect(() => queue({ call, workers: 1 })).toThrow("queue.jobs");
});
