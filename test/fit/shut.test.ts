// Retries of many people who share a token: told by the calls that come while a window is full.
import { describe, expect, test } from "vitest";
import { fitTo } from "../../sim/fit/fit.ts";
import { limitsOf } from "../../sim/fit/limits.ts";
import { profilesOf } from "../../sim/fit/profile.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { toldWhileShut } from "../../sim/fit/shut.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Chance, chanceOf } from "../worlds/chance.ts";
import { loggedCalls } from "./recordings.ts";

const minute = 60_000;
const rules = parseRules({});
const limits = limitsOf({ rules });

/** Returns the wait after a refused attempt, ms; `null`: the call is given up. */
type Patience = (attempt: number, chance: Chance) => number | null;

/**
 * Returns the calls of people who come by chance, one each four seconds or so, for a minute of each quarter of an hour. Its
 * last third refuses all calls; refused ones come back after a wait.
 * @param each calls of each person, two to three seconds apart
 * @param atOnce calls of each person at once, each time
 */
function shared(bursts: number, patience: Patience | null, each = 1, atOnce = 1, everyMs = 4_000) {
  const chance = chanceOf(11);
  const calls: (readonly [atMs: number, tookMs: number, status: number])[] = [];
  /** Makes a call and its retries; returns the end of the last one. */
  const call = (wantedMs: number): number => {
    for (let [atMs, attempt] = [wantedMs, 0]; ; attempt++) {
      const refused = atMs % minute >= (2 * minute) / 3;
      const tookMs = refused ? 5 : 400;
      calls.push([Math.floor(atMs), tookMs, refused ? 429 : 200]);
      const waitMs = refused ? (patience?.(attempt, chance) ?? null) : null;
      if (waitMs === null) return atMs + tookMs;
      atMs += tookMs + waitMs;
    }
  };
  for (let burst = 0; burst < bursts; burst++) {
    const fromMs = 15 * minute * burst;
    for (let atMs = fromMs; atMs < fromMs + minute; atMs += each * chance.exponential(everyMs))
      for (let [number, ownMs] = [0, atMs]; number < each; number++) {
        for (let other = 1; other < atOnce; other++) call(ownMs + 20 * other);
        ownMs = call(ownMs) + chance.between(2_000, 3_000);
      }
  }
  return loggedCalls(calls.sort(([a], [b]) => a - b));
}

const guessOf = (recording: ReturnType<typeof shared>) =>
  toldWhileShut(profilesOf(recording, limits), recording, limits)[0]?.guess ?? null;

describe("calls while a window is full", () => {
  test("show that refused ones come back after a wait of some length", () => {
    const recording = shared(100, (_, chance) => chance.between(3_000, 8_000));
    const before = profilesOf(recording, limits)[0];
    const [after] = toldWhileShut(profilesOf(recording, limits), recording, limits);
    expect(before?.retries).toHaveLength(0);
    expect(after?.guess).toMatchObject({ retry: { kind: "fixed", wait: { least: 3_000, most: 8_000 } } });
    expect(after?.guess?.explained).toBeGreaterThan(0.8);
    expect(after?.retries.length).toBeGreaterThan(0.8 * (after?.refused ?? 0));
  });

  test("show waits that grow", () => {
    const guess = guessOf(shared(100, (attempt, chance) => 1_000 * 2 ** attempt * chance.between(0.5, 1)));
    expect(guess?.retry).toMatchObject({ kind: "exponential", first: 1_000, factor: 2, jitter: "equal" });
  });

  test("show waits that grow fast, of people who make three calls at once", () => {
    const people = shared(
      100,
      (attempt, chance) => 5_000 * 6 ** attempt * chance.between(0.5, 1.5),
      1,
      3,
      8_000,
    );
    expect(profilesOf(people, limits)[0]?.pace.kind).toBe("volleys");
    expect(guessOf(people)?.retry).toMatchObject({
      kind: "exponential",
      first: 5_000,
      factor: 6,
      jitter: "half",
    });
  });

  test("show after how many attempts callers give up", () => {
    const wait: Patience = (_, chance) => chance.between(3_000, 5_000);
    expect(guessOf(shared(100, wait))?.attempts).toBeNull();
    const giveUp: Patience = (attempt, chance) => (attempt === 2 ? null : wait(attempt, chance));
    const recording = shared(100, giveUp);
    expect(guessOf(recording)?.attempts).toBe(3);
    expect(fitTo(recording, { rules }).model.populations[0]?.attempts).toBe(3);
  });

  test("show no retries of calls that are lost, or that come back when the window is over", () => {
    expect(guessOf(shared(100, null))?.whileShut).toBeUndefined();
    expect(guessOf(shared(100, null, 1, 3, 8_000))?.whileShut).toBeUndefined();
    expect(guessOf(shared(100, (_, chance) => 20_000 + chance.between(0, 5_000)))?.whileShut).toBeUndefined();
  });

  test("show none if calls come at the same distance anyway", () => {
    expect(guessOf(shared(100, null, 8))?.whileShut).toBeUndefined();
  });

  test("show none if there are too few", () => {
    const wait: Patience = (_, chance) => chance.between(3_000, 8_000);
    expect(guessOf(shared(100, wait))?.whileShut).toBe(true);
    expect(guessOf(shared(1, wait))?.whileShut).toBeUndefined();
  });

  test("give the fitted scenario its policy, and its reason", () => {
    const { model } = fitTo(
      shared(100, (_, chance) => chance.between(3_000, 8_000)),
      { rules },
    );
    const [population] = model.populations;
    expect(population?.onRefused).toMatchObject({ kind: "fixed" });
    expect(population?.reasons.onRefused).toMatch(
      /of the calls that were refused while a window was full came back 3s to 8s/,
    );
    expect(model.doubts.join()).not.toContain("could not be told");
  });
});

describe("calls after resets", () => {
  /**
   * Calls of so many teams whose two workers send at eight in the morning and an hour later. A refused worker waits for the
   * reset and some time more.
   */
  const sending = (teams: number, lateMs: number | null): Recording => {
    const chance = chanceOf(7);
    const calls = Array.from({ length: teams }, (_, team) => {
      const own: (readonly [atMs: number, durationMs: number, status: number])[] = [];
      for (const hour of [8, 9])
        for (const worker of [0, 1])
          for (let [call, atMs] = [0, (60 * hour + 5 * team) * minute + 20 * worker]; call < 40; call++) {
            if (atMs % minute >= minute / 2) {
              own.push([Math.floor(atMs), 5, 429]);
              if (lateMs === null) break;
              atMs = (Math.floor(atMs / minute) + 1) * minute + chance.between(0, lateMs);
            }
            own.push([Math.floor(atMs), 100, 200]);
            atMs += 100 + chance.between(300, 1_200);
          }
      return own.sort(([a], [b]) => a - b);
    });
    const callers = calls.map((own, team) =>
      loggedCalls(own).callers.map((caller) => ({ ...caller, user: `team-${team}` })),
    );
    return { ...loggedCalls(calls.flat().sort(([a], [b]) => a - b)), callers: callers.flat() };
  };
  const told = (teams: number, lateMs: number | null) => {
    const recording = sending(teams, lateMs);
    const before = profilesOf(recording, limits);
    return { before, after: toldWhileShut(before, recording, limits) };
  };

  test("are retries where all callers together show them", () => {
    const { before, after } = told(3, 1_000);
    expect(before.map(({ retries }) => retries.length)).toEqual([0, 0, 0]);
    const retry = { kind: "waitReset", of: "both", from: "second", jitter: { least: 0, most: 1_000 } };
    expect(after.map(({ guess, retries }) => [guess?.retry, retries.length])).toEqual(
      [0, 1, 2].map(() => [retry, 4]),
    );
  });

  test("are none of too few refusals, of calls that are given up, or of retries that come later still", () => {
    for (const { before, after } of [told(2, 1_000), told(6, null), told(6, 7_000)]) {
      expect(before.some(({ refused, retries }) => refused > 0 && retries.length === 0)).toBe(true);
      expect(after).toEqual(before);
    }
  });
});
