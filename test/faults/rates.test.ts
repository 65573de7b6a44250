// Rates by which a fault may be wrong: `NAME=RATE` from the least to the most, and no further.
import { expect, test } from "vitest";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";

const rates: readonly (readonly [
  name: string,
  usual: number,
  least: number,
  most: number,
  numbers: "any" | "whole",
])[] = [
  ["race-read-then-write", 25, 1, 60_000, "any"],
  ["double-count", 1, 0.001, 1, "any"],
  ["new-reset-old-count", 0.5, 0.001, 1, "any"],
  ["lost-expiry", 0.5, 0.001, 1, "any"],
  ["immortal-by-polling", 5, 0.001, 300, "any"],
  ["double-roll", 0.5, 0.001, 1, "any"],
  ["organization-off-grid", 3, 1, 3600, "whole"],
  ["first-calls-lost", 40, 1, 60_000, "any"],
  ["rolls-early", 1.5, 0.001, 3600, "any"],
  ["per-instance-counters", 2, 2, 64, "whole"],
  ["stale-replica-read", 1, 0.001, 300, "any"],
  ["skewed-nodes", 10, 0.001, 86_400, "any"],
  ["limit-changes-mid-window", 0.2, 0.001, 10, "any"],
  ["reset-disagrees", 64, 2, 86_400, "whole"],
];

test.each(rates)("%s: %d, or from %d to %d", (name, usual, least, most, numbers) => {
  const rateOf = (rate: number): number => parseFault(`${name}=${rate}`).rate;
  expect([parseFault(name).rate, rateOf(least), rateOf(most)]).toEqual([usual, least, most]);
  const little = numbers === "whole" ? 1 : 0.0005;
  for (const beyond of [least - little, most + little])
    expect(() => rateOf(beyond)).toThrow("this fault cannot be injected");
  if (numbers === "whole") expect(() => rateOf(least + 0.5)).toThrow("a whole number");
  else expect(rateOf(least + (most - least) / 3)).toBeGreaterThan(least);
});

test("all faults that have degrees stand here", () => {
  expect(faults.flatMap(({ name, rate }) => (rate === null ? [] : [name])).toSorted()).toEqual(
    rates.map(([name]) => name).toSorted(),
  );
});
