import { expect, test } from "vitest";
import type { PlannedCall } from "../../../src/scenario/client.ts";
import { burst, poller, rest, sessions, together, worker } from "../../../src/scenario/index.ts";
import { Rig, times } from "../rig.ts";

const [polls, jobs] = [rest("/v2/polls"), rest("/v2/jobs")];

test("every part does what it does alone", () => {
  const parts = [
    worker({ calls: [{ call: jobs }], think: "3s", jobs: 2 }),
    poller({ call: polls, every: "5s" }),
    worker({ calls: [{ call: jobs }], think: "1s", jobs: 3 }),
  ];
  const rig = new Rig(together(parts));
  const planned = rig.start(0);
  expect(planned.map(({ template }) => template)).toEqual([0, 1, 2]);
  const lives = planned.map((first) => {
    const sent = [first.atMs];
    let [call] = rig.answer(first, first.atMs);
    while (call !== undefined && sent.length < 5) {
      expect(call.template).toBe(first.template);
      sent.push(call.atMs);
      [call] = rig.answer(call, call.atMs);
    }
    return sent;
  });
  expect(lives).toEqual([
    [0, 3_000],
    [0, 5_000, 10_000, 15_000, 20_000],
    [0, 1_000, 2_000],
  ]);
});

test("is over when all parts are", () => {
  const rig = new Rig(together([burst({ call: polls, size: 1 }), burst({ call: jobs, size: 1 })]));
  const [a, b] = rig.start(0) as [PlannedCall, PlannedCall];
  rig.answer(a, 10);
  expect(rig.stopped).toBe(false);
  rig.answer(b, 20);
  expect(rig.stopped).toBe(true);
});

test("in turn, what is due waits until the call before it is answered", () => {
  const parts = [
    worker({ calls: [{ call: jobs }], think: "1s", jobs: 3 }),
    poller({ call: polls, every: "5s" }),
    worker({ calls: [{ call: jobs }], think: "20s", jobs: 2 }),
  ];
  const behaviour = together(parts, { inTurn: true });
  expect(behaviour.inFlightMost).toBe(1);
  const rig = new Rig(behaviour);
  const sent: (readonly [template: number, atMs: number])[] = [];
  let planned = rig.start(0);
  for (const tookMs of [10, 20, 30, 2_000, 40, 7_000, 50, 60, 70]) {
    expect(planned).toHaveLength(1);
    const [call] = planned as [PlannedCall];
    sent.push([call.template, call.atMs]);
    planned = rig.answer(call, call.atMs + tookMs);
  }
  expect(sent).toEqual([
    [0, 0],
    [1, 10],
    [2, 30],
    [0, 1_010],
    [0, 4_010],
    [1, 5_010],
    // Two ticks of the poller went by meanwhile.
    [1, 15_010],
    [1, 20_010],
    [2, 20_070],
  ]);
});

test("in turn, a session that a timetable began is not interrupted; one that an absence ended is", () => {
  const hourMs = 3_600_000;
  const of = worker({ calls: [{ call: jobs }], think: "10s" });
  const loop = worker({ calls: [{ call: polls }], think: "4s" });
  const sentBy = (part: Parameters<typeof together>[0][number]): number[] => {
    const rig = new Rig(together([loop, part], { inTurn: true }));
    let [call] = rig.start(hourMs - 6_000);
    const sent: number[] = [];
    while (call !== undefined && sent.length < 9) {
      sent.push(call.template);
      [call] = rig.answer(call, call.atMs);
    }
    return sent;
  };
  // Loops go on when the session is over: at once, then as before.
  expect(sentBy(sessions({ of, calls: 4, at: "0 * * * *" }))).toEqual([0, 0, 1, 1, 1, 1, 0, 0, 0]);
  expect(sentBy(sessions({ of, calls: 4, away: 0 }))).toEqual([0, 1, 0, 0, 1, 0, 0, 0, 1]);
});

test("in turn, it is over when nothing waits", () => {
  const one = worker({ calls: [{ call: jobs }], jobs: 1 });
  const rig = new Rig(together([one, one], { inTurn: true }));
  const [first] = rig.start(0) as [PlannedCall];
  const [second] = rig.answer(first, 10) as [PlannedCall];
  expect([second.template, second.atMs, rig.stopped]).toEqual([1, 10, false]);
  expect(rig.answer(second, 20)).toEqual([]);
  expect(rig.stopped).toBe(true);
});

test.each([
  [[burst({ call: polls, size: 2 })], { inTurn: true }, "together.0"],
  [[poller({ call: polls, every: "5s" })], { inTurn: 1 }, "together.inTurn"],
  [[poller({ call: polls, every: "5s" })], { inOrder: true }, "together.inOrder"],
])("options that do not fit are refused by their path, %#", (parts, options, path) => {
  expect(() => together(parts, options as never)).toThrow(
    expect.objectContaining({ code: "SCENARIO_INVALID", problems: [expect.objectContaining({ path })] }),
  );
});

test("a timetable beside a poller keeps both", () => {
  const nightly = sessions({ of: burst({ call: jobs, size: 2 }), at: "0 1 * * *" });
  const rig = new Rig(together([poller({ call: polls, every: "1h" }), nightly]));
  const planned = rig.start(Date.parse("2026-01-01T00:30:00Z"));
  expect(planned.map(({ template }) => template)).toEqual([0, 1, 1]);
  expect(times(planned).slice(1)).toEqual(new Array(2).fill(Date.parse("2026-01-01T01:00:00Z")));
});

test.each([
  ["nothing", [], "together"],
  ["a call", [polls], "together.0"],
])("%s is refused by its path", (_, parts, path) => {
  expect(() => together(parts as never)).toThrow(
    expect.objectContaining({ code: "SCENARIO_INVALID", problems: [expect.objectContaining({ path })] }),
  );
});
