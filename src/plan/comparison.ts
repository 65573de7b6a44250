// Changes that would help: other policies and larger limits, measured for every population that is refused.

import type { Population, Scenario } from "../scenario/scenario.ts";
import type { PlanAlternative, PlanComparison, PlanFigure } from "../summary/plan-result.ts";
import type { Variant } from "./job.ts";
import { type Change, limitsPath } from "./paths.ts";
import { figuresOf, trialOf, type Workshop } from "./points.ts";
import { ownPolicy } from "./policies.ts";
import { heldOf, type PlanSteps } from "./sampling.ts";

/** Policies that are tried. A population's own comes before them. */
const policies = ["none", "waitReset", "waitReset+0..5s", "exponential", "retryAfter"] as const;
const limits = [
  { words: "as they are", factor: 1 },
  { words: "+50%", factor: 1.5 },
  { words: "x2", factor: 2 },
] as const;

/** Greatest number of populations that are compared, the most refused ones. */
const populationsMost = 3;

/** Returns the names of the figures that are measured of the whole run and of each population. */
export function comparedFigures(scenario: Scenario): string[] {
  const names = ["refusedShare", "refusedFirstSecondShare", "waitP95Ms", "gaveUp", "admitted"];
  return [
    ...names,
    ...scenario.populations.flatMap(({ name }) => names.map((figure) => `${name}.${figure}`)),
  ];
}

/** Returns twice the runs of a first look: differences are only read, not decided. */
const timesOf = ({ sampling: { looks } }: Workshop): number => (looks[1] ?? looks[0]) as number;

/** Tries every alternative of every refused population. */
export function* compare(shop: Workshop, scenario: Scenario): PlanSteps<PlanComparison> {
  const times = timesOf(shop);
  const asIs: Variant = { changes: [], trigger: null, windowMs: null };
  yield* shop.outcomes.replicate([asIs], times, policies.length * limits.length * times);
  const refused = refusedPopulations(scenario, figuresOf(shop, asIs, times));
  const alternatives = refused.flatMap((population) => alternativesTo(population));
  yield* shop.outcomes.replicate(
    alternatives.map(({ variant }) => variant),
    times,
    0,
  );
  const measured = ({ variant, ...words }: Alternative): PlanAlternative => ({
    ...words,
    replications: times,
    held: shop.goals.length === 0 ? null : heldOf(trialOf(shop, variant), times),
    figures: figuresOf(shop, variant, times),
  });
  const own: Alternative = {
    population: null,
    policy: "as it is",
    limits: limits[0].words,
    asIs: true,
    variant: asIs,
  };
  return {
    populations: refused.map(({ name }) => name),
    alternatives: [own, ...alternatives].map(measured),
  };
}

interface Alternative extends Pick<PlanAlternative, "population" | "policy" | "limits" | "asIs"> {
  readonly variant: Variant;
}

/** Returns the refused populations, the most refused first. */
function refusedPopulations(scenario: Scenario, figures: readonly PlanFigure[]): Population[] {
  const shareOf = ({ name }: Population): number =>
    figures.find(({ figure }) => figure === `${name}.refusedShare`)?.mean ?? 0;
  return scenario.populations
    .filter((population) => shareOf(population) > 0)
    .toSorted((a, b) => shareOf(b) - shareOf(a))
    .slice(0, populationsMost);
}

function alternativesTo({ name, onRefused }: Population): Alternative[] {
  const tried = [ownPolicy, ...policies.filter((word) => word !== onRefused.name)];
  return limits.flatMap(({ words, factor }) =>
    tried
      .filter((policy) => policy !== ownPolicy || factor !== 1)
      .map((policy): Alternative => {
        const changes: Change[] = policy === ownPolicy ? [] : [{ path: `${name}.onRefused`, value: policy }];
        if (factor !== 1) changes.push({ path: limitsPath, value: factor });
        const called = policy === ownPolicy ? `own (${onRefused.name})` : policy;
        return {
          population: name,
          policy: called,
          limits: words,
          asIs: false,
          variant: { changes, trigger: null, windowMs: null },
        };
      }),
  );
}
