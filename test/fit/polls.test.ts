// Jobs under one name that poll while they run: told by the pause after which most calls are followed by another one.
import { describe, expect, test } from "vitest";
import { limitsOf } from "../../sim/fit/limits.ts";
import { pollsOf } from "../../sim/fit/polls.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { chanceOf } from "../worlds/chance.ts";
import { minuteMs } from "../worlds/world.ts";

const kind = { operation: "rest", free: false, cost: 1, actual: 1, key: "rest 1" };
const limits = limitsOf({ rules: parseRules({}) });
const callerOf = (calls: readonly (readonly [atMs: number, status: number])[]) => ({
  ...{ organization: "acme", user: "ann", group: null },
  calls: calls
    .toSorted(([one], [other]) => one - other)
    .map(
      ([atMs, status]) =>
        new RecordedCall({ atMs, endMs: atMs + 50, wantedMs: atMs, attempt: -1, status, said: null, kind }),
    ),
});

/** Three hundred jobs that poll every six seconds or so, for twenty calls; one in twenty is refused, and comes again. */
function jobsOf(againMs: (refusedMs: number) => number, seed = 1, withinMs = 12_000_000): [number, number][] {
  const chance = chanceOf(seed);
  return Array.from({ length: 300 }, (): [number, number][] => {
    const calls: [number, number][] = [];
    let atMs = chance.between(0, withinMs);
    for (let call = 0; call < 20; call++) {
      if (chance.next() < 0.05) {
        calls.push([atMs, 429]);
        atMs += 50 + againMs(atMs + 50);
      }
      calls.push([atMs, 200]);
      atMs += 50 + chance.between(5_400, 6_600);
    }
    return calls;
  }).flat();
}

describe("polls of several jobs at a time", () => {
  test("are jobs of a known number, pause, and length", () => {
    const caller = callerOf(jobsOf(() => 10_000));
    const polls = pollsOf(caller, limits, 5);
    const { sessions = [], pausesMs = [] } = polls?.sessions ?? {};
    // Jobs meet: some go on as each other, and some of what is left is short.
    expect(Math.abs(sessions.length - 300)).toBeLessThan(75);
    expect(sessions.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(6_000);
    expect(Math.min(...pausesMs)).toBeGreaterThan(5_000);
    expect(Math.max(...pausesMs)).toBeLessThan(7_000);
    const refused = caller.calls.filter(({ status }) => status === 429).length;
    expect(polls?.jobs.retries.length).toBe(refused);
    for (const { waitMs } of polls?.jobs.retries ?? []) expect(Math.abs(waitMs - 10_000)).toBeLessThan(500);
  });

  test("are known where refused calls come again at resets", () => {
    const chance = chanceOf(4);
    const atReset = (ms: number) => minuteMs - (ms % minuteMs) + chance.between(0, 2_000);
    const caller = callerOf(jobsOf(atReset, 1, 120_000_000));
    const { retries = [] } = pollsOf(caller, limits, 5)?.jobs ?? {};
    const refused = caller.calls.filter(({ status }) => status === 429).length;
    expect(retries.length).toBeGreaterThan(0.9 * refused);
    const soon = retries.filter(({ nowMs, waitMs }) => (nowMs + waitMs) % minuteMs < 2_050);
    expect(soon.length).toBeGreaterThan(0.8 * retries.length);
  });

  test("are none where calls come by chance", () => {
    const chance = chanceOf(2);
    const calls = Array.from({ length: 6_000 }, (): [number, number] => [chance.between(0, 12_000_000), 200]);
    expect(pollsOf(callerOf(calls), limits, 5)).toBeNull();
  });

  test("are none where nobody knows when refused calls come again", () => {
    const chance = chanceOf(3);
    expect(pollsOf(callerOf(jobsOf(() => chance.between(0, 60_000))), limits, 5)).toBeNull();
  });

  test("are known from a hundred calls on", () => {
    const chance = chanceOf(5);
    const one = (calls: number) => {
      let atMs = 0;
      const polled = Array.from({ length: calls }, (): [number, number] => {
        atMs += 50 + chance.between(5_400, 6_600);
        return [atMs, 200];
      });
      return pollsOf(callerOf(polled), limits, 5);
    };
    expect(one(99)).toBeNull();
    expect(one(100)?.sessions.sessions).toMatchObject([{ jobs: 100 }]);
  });
});
