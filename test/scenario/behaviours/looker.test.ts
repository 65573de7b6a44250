import { expect, test } from "vitest";
import { looker, pipelinesQuery, rest } from "../../../src/scenario/index.ts";
import { Rig } from "../rig.ts";

const calls = [{ call: rest("/v2/user") }];

test("looks first, then calls, then looks again", () => {
  const rig = new Rig(looker({ calls }));
  const look = rig.only(rig.start(0));
  expect(look.template).toBe(0);
  const call = rig.only(rig.answer(look, 10, { remaining: 3, reset: 9 }));
  expect(call).toMatchObject({ template: 1, atMs: 10 });
  expect(rig.answer(call, 20, { remaining: 2, reset: 9 })).toMatchObject([{ template: 0, atMs: 20 }]);
});

test("waits for the organization's reset while no more than `leave` is left, and looks again", () => {
  const rig = new Rig(looker({ calls, leave: 3 }));
  const again = rig.only(rig.answer(rig.only(rig.start(0)), 10, { remaining: 3, reset: 9 }));
  expect(again).toMatchObject({ template: 0, atMs: 9_010 });
  expect(rig.answer(again, 9_020, { remaining: 4, reset: 60 })).toMatchObject([{ template: 1 }]);
});

test("a reset of 0 s is waited for a second, not asked about without end", () => {
  const rig = new Rig(looker({ calls }));
  expect(rig.answer(rig.only(rig.start(0)), 10, { remaining: 0, reset: 0 })).toMatchObject([{ atMs: 1_010 }]);
});

test("`callsPerLook` calls follow a look; what shows nothing keeps nobody waiting", () => {
  const rig = new Rig(looker({ calls, callsPerLook: 2 }));
  const templates: number[] = [];
  let call = rig.only(rig.start(0));
  for (let nowMs = 1; nowMs < 7; nowMs++) {
    templates.push(call.template);
    call = rig.only(rig.answer(call, nowMs));
  }
  expect(templates).toEqual([0, 1, 1, 0, 1, 1]);
});

test("GraphQL calls are refused: the status response does not show their windows", () => {
  expect(() => looker({ calls: [{ call: pipelinesQuery(5) }] })).toThrow("looker.calls.0.call");
});
