// A log of a crowd: callers stay callers, however many they are.
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { Recorder, type Recording } from "../../sim/fit/recording.ts";
import { REST_CALL } from "../../src/logs/rows.ts";
import { below, type RandomState, seedRandom } from "../../src/scenario/random.ts";

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5);

/** A recording of users by number, each row a call, in order. */
function recordingOf(rows: readonly { readonly atMs: number; readonly user: number }[], users: number) {
  const recorder = new Recorder();
  const count = rows.length;
  recorder.addBatch(
    {
      count,
      atMs: Float64Array.from(rows, ({ atMs }) => atMs),
      durationMs: new Float64Array(count).fill(20),
      caller: Int32Array.from(rows, ({ user }) => user),
      kind: new Uint8Array(count).fill(REST_CALL),
      cost: new Int32Array(count).fill(1),
      actual: new Int32Array(count).fill(-1),
      status: new Int16Array(count).fill(200),
    },
    Array.from({ length: users }, (_, n) => ({ organization: "acme", user: `user-${n}` })),
  );
  return recorder.finish();
}

/** Calls of so many users over two days, most by day, some users far busier than others, a few refused. */
function crowd(users: number, calls: number, seed: number) {
  const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, seed, 0, 0);
  const times: number[] = [];
  while (times.length < calls) {
    const atMs = startMs + below(random, 48 * hourMs);
    const hour = new Date(atMs).getUTCHours();
    if ((hour >= 8 && hour < 18) || below(random, 10) === 0) times.push(atMs);
  }
  const recorder = new Recorder();
  const callers = Array.from({ length: users }, (_, n) => ({ organization: "acme", user: `user-${n}` }));
  const atMs = Float64Array.from(times).sort();
  recorder.addBatch(
    {
      count: calls,
      atMs,
      durationMs: new Float64Array(calls).fill(20),
      caller: Int32Array.from(times, () => Math.floor((below(random, users) * below(random, users)) / users)),
      kind: new Uint8Array(calls).fill(REST_CALL),
      cost: new Int32Array(calls).fill(1),
      actual: new Int32Array(calls).fill(-1),
      status: Int16Array.from(times, () => (below(random, 50) === 0 ? 429 : 200)),
    },
    callers,
  );
  return recorder.finish();
}

/** Callers of whom no two keep the same pace, and fifty make nearly all calls. */
function strangers(users: number): Recording {
  const rows = Array.from({ length: users }, (_, user) =>
    Array.from({ length: user < 50 ? 450 : 4 }, (_call, n) => ({
      user,
      atMs: startMs + n * (2_000 + user * user * 400),
    })),
  )
    .flat()
    .sort((a, b) => a.atMs - b.atMs);
  return recordingOf(rows, users);
}

test.each([1, 2, 3])("people by day stay callers, all of whom keep the hours, seed %i", (seed) => {
  const { populations, unexplained } = fitScenario(crowd(200, 20_000, seed));
  expect(unexplained).toBe(0);
  expect(populations.every(({ arrivals }) => arrivals.kind === "closed")).toBe(true);
  const busy = populations.filter(({ calls }) => calls >= 1000);
  expect(busy.reduce((sum, { calls }) => sum + calls, 0)).toBeGreaterThan(0.9 * 20_000);
  for (const { behaviour, onRefused } of busy) {
    const hours = (behaviour.kind === "sessions" && behaviour.rhythm?.hours) || [];
    const [day, night] = [hours.slice(8, 18), [...hours.slice(0, 8), ...hours.slice(18)]];
    expect(Math.min(...day)).toBeGreaterThan(3 * Math.max(...night));
    // A refusal by chance is no policy.
    expect(["unknown", "none"]).toContain(onRefused.kind);
  }
});

test("callers of few calls are one mixture, where there are more kinds than anybody reads", () => {
  const { populations } = fitScenario(strangers(300));
  expect(populations.length).toBeLessThanOrEqual(61);
  const others = populations.find(({ name }) => name === "others");
  expect(others?.callers).toBeGreaterThan(100);
  expect(populations.reduce((sum, { callers }) => sum + callers, 0)).toBe(300);
});
