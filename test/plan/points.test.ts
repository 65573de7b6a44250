// The points of a sweep come in the order of its axes, whatever the order in which they were tried.
import fc from "fast-check";
import { expect, test } from "vitest";
import { figuresOf, Points, type Workshop } from "../../src/plan/points.ts";
import { Outcomes } from "../../src/plan/sampling.ts";
import type { Vary } from "../../src/plan/vary.ts";

const vary = (path: string, candidates: Vary["candidates"]): Vary => ({
  axis: { path, unit: "choice", range: candidates.join(","), from: "", to: "", values: candidates.length },
  candidates,
});
const first = [30, 1, 200];
const second = ["slow", "fast", "none"];
const all = first.flatMap((one) => second.map((other) => [one, other]));

test("points are listed by the first axis' candidates, then by the second's", () => {
  const sampling = { share: 0.5, confidence: 0.95, looks: [1] };
  const shop = {
    outcomes: new Outcomes(),
    sampling,
    screen: sampling,
    goals: [],
    fitError: null,
    figures: [],
  };
  fc.assert(
    fc.property(fc.shuffledSubarray(all, { minLength: 2 }), (tried) => {
      const points = new Points(shop, [vary("a.clients", first), vary("a.retry", second)]);
      const steps = points.try(tried, 0);
      let step = steps.next();
      while (step.done !== true)
        step = steps.next(step.value.jobs.map(() => ({ figures: [], windows: null })));
      const listed = points.finish().map(({ values }) => values);
      expect(listed).toEqual(all.filter((values) => tried.includes(values)));
    }),
  );
});

test("intervals keep to what a figure can be: none is below 0, and no share above 1", () => {
  const runs = [
    { fairness: 1, refusedShare: 0, waitP95Ms: 0, admitted: 100 },
    { fairness: 1, refusedShare: 0, waitP95Ms: 0, admitted: 101 },
    { fairness: 0.9, refusedShare: 0.9, waitP95Ms: 900, admitted: 102 },
  ];
  const names = ["fairness", "refusedShare", "waitP95Ms", "admitted"] as const;
  const shop = {
    outcomes: { of: (_: unknown, run: number) => ({ figures: names.map((name) => runs[run]?.[name]) }) },
    sampling: { share: 0.5, confidence: 0.95, looks: [3] },
    fitError: { calls: 0, refused: 0.5, waitP95Ms: 0.5 },
    figures: names.map((name) => [name, { population: null, name }]),
  } as unknown as Workshop;
  const variant = { changes: [], trigger: null, windowMs: null };
  const [fairness, refusedShare, wait, admitted] = figuresOf(shop, variant, 3).map(
    ({ interval }) => interval,
  );
  expect(fairness).toMatchObject({ high: 1 });
  expect(fairness?.low).toBeLessThan(0.9);
  expect(refusedShare).toEqual({ low: 0, high: 1 });
  expect(wait).toMatchObject({ low: 0 });
  expect(wait?.high).toBeGreaterThan(900);
  // Student's quantile of 97.5% with 2 degrees of freedom is 4.303; the deviation is 1.
  expect(admitted?.low).toBeCloseTo(101 - 4.303 / Math.sqrt(3), 3);
  expect(admitted?.high).toBeCloseTo(101 + 4.303 / Math.sqrt(3), 3);
});
