// Cells of a plan's tables: a state with a mark beside its colour, a mean above its interval.

import { count } from "../rules/words.ts";
import type { PlanPoint } from "../summary/plan-result.ts";
import { type Html, html } from "./html.ts";
import { aroundMean, figureNamed, intervalText, meanText, stateText } from "./plan-words.ts";

export function stateCell(state: ReturnType<typeof stateText>): Html | string {
  if (state === null) return "–";
  if (state === "holds") return html`<span class="state good">✓ holds</span>`;
  return state === "fails"
    ? html`<span class="state bad">✗ fails</span>`
    : html`<span class="state none">? ${state}</span>`;
}

export const pointCell = (point: PlanPoint): Html | string => stateCell(stateText(point));

/** Returns in how many runs the goals held, and what that says of all runs. */
export function heldCell({ held, replications, heldShare }: PlanPoint): Html | string {
  if (held === null) return "–";
  return html`${count(held)} of ${count(replications)}<small>${intervalText("share", heldShare)} of all</small>`;
}

export function figureCell(point: Pick<PlanPoint, "figures">, figure: string): Html | string {
  const found = figureNamed(point, figure);
  const around = aroundMean(found);
  return around === null ? meanText(found) : html`${meanText(found)}<small>${around}</small>`;
}
