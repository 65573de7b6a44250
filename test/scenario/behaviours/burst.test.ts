import { expect, test } from "vitest";
import { burst, rest } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const call = rest("/v2/user");

test("all calls of a burst are due at once", () => {
  const rig = new Rig(burst({ call, size: 3 }));
  expect(rig.start(500)).toMatchObject([500, 500, 500].map((ms) => ({ atMs: ms, wantedMs: ms })));
});

test("without `every` the client is over when its last call is answered", () => {
  const rig = new Rig(burst({ call, size: 2 }));
  const [first, second] = rig.start(0);
  if (first === undefined || second === undefined) throw new Error("two calls were expected");
  expect(rig.answer(second, 10)).toEqual([]);
  expect(rig.stopped).toBe(false);
  expect(rig.answer(first, 20)).toEqual([]);
  expect(rig.stopped).toBe(true);
});

test.each([
  [20, 60_000, "in time"],
  [60_000, 60_000, "on the tick"],
  [60_001, 120_000, "too late: that tick is missed"],
])("the last answer at %i, the next burst at %i: %s", (answeredMs, nextMs) => {
  const rig = new Rig(burst({ call, size: 2, every: "1m" }));
  const [first, second] = rig.start(0);
  if (first === undefined || second === undefined) throw new Error("two calls were expected");
  expect(rig.answer(first, 10)).toEqual([]);
  expect(times(rig.answer(second, answeredMs))).toEqual([nextMs, nextMs]);
});
