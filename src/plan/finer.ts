// A finer look if nothing held: a coarse grid misses goals that hold only in the middle of a range.
import { isWithin } from "../rules/figures.ts";
import type { PlanPoint, PlanValue } from "../summary/plan-result.ts";
import type { Goal } from "./goals.ts";
import type { Points } from "./points.ts";
import type { PlanSteps } from "./sampling.ts";

/** Number of rounds, each of which tries both sides of the nearest value. */
const roundsMost = 5;

/**
 * Tries values beside the one that came nearest to holding, as long as it lies inside the range.
 * @returns true if the goals held in a run at one of them
 */
export function* lookFiner(
  points: Points,
  goals: readonly Goal[],
  candidates: readonly PlanValue[],
): PlanSteps<boolean> {
  for (let round = 0; round < roundsMost; round++) {
    const measured = points.finish();
    const places = measured.map(({ values }) => candidates.indexOf(values[0] ?? ""));
    const misses = measured.map((point) => missOf(point, goals));
    const at = misses.indexOf(Math.min(...misses));
    const [before, here, after] = [places[at - 1], places[at], places[at + 1]];
    if (before === undefined || here === undefined || after === undefined) return false;
    const middles = [before + here, here + after]
      .map((sum) => Math.floor(sum / 2))
      .filter((place) => !places.includes(place));
    if (middles.length === 0) return false;
    const tried = yield* points.try(
      middles.map((place) => [candidates[place] ?? ""]),
      0,
    );
    if (tried.some(({ held }) => held > 0)) return true;
  }
  return false;
}

/** Returns the distance of a point's figures from their bounds, as shares of these; 0 for figures within. */
function missOf({ figures }: PlanPoint, goals: readonly Goal[]): number {
  const misses = goals.map((goal): number => {
    const mean = figures.find(({ figure }) => figure === goal.figure)?.mean ?? null;
    if (isWithin(goal, mean)) return 0;
    return mean === null
      ? Number.MAX_VALUE
      : Math.abs(mean - goal.value) / Math.max(Math.abs(goal.value), 1e-9);
  });
  return misses.reduce((sum, miss) => sum + miss, 0);
}
