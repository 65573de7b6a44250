// A log of a crowd: few populations, whatever its callers' own rates.
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { Recorder } from "../../sim/fit/recording.ts";
import { below, type RandomState, seedRandom } from "../../src/scenario/random.ts";
import { REST_CALL } from "../../src/trace/logs/rows.ts";

const hourMs = 3_600_000;

/** Calls of so many users over two days, most by day, some users far busier than others, a few refused. */
function crowd(users: number, calls: number, seed: number) {
  const random: RandomState = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(random, seed, 0, 0);
  const startMs = Date.UTC(2026, 0, 5);
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

test.each([1, 2, 3])("people by day are one population that keeps the hours, seed %i", (seed) => {
  const { populations, unexplained } = fitScenario(crowd(200, 20_000, seed));
  expect(unexplained).toBe(0);
  expect(populations).toHaveLength(1);
  const [population] = populations;
  expect(population?.arrivals.kind).toBe("hours");
  if (population?.arrivals.kind !== "hours") return;
  const { perHour } = population.arrivals;
  const [day, night] = [perHour.slice(8, 18), [...perHour.slice(0, 8), ...perHour.slice(18)]];
  expect(Math.min(...day)).toBeGreaterThan(5 * Math.max(...night));
  // What was refused by chance is no policy.
  expect(population.onRefused).toEqual({ kind: "unknown" });
});

test("more kinds of callers than anybody reads are put together", () => {
  const { populations } = fitScenario(crowd(50, 2_000, 4));
  expect(populations.length).toBeLessThanOrEqual(12);
});
