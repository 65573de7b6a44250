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
