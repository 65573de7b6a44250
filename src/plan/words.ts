// Figures and intervals in words, the same on every machine.
import { duration } from "../rules/duration.ts";
import { exactShare } from "../rules/share.ts";
import { count } from "../rules/words.ts";
import type { PlanFigure } from "../summary/plan-result.ts";
import { figureUnit } from "../summary/plan-values.ts";

/** Returns `95%`, `0.42%`: three digits, two below 10%. */
export const shareText = (share: number): string =>
  `${Number((share * 100).toPrecision(share < 0.1 ? 2 : 3))}%`;

/** Returns an amount in its figure's unit. @param figure as it was written: `agents.waitP95Ms` */
function amountText(figure: string, amount: number): string {
  const unit = figureUnit(figure);
  if (unit === "share") return shareText(amount);
  return unit === "ms"
    ? duration(amount)
    : count(Number.isInteger(amount) ? amount : Number(amount.toPrecision(4)));
}

/** Returns `4.2% on average, 3.1% to 5.5% by run`; `nothing to measure` if there was none. */
export function spreadText({ figure, mean, least, most }: PlanFigure): string {
  if (mean === null || least === null || most === null) return "nothing to measure";
  const range = rangeText(figure, least, most);
  return range === amountText(figure, least)
    ? range
    : `${amountText(figure, mean)} on average, ${range} by run`;
}

/** Returns `3.1% to 5.5%`; one amount if both are alike in words. */
export function rangeText(figure: string, least: number, most: number): string {
  const [low, high] = [amountText(figure, least), amountText(figure, most)];
  return low === high ? low : `${low} to ${high}`;
}

export const meanText = ({ figure, mean }: PlanFigure): string =>
  mean === null ? "–" : amountText(figure, mean);

/** Returns `(95% confidence)`. */
export const sureText = (confidence: number): string => `(${exactShare(confidence)} confidence)`;
