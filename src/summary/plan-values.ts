// A plan's values and goals in words: its sentences and its page say the same.
import { exactDuration } from "../rules/duration.ts";
import { type FigureUnit, parseFigure, unitOf } from "../rules/figures.ts";
import { exactShare } from "../rules/share.ts";
import { count } from "../rules/words.ts";
import type { PlanAxis, PlanGoal, PlanValue } from "./plan-result.ts";

/** Returns the unit of a figure; `agents.waitP95Ms` has that of `waitP95Ms`. Jain's index is no share of anything. */
export function figureUnit(figure: string): FigureUnit {
  const found = parseFigure(figure);
  return "path" in found || found.name === "fairness" ? "count" : unitOf(found.name);
}

/** Returns a value of an axis: `187`, `2 s`, `waitReset+0..5s`. It is exact, since people set it. */
export function valueText({ unit }: Pick<PlanAxis, "unit">, value: PlanValue): string {
  if (typeof value === "string") return value;
  if (unit === "share") return exactShare(value);
  return unit === "ms" ? exactDuration(value) : count(value);
}

/** Returns `refusedShare <1% and agents.waitP95Ms <=2s`. */
export const goalsText = (goals: readonly PlanGoal[]): string =>
  goals.map(({ figure, bound }) => `${figure} ${bound}`).join(" and ");
