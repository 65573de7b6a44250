// Disturbances that must not hide a plain behaviour: time-outs, retries, tails, caps that nobody saw.
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedModel } from "../../sim/fit/model.ts";
import { guessRetry } from "../../sim/fit/retries.ts";
import { spreadOf, withMean } from "../../sim/fit/spread.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { chanceOf } from "../worlds/chance.ts";
import { feeds } from "../worlds/feeds.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { timeOuts } from "../worlds/time-outs.ts";
import { hourMs, mondayMs, play, type Row } from "../worlds/world.ts";

const fitted = (rows: readonly Row[]): FittedModel =>
  fitScenario(recordingOf(rows), { rules: parseRules(worldRules) });

test("a poller stays one, though calls time out and are tried again at once", () => {
  const { populations } = fitted(play(timeOuts, { firstDay: 0, days: 1, seed: 1, agents: 5 }).rows);
  expect(populations).toHaveLength(5);
  for (const { behaviour } of populations) expect(behaviour.kind).toBe("poller");
});

test("one time-out among four thousand calls leaves a poller alone", () => {
  const rows = Array.from({ length: 4_000 }, (_, tick): Row => {
    const failed = tick === 2_000;
    return {
      atMs: mondayMs + 5_000 * tick,
      durationMs: failed ? 4_000 : 80,
      user: "one",
      status: failed ? 504 : 200,
    };
  });
  const again = { atMs: mondayMs + 5_000 * 2_000 + 4_010, durationMs: 80, user: "one", status: 200 };
  const { populations } = fitted([...rows.slice(0, 2_001), again, ...rows.slice(2_001)]);
  expect(populations.map(({ behaviour }) => behaviour)).toEqual([{ kind: "poller", everyMs: 5_000 }]);
});

test("a job of twelve pages an hour is not twelve clients", () => {
  const rows = Array.from({ length: 12 * 48 }, (_, call): Row => {
    const [hour, page] = [Math.floor(call / 12), call % 12];
    return { atMs: mondayMs + hour * hourMs + 200 * page, durationMs: 80, user: "job", status: 200 };
  });
  const { populations } = fitted(rows);
  expect(populations).toHaveLength(1);
  expect(populations[0]?.arrivals).toMatchObject({ kind: "closed", clients: 1 });
  expect(populations[0]?.behaviour.kind).not.toBe("poller");
});

test("long sessions keep their own hours beside short ones", () => {
  const { populations } = fitted(play(feeds, { firstDay: 0, days: 3, seed: 1, agents: 4 }).rows);
  const both = populations.flatMap(({ behaviour }) =>
    behaviour.kind === "together" ? [behaviour.parts] : [],
  );
  expect(both.length).toBeGreaterThan(0);
  // By day half of the looks find something, by night one in ten.
  for (const parts of both) {
    const long = parts.at(-1)?.behaviour;
    const hours = long?.kind === "sessions" ? (long.rhythm?.hours ?? []) : [];
    expect(hours[12]).toBeGreaterThan(2 * (hours[2] ?? Number.POSITIVE_INFINITY));
  }
});

test("a few lengths from an instant to hours tell no tail beyond the longest", () => {
  const values = [1, 1, 2, 5_000_000, 20_000_000, 40_000_000];
  const spread = spreadOf(values, 1, 6);
  const longest =
    spread.kind === "lognormal" ? spread.p95 : spread.kind === "quantiles" ? spread.quantiles.at(-1) : 0;
  expect(spread.kind).not.toBe("constant");
  expect(longest).toBeLessThanOrEqual(3 * 40_000_000);
});

test("a tail of one in a hundred that is most of the time keeps its mean", () => {
  const chance = chanceOf(1);
  const pauses = Array.from({ length: 10_000 }, (_, index) =>
    Math.round(index % 100 === 0 ? hourMs : 4_000 + 1_000 * chance.next()),
  );
  const spread = spreadOf(pauses, 0, 5);
  expect(spread.kind).toBe("quantiles");
  if (spread.kind === "quantiles") expect(spread.quantiles.at(-1)).toBeGreaterThan(0.9 * hourMs);
});

test.each([
  ["was not seen", 3, 16_000],
  ["was seen", 7, 16_000],
])("the cap of a backoff that %s", (_name, attempts, most) => {
  const samples = Array.from({ length: 40 * attempts }, (_unused, index) => {
    const attempt = index % attempts;
    const wait = (step: number): number => Math.min(16_000, 1_000 * 2 ** step);
    return {
      waitMs: wait(attempt),
      nowMs: mondayMs + 100_000 * index,
      attempt,
      beforeMs: attempt === 0 ? 0 : wait(attempt - 1),
      cost: 1,
      userCost: 1,
      remaining: -1,
      reset: -1,
      userRemaining: -1,
      userReset: -1,
      retryAfter: -1,
    };
  });
  const guess = guessRetry(samples, 5, null);
  expect(guess?.retry).toMatchObject({ kind: "exponential", first: 1_000, factor: 2 });
  if (guess?.retry.kind === "exponential") expect(Math.abs(guess.retry.most - most)).toBeLessThanOrEqual(5);
});

test.each([
  [180, 300, 350, 420, 500, 900, 1100],
  [74, 184, 379, 438, 513, 809, 2923],
])("a spread of seven values has their mean", (...values) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = spreadOf(values, 1, 0);
  if (spread.kind === "uniform") expect((spread.least + spread.most) / 2 / mean).toBeCloseTo(1, 1);
  else expect(withMean(spread, mean)).toEqual(spread);
});
