// A world drawn whole from a seed and its number: rules, clients, network and trouble, with features left out at random
// (`features.ts` says why).

import { drawPopulations } from "./clients.ts";
import { Dice } from "./dice.ts";
import { drawFeatures, type Feature } from "./features.ts";
import { type AllowedSwitches, drawRules } from "./rules.ts";
import type { Plain, PlainObject, WorldRecipe } from "./world-recipe.ts";

/** Parts that are not drawn, because a fault or a limiter does not fit them. */
export interface Constraints {
  readonly switches?: AllowedSwitches | undefined;
  readonly without?: readonly Feature[] | undefined;
}

/** A world, and the features that it was drawn to have. */
export interface DrawnWorld {
  readonly recipe: WorldRecipe;
  readonly features: ReadonlySet<Feature>;
}

const durationMsMost = 150_000;

/** Draws a world. The same seed, number and constraints give the same world. */
export function drawWorld(seed: number, index: number, constraints: Constraints = {}): DrawnWorld {
  const dice = new Dice(seed, index);
  const has = drawFeatures(dice, new Set(constraints.without));
  const { rules, windowMsMost, pointsLeast } = drawRules(dice, has, constraints.switches ?? {});
  const durationMs = Math.min(durationMsMost, Math.max(8_000, windowMsMost * dice.between(2, 5)));
  const recipe: WorldRecipe = {
    name: `world-${seed}-${index}`,
    seed: dice.seed(),
    duration: durationMs,
    ...(has.has("start off the grid") ? { startAt: startAt(dice) } : {}),
    rules,
    ...surroundings(dice, has, durationMs, windowMsMost),
    populations: drawPopulations(dice, { has, durationMs, windowMsMost, pointsLeast }),
  };
  return { recipe, features: has };
}

/** Draws a time within the day after 2026 began. */
function startAt(dice: Dice): string {
  return new Date(Date.UTC(2026, 0, 1) + dice.between(1, 86_399_999)).toISOString();
}

function surroundings(
  dice: Dice,
  has: ReadonlySet<Feature>,
  durationMs: number,
  windowMsMost: number,
): PlainObject {
  const network: Record<string, Plain> = {};
  if (has.has("slow network"))
    network[dice.of(["latency", "roundTrip"])] = tripMs(dice, has.has("skewed times"));
  if (has.has("slow queries")) network["execution"] = { least: 0, most: Math.ceil(windowMsMost * 1.2) };
  if (has.has("loss")) network["loss"] = dice.between(1, 20) / 100;
  if (has.has("loss") || has.has("short time-outs")) network["timeout"] = dice.between(50, 5_000);
  if (has.has("late timers")) network["lateness"] = { least: 0, most: dice.between(1, 200) };
  const outage = (): PlainObject => ({
    at: dice.between(0, durationMs),
    for: dice.between(1, Math.ceil(durationMs / 4)),
    answer: dice.of([503, "none"]),
  });
  return {
    ...(Object.keys(network).length > 0 ? { network } : {}),
    ...(has.has("outages") ? { outages: [outage()] } : {}),
    ...(has.has("servers with a queue") ? { service: service(dice) } : {}),
    ...(has.has("clocks apart") ? { clocks: { apart: dice.of([1, 20, 300]) } } : {}),
  };
}

function tripMs(dice: Dice, isSkewed: boolean): PlainObject {
  const median = dice.between(5, 400);
  const uniform = { least: 1, most: 2 * median };
  if (!isSkewed) return uniform;
  return dice.of<PlainObject>([
    uniform,
    { median, p95: median * dice.between(2, 6) },
    { quantiles: [1, 2, median, 5 * median] },
  ]);
}

function service(dice: Dice): PlainObject {
  const time = { least: 1, most: dice.between(2, 400) };
  return { servers: dice.between(1, 6), time, ...(dice.oneIn(2) ? { queue: dice.between(0, 20) } : {}) };
}
