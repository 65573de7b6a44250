// A log of more callers than a function takes arguments: each of them is fitted.
// @module-tag long
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { Recorder } from "../../sim/fit/recording.ts";
import { REST_CALL } from "../../src/logs/rows.ts";

test("more callers than a function takes arguments are fitted", () => {
  const users = 130_000;
  const startMs = Date.UTC(2026, 0, 5);
  const recorder = new Recorder();
  recorder.addBatch(
    {
      count: users,
      atMs: Float64Array.from({ length: users }, (_, user) => startMs + 200 * user),
      durationMs: new Float64Array(users).fill(20),
      caller: Int32Array.from({ length: users }, (_, user) => user),
      kind: new Uint8Array(users).fill(REST_CALL),
      cost: new Int32Array(users).fill(1),
      actual: new Int32Array(users).fill(-1),
      status: new Int16Array(users).fill(200),
    },
    Array.from({ length: users }, (_, user) => ({ organization: "acme", user: `user-${user}` })),
  );
  const { populations } = fitScenario(recorder.finish());
  expect(populations.reduce((sum, { callers }) => sum + callers, 0)).toBe(users);
});
