// Reactions of callers whose calls overlap: told by waits that grow, or that are even, as others' calls never come.
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../sim/fit/days.ts";
import { limitsOf } from "../../sim/fit/limits.ts";
import { profilesOf } from "../../sim/fit/profile.ts";
import { RecordedCall } from "../../sim/fit/recorded-call.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { chanceOf } from "../worlds/chance.ts";

const kind = { operation: "rest", free: false, cost: 1, actual: 1, key: "rest 1" };
const limits = limitsOf({ rules: parseRules({}) });

/** Visits of some calls in a row to one token, one call of ten refused up to five times, each tried again after a wait. */
function profileOf(waitOf: (attempt: number, share: number) => number) {
  const chance = chanceOf(7);
  const calls: RecordedCall[] = [];
  for (let atMs = 0; atMs < 20 * hourMs; atMs += chance.exponential(minuteMs)) {
    let nowMs = Math.round(atMs);
    for (let left = 4; left > 0; left--) {
      const refusals = chance.next() < 0.1 ? 1 + Math.floor(5 * chance.next()) : 0;
      for (let attempt = 0; attempt <= refusals; attempt++) {
        const status = attempt < refusals ? 429 : 200;
        const endMs = nowMs + 200;
        calls.push(
          new RecordedCall({ atMs: nowMs, endMs, wantedMs: nowMs, attempt: -1, status, said: null, kind }),
        );
        nowMs =
          endMs + Math.round(status === 429 ? waitOf(attempt, chance.next()) : chance.between(100, 900));
      }
    }
  }
  calls.sort((a, b) => a.atMs - b.atMs);
  const caller = { organization: "acme", user: "ann", group: null, calls };
  const recording = {
    startedAtMs: 0,
    endedAtMs: 20 * hourMs,
    resolutionMs: 1,
    knowsAttempts: false,
    callers: [caller],
  };
  const [profile] = profilesOf(recording as unknown as Recording, limits);
  return { pace: profile?.pace.kind, retry: profile?.guess?.retry, retries: profile?.retries.length };
}

describe("a token of many people", () => {
  test("tries refused calls again after waits that grow", () => {
    const { pace, retry } = profileOf((attempt, share) => 1_000 * 2 ** attempt * (0.5 + share / 2));
    expect(pace).toBe("visits");
    expect(retry).toMatchObject({ kind: "exponential" });
  });

  test("tells nothing by waits that are from nothing on", () => {
    const { pace, retry } = profileOf((_, share) => 4_000 * share);
    expect(pace).toBe("visits");
    expect(retry?.kind ?? "none").toBe("none");
  });
});
