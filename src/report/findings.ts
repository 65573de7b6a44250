// The oracle's findings, beside which laws held: amounts, accepted violations, each other violation with its picture,
// and what the trace showed of the rules.

import type { Policy } from "../policy/policy.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import type { Verdict, Violation, WindowAmounts } from "../verify/verdict.ts";
import { instant } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery } from "./picture.ts";
import { placesFigure, placesKey } from "./places-picture.ts";
import { ownerWords, unitsOf } from "./source.ts";
import { type Column, foldedTable } from "./table.ts";
import { amountWords, inferredWords, leftOut, questionWords, windowOffWords } from "./verdict-words.ts";

/** Number of violations in the page; verdict.json has all. */
const violationsShown = 20;
/** Number of violations with a picture. Pictures are large, and the likeliest violations come first. */
const picturesMost = 6;

/** Returns amounts, accepted violations, and the violations, the likeliest first. */
export function findings(verdict: Verdict, gallery: Gallery, policy: Policy | undefined): Html {
  const { violations, accepted = [] } = verdict;
  const shown = violations.slice(0, violationsShown);
  const more = violations.length - shown.length + leftOut(verdict);
  return html`${amounts(verdict, policy)}${accepted.map(
    ({ expectation, explanation }) =>
      html`<p>Accepted, as <code>${expectation}</code> asks: ${explanation}</p>\n`,
  )}${
    shown.slice(0, picturesMost).some(({ places }) => places !== undefined)
      ? html`<p class="kicker">${placesKey}</p>\n`
      : null
  }${shown.map((violation, index) => violationBlock(violation, index, gallery, policy))}${
    more > 0 ? html`<p>And ${counted(more, "violation")} more, in verdict.json.</p>\n` : null
  }`;
}

const amountColumns = (policy: Policy | undefined): Column<WindowAmounts>[] => [
  { title: "Window", name: true, cell: ownerWords },
  { title: "Until", number: true, cell: ({ window }) => instant(window.endsAt) },
  { title: "Admitted", number: true, cell: ({ admitted }) => count(admitted) },
  { title: "Off by, at least", cell: (window) => windowOffWords(window, unitsOf(window, policy)) },
];

function amounts(verdict: Verdict, policy: Policy | undefined): Html | null {
  const words = amountWords(verdict);
  if (words === "") return null;
  const windows = verdict.amounts?.windows ?? [];
  const options = { caption: "The windows that are off, the worst first", opener: "Which windows" };
  return html`<p>${words}</p>
${windows.length === 0 ? null : foldedTable(amountColumns(policy), windows, options)}`;
}

function violationBlock(
  violation: Violation,
  index: number,
  gallery: Gallery,
  policy: Policy | undefined,
): Html {
  const { law, window, count: times, lines, suspects, explanation } = violation;
  const where = window === null ? "" : `, window ${instant(window.opensAt)} to ${instant(window.endsAt)}`;
  return html`<div class="violation"><h3>${shortName(law)}: <bdi>${ownerWords(violation)}</bdi>${where}</h3>
<p>${explanation}</p>
<p class="kicker">Seen ${counted(times, "time")}; trace ${lineWords(lines)}.${
    suspects.length === 0 ? "" : ` It looks like ${suspects.join(", or ")}.`
  }</p>
${index < picturesMost ? placesFigure(violation, index, gallery, policy) : null}</div>
`;
}

/** Returns the questions that only rules, or a policy, can settle. */
export function asked(verdict: Verdict): Html | null {
  const questions = questionWords(verdict);
  if (questions.length === 0) return null;
  return html`<h3>${verdict.inferred === undefined ? "Asked of the policy" : "Asked, since no rules were given"}</h3><ul>${questions.map((one) => html`<li>${one}</li>\n`)}</ul>\n`;
}

/** Returns what a trace without rules told of the switches; `null` if the rules were given. */
export function inferences({ inferred = [] }: Verdict): Html | null {
  if (inferred.length === 0) return null;
  const items = inferred.map(
    (one) =>
      html`<li>${inferredWords(one)} <span class="kicker">(trace ${lineWords(one.lines)})</span></li>\n`,
  );
  return html`<details><summary>What the trace showed of the rules</summary><ul>${items}</ul></details>\n`;
}

const lineWords = (lines: readonly number[]): string =>
  `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}`;
