import { expect, test } from "vitest";
import { poller, rest, waitReset } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const everyTenSeconds = () => new Rig(poller({ every: "10s", call: rest("/v2/user") }));

test("the first call comes at the client's start", () => {
  expect(everyTenSeconds().start(1_234)).toMatchObject([
    { atMs: 1_234, wantedMs: 1_234, template: 0, attempt: 0 },
  ]);
});

// Ticks at 1,000, 11,000, 21,000, 31,000.
test.each([
  [1_000, 11_000, "an answer at once"],
  [10_999, 11_000, "an answer just before the next tick"],
  [11_000, 11_000, "an answer on the next tick's millisecond takes that tick"],
  [11_001, 21_000, "a late answer misses a tick"],
  [30_999, 31_000, "a very late answer misses two"],
])("answered at %i, the next call comes at %i: %s", (answeredMs, nextMs) => {
  const rig = everyTenSeconds();
  const call = rig.only(rig.start(1_000));
  expect(rig.answer(call, answeredMs)).toMatchObject([{ atMs: nextMs, wantedMs: nextMs, attempt: 0 }]);
});

test("ticks stay on the client's own clock face, however late calls are sent", () => {
  const rig = everyTenSeconds();
  let call = rig.only(rig.start(7));
  for (const answeredMs of [12_000, 47_000, 50_008]) call = rig.only(rig.answer(call, answeredMs));
  expect((call.atMs - 7) % 10_000).toBe(0);
});

test("a refused poll is retried as its policy says and is still wanted at its tick", () => {
  const rig = new Rig(poller({ every: "10s", call: rest("/v2/user") }), waitReset({ of: "organization" }));
  const call = rig.only(rig.start(0));
  const retry = rig.only(rig.answer(call, 50, { status: 429, remaining: 0, reset: 30 }));
  expect(retry).toMatchObject({ atMs: 30_050, wantedMs: 0, attempt: 1, delayMs: 30_000 });
  expect(times(rig.answer(retry, 30_060))).toEqual([40_000]);
});

test("a poll that gets no answer is not the last", () => {
  const rig = everyTenSeconds();
  expect(times(rig.answer(rig.only(rig.start(0)), 60_000, { status: 0 }))).toEqual([60_000]);
});
