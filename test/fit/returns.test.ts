// Retries of callers whose calls overlap: told by the calls that come some time after refusals.
import { describe, expect, test } from "vitest";
import { limitsOf } from "../../sim/fit/limits.ts";
import { profilesOf } from "../../sim/fit/profile.ts";
import { usualPauses } from "../../sim/fit/retries.ts";
import { returnsOf } from "../../sim/fit/returns.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { chanceOf } from "../worlds/chance.ts";
import { loggedCalls } from "./recordings.ts";

const limits = limitsOf({ rules: parseRules({}) });
const minute = 60_000;

/** Returns the calls of two workers that share bursts of eight some minutes apart, of which the last four are refused. */
const bursts = (count: number, backMs: readonly number[]) =>
  Array.from({ length: count }, (_, burst) => {
    const fromMs = burst * 5 * minute + ((burst * 7_919) % 100_000);
    const admitted = [0, 40, 110, 150].map((ms) => [fromMs + ms, 100, 200] as const);
    const refused = [215, 230, 245, 253].map((ms) => [fromMs + ms, 10, 429] as const);
    const back = backMs.flatMap((ms) =>
      refused.map(([atMs], place) => [atMs + 10 + ms + 40 * place, 100, 200] as const),
    );
    return [...admitted, ...refused, ...back];
  }).flat();
/**
 * Returns the calls of three workers that share bursts of twelve. The last six of each are refused, then again 10 s
 * later; 20 s after that they are admitted.
 */
function pooled(count: number) {
  const chance = chanceOf(7);
  const calls: (readonly [atMs: number, tookMs: number, status: number])[] = [];
  for (let burst = 0; burst < count; burst++) {
    const fromMs = 5 * minute * burst + chance.between(0, 2 * minute);
    const due = Array.from({ length: 12 }, (_, place) => ({ atMs: fromMs, tries: place < 6 ? 2 : 0 }));
    const freeMs = [0, 0, 0];
    for (let next = due.shift(); next !== undefined; next = due.shift()) {
      const worker = freeMs.indexOf(Math.min(...freeMs));
      const atMs = Math.floor(Math.max(next.atMs, freeMs[worker] as number) + chance.between(5, 25));
      const tookMs = Math.floor(next.tries < 2 ? chance.between(5, 15) : chance.between(90, 240));
      calls.push([atMs, tookMs, next.tries < 2 ? 429 : 200]);
      freeMs[worker] = atMs + tookMs;
      if (next.tries < 2)
        due.push({ atMs: atMs + tookMs + 10_000 * (next.tries + 1), tries: next.tries + 1 });
    }
  }
  return calls.sort(([a], [b]) => a - b);
}

const callerOf = (calls: Parameters<typeof loggedCalls>[0]) => {
  const [caller] = loggedCalls(calls).callers;
  if (caller === undefined) throw new Error("no caller");
  return caller;
};

describe("calls that come back to a queue of workers", () => {
  test("are retries, although others come right after a refusal", () => {
    const recording = loggedCalls(bursts(40, [10_000]));
    const [profile] = profilesOf(recording, limits);
    expect(profile?.pace.kind).toBe("volleys");
    expect(profile?.retries).toHaveLength(160);
    expect(profile?.guess).toMatchObject({ explained: 1, retry: { kind: "fixed", wait: { least: 10_000 } } });
  });

  test("are retries whose waits grow, too, however late a worker is free for them", () => {
    const [profile] = profilesOf(loggedCalls(pooled(30)), limits);
    expect(profile?.pace.kind).toBe("volleys");
    expect(profile?.retries).toHaveLength(30 * 12);
    expect(profile?.guess?.explained).toBeGreaterThan(0.9);
  });

  test("are none if as many come at another time", () => {
    expect(returnsOf(callerOf(bursts(40, [10_000])), limits, 5)?.jobs.retries).toHaveLength(160);
    const halfSeconds = Array.from({ length: 200 }, (_, half) => 500 * (half + 1));
    expect(returnsOf(callerOf(bursts(10, halfSeconds)), limits, 5)).toBeNull();
    expect(returnsOf(callerOf(bursts(40, [])), limits, 5)).toBeNull();
  });

  test("are told by ten refusals, not by eight", () => {
    expect(returnsOf(callerOf(bursts(3, [10_000])), limits, 5)?.guess.retry.kind).toBe("fixed");
    expect(returnsOf(callerOf(bursts(2, [10_000])), limits, 5)).toBeNull();
  });
});

test("pauses of calls that overlap are those from the last answer on", () => {
  const job = (startMs: number, endMs: number) => ({ startMs, endMs, last: { status: 200 } });
  const jobs = Array.from({ length: 400 }, (_, at) => job(100 * at, 100 * at + 195)) as never;
  // Each call begins 5 ms after the end of the call before the last.
  const usual = usualPauses([{ jobs }], 0);
  expect(usual.cost(5)).toBeLessThan(1);
  expect(usual.cost(50)).toBeGreaterThan(10);
});
