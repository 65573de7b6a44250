// The points of a sweep come in the order of its axes, whatever the order in which they were tried.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Points } from "../../src/plan/points.ts";
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
