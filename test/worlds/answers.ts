// The worlds' own answers, from many plays each.
import { type DayFigures, dayFigures, median } from "./figures.ts";
import { dayMs, mondayMs, type Patience, play, type World } from "./world.ts";

/** Day of the questions: the second Monday. */
export const askedDay = 7;
export const askedMs = mondayMs + askedDay * dayMs;
const usualGoal = 0.02;
/** Returns the largest accepted share of refused calls on the median day. */
export const goalOf = ({ goal }: Pick<World, "goal">): number => goal ?? usualGoal;

export function playedDays(
  world: World,
  plays: number,
  asked: { agents?: number; patience?: Patience } = {},
  firstSeed = 1_000,
): DayFigures[] {
  return Array.from({ length: plays }, (_, index) =>
    dayFigures(play(world, { firstDay: askedDay, days: 1, seed: firstSeed + index, ...asked }), askedMs),
  );
}

/**
 * Returns the largest fleet that keeps the goal on the median day, by halving.
 * @param refusedShare returns the median day's share of refused calls for a number of agents
 */
export function largestFleet(world: World, refusedShare: (agents: number) => number): number {
  const { agents } = world;
  const goal = goalOf(world);
  let holds = 0;
  let fails = 2 * agents;
  while (refusedShare(fails) < goal && fails < 64 * agents) {
    holds = fails;
    fails *= 2;
  }
  while (fails - holds > Math.max(1, fails / 30)) {
    const middle = Math.round((holds + fails) / 2);
    if (refusedShare(middle) < goal) holds = middle;
    else fails = middle;
  }
  return holds;
}

export const middleShare = (days: readonly DayFigures[]): number =>
  median(days.map(({ refusedShare }) => refusedShare));
