// Values, figures and intervals in words, the same on every machine.
import { exactDuration } from "../rules/duration.ts";
import { parseFigure, unitOf } from "../rules/figures.ts";
import { exactShare } from "../rules/share.ts";
import { count } from "../rules/words.ts";
import type { PlanAxis, PlanFigure, PlanGoal, PlanValue } from "../summary/plan-result.ts";

const rounded = (value: number, digits: number): string => String(Number(value.toPrecision(digits)));

/** Returns `350 ms`, `1.5 s`, `12 min`, `3 h`: three digits. */
function msText(ms: number): string {
  if (ms < 1000) return `${rounded(ms, 3)} ms`;
  if (ms < 120_000) return `${rounded(ms / 1000, 3)} s`;
  return ms < 7_200_000 ? `${rounded(ms / 60_000, 3)} min` : `${rounded(ms / 3_600_000, 3)} h`;
}

/** Returns `95%`, `0.42%`: three digits, two below 10%. */
export const shareText = (share: number): string => `${rounded(share * 100, share < 0.1 ? 2 : 3)}%`;

const countText = (value: number): string =>
  count(Number.isInteger(value) ? value : Number(value.toPrecision(4)));

/** Returns a value of an axis: `187`, `2 s`, `waitReset+0..5s`. It is exact, since people set it. */
export function valueText(unit: PlanAxis["unit"], value: PlanValue): string {
  if (typeof value === "string") return value;
  if (unit === "share") return exactShare(value);
  return unit === "ms" ? exactDuration(value, msText(value)) : countText(value);
}

/** Returns an amount in its figure's unit. @param figure as it was written: `agents.waitP95Ms` */
function amountText(figure: string, amount: number): string {
  const found = parseFigure(figure);
  const unit = "path" in found ? "count" : unitOf(found.name);
  return unit === "ms" ? msText(amount) : unit === "share" ? shareText(amount) : countText(amount);
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

/** Returns `refusedShare<1% and agents.waitP95Ms<=2s`. */
export const goalsText = (goals: readonly PlanGoal[]): string =>
  goals.map(({ figure, bound }) => `${figure} ${bound}`).join(" and ");

/** Returns `a`, `a and b`, `a, b and c`. */
export function listText(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** Returns `(95% confidence)`. */
export const sureText = (confidence: number): string => `(${exactShare(confidence)} confidence)`;
