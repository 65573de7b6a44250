// When counts began again within windows tells a key's own timer from a sweep of all keys.
import { expect, test } from "vitest";
import { Clues } from "../../src/verify/clues.ts";
import { rulesQuota } from "../../src/verify/quota-name.ts";

const opens = [1_000_000, 1_060_000, 1_120_000, 1_180_000];
const name = rulesQuota("acme", "ann", "rest");

/** Clues of one user's windows; of each, so many ms after it opened its count began again, give or take 50. */
function restarted(...afterMs: number[]): Clues {
  const clues = new Clues();
  for (const [window, ms] of afterMs.entries()) {
    const opensAt = opens[window] ?? 0;
    clues.restarts(name, opensAt, [{ from: opensAt + ms - 50, to: opensAt + ms + 50 }]);
  }
  return clues;
}

const weights = (clues: Clues): number[] => [clues.weight("double-roll"), clues.weight("reset-all-sweep")];

test("at one share of each window: a timer of the key's own", () => {
  expect(weights(restarted(20_000, 20_040, 19_970, 20_010))).toEqual([2, 0.4]);
});

test("now here, now there: a sweep", () => {
  expect(weights(restarted(20_000, 35_000, 50_000, 5_000))).toEqual([0.4, 2]);
  expect(weights(restarted(50_000, 35_000, 20_000))).toEqual([0.4, 2]);
});

test("one restart, or none, says nothing", () => {
  expect(weights(restarted(20_000))).toEqual([1, 1]);
  expect(weights(new Clues())).toEqual([1, 1]);
});

test("several restarts within one window: a sweep", () => {
  const clues = restarted(20_000, 20_000);
  const [opensAt = 0] = opens;
  const spans = [2_000, 20_000, 40_000].map((ms) => ({ from: opensAt + ms, to: opensAt + ms + 10 }));
  clues.restarts(rulesQuota("acme", "bob", "rest"), opensAt, spans);
  expect(weights(clues)).toEqual([0.4, 2]);
});

test("what an answer contradicts weighs a fifth, whatever else is known", () => {
  const clues = restarted(20_000, 20_040, 19_970, 20_010);
  clues.rulesOut("double-roll");
  clues.rulesOut("one-extra");
  const [rolled, swept] = weights(clues);
  expect(rolled).toBeCloseTo(0.4, 10);
  expect(swept).toBe(0.4);
  expect(clues.weight("one-extra")).toBeCloseTo(0.2 * new Clues().weight("one-extra"), 10);
});
