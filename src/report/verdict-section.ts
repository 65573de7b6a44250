// The verdict: the findings, each law's state, each expectation.
import type { Policy } from "../policy/policy.ts";
import { type LawName, lawNames, lawStatements } from "../rules/laws.ts";
import { counted } from "../rules/words.ts";
import type { ExpectationResult } from "../summary/summary.ts";
import type { LawVerdict, Verdict } from "../verify/verdict.ts";
import { asked, findings, inferences } from "./findings.ts";
import { figureText } from "./format.ts";
import { type Html, html } from "./html.ts";
import type { Gallery } from "./picture.ts";
import { figureOf } from "./source.ts";
import { table } from "./table.ts";
import { evidenceWords, methodWords, notJudgedWords, otherQuotaWords } from "./verdict-words.ts";

export function verdictSection({
  verdict,
  expectations,
  gallery,
  policy,
}: {
  readonly verdict: Verdict | null;
  readonly expectations: readonly ExpectationResult[];
  readonly gallery: Gallery;
  /** Policy that the trace is about, if any. */
  readonly policy: Policy | undefined;
}): Html {
  return html`<section id="verdict">
<h2>Verdict</h2>
${verdict === null ? html`<p>This run was not judged; <code>npx spillway verify</code> judges its trace.</p>\n` : judged(verdict, gallery, policy)}${
  expectations.length === 0
    ? null
    : html`<h3>What the scenario expected</h3>\n${expectationTable(expectations)}`
}</section>
`;
}

function judged(verdict: Verdict, gallery: Gallery, policy: Policy | undefined): Html {
  const over = `${counted(verdict.records, "record")} in ${counted(verdict.windows, "window")}`;
  return html`<p>Judged from the trace alone, over ${over}. ${methodWords(verdict)} ${otherQuotaWords(verdict)} A law that held was not contradicted here; that proves nothing beyond this trace.</p>
${notJudged(verdict)}${findings(verdict, gallery, policy)}${asked(verdict)}${lawList(verdict)}<details><summary>What each law says</summary>${lawTable(verdict)}</details>
${inferences(verdict)}`;
}

function notJudged(verdict: Verdict): Html | null {
  const words = notJudgedWords(verdict);
  return words.length === 0 ? null : html`<p>Not judged: ${words.join(" ")}</p>\n`;
}

const stateOf = (state: LawVerdict | undefined): Html => {
  if (state === "held") return html`<span class="state good">✓ held</span>`;
  if (state === "violated") return html`<span class="state bad">✗ broken</span>`;
  return html`<span class="state none">– ${state === undefined ? "not judged" : `not judged: ${state.skipped}`}</span>`;
};

const marks = { good: "✓", bad: "✗", none: "–" } as const;

/** Returns every law at a glance: broken ones first, those that could not be judged last. */
function lawList(verdict: Verdict): Html {
  const items = sortedLaws(verdict).map(({ name, state }) => {
    const kind = state === "held" ? "good" : state === "violated" ? "bad" : "none";
    const spoken = { good: "held: ", bad: "broken: ", none: "not judged: " }[kind];
    return html`<li class="state ${kind}"><span aria-hidden="true">${marks[kind]}</span><span class="spoken">${spoken}</span> ${name}</li>\n`;
  });
  return html`<ul class="laws">${items}</ul>\n`;
}

function sortedLaws({ laws }: Verdict): { name: LawName; state: LawVerdict | undefined }[] {
  const rank = (state: LawVerdict | undefined): number =>
    state === "violated" ? 0 : state === "held" ? 1 : 2;
  return lawNames
    .map((name) => ({ name, state: laws[name] as LawVerdict | undefined }))
    .sort((a, b) => rank(a.state) - rank(b.state));
}

function lawTable(verdict: Verdict): Html {
  const { evidence } = verdict;
  return table(
    [
      { title: "Law", name: true, cell: ({ name }) => html`<code>${name}</code>` },
      { title: "What it says", cell: ({ name }) => lawStatements[name] },
      { title: "In this trace", cell: ({ state }) => stateOf(state) },
      {
        title: "Tested on",
        cell: ({ name }) => (evidence === undefined ? "" : evidenceWords(evidence[name])),
      },
    ],
    sortedLaws(verdict),
    { caption: "The laws and whether they held", titled: true, stack: true },
  );
}

function expectationTable(expectations: readonly ExpectationResult[]): Html {
  return table(
    [
      { title: "Figure", name: true, cell: ({ figure }) => html`<code>${figure}</code>` },
      { title: "Expected", number: true, cell: ({ bound }) => bound },
      { title: "Was", number: true, cell: ({ figure, actual }) => figureText(figureOf(figure), actual) },
      {
        title: "Result",
        cell: ({ held }) =>
          held ? html`<span class="state good">✓ held</span>` : html`<span class="state bad">✗ missed</span>`,
      },
    ],
    expectations,
    { caption: "The scenario's expectations and what became of them", titled: true },
  );
}
