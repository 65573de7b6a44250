// Policies and limits side by side: what to change.

import { exactShare } from "../rules/share.ts";
import type { PlanAlternative, PlanComparison, PlanResult } from "../summary/plan-result.ts";
import { figureUnit } from "../summary/plan-values.ts";
import { seriesColor } from "./axes.ts";
import { type Html, html } from "./html.ts";
import { intervalPicture } from "./interval-rows.ts";
import type { Gallery, Picture } from "./picture.ts";
import { figureCell } from "./plan-cells.ts";
import { alternativesOf, figureNamed, meanText, measuredFigures } from "./plan-words.ts";
import { type Column, foldedTable } from "./table.ts";

const drawn = {
  refusedShare: "share of calls refused",
  waitP95Ms: "wait, 95th percentile",
} as const;
const listed = ["refusedShare", "refusedFirstSecondShare", "waitP95Ms", "gaveUp", "admitted"] as const;

export function alternativesSection(result: PlanResult, comparison: PlanComparison, gallery: Gallery): Html {
  const { populations } = comparison;
  return html`<section id="comparison">
<h2>What to change</h2>
<p>${
    populations.length === 0
      ? "No population is refused as things stand: there is nothing to change."
      : `Each population that is refused, under other policies and larger limits, each the mean of its runs with its interval at ${exactShare(result.question.confidence)} confidence. All else stays as it is.`
  }</p>
${populations.map((population, index) => populationBlock(population, index, comparison, gallery))}</section>
`;
}

function populationBlock(
  population: string,
  index: number,
  comparison: PlanComparison,
  gallery: Gallery,
): Html {
  const rows = alternativesOf(comparison, population);
  const columns: Column<PlanAlternative>[] = [
    { title: "Policy", name: true, cell: (one) => (one.asIs ? "as things stand" : one.policy) },
    { title: "Limits", cell: ({ limits }) => limits },
    ...measuredFigures(rows, population, listed).map(
      (figure): Column<PlanAlternative> => ({
        title: figure,
        number: true,
        cell: (one) => figureCell(one, `${population}.${figure}`),
      }),
    ),
  ];
  const pictures = Object.entries(drawn).map(([figure, words]) =>
    alternativesPicture(population, index, figure, words, rows),
  );
  return html`${pictures.map(
    (picture) => html`<figure><h3>${picture.title}</h3>
${gallery.draw(picture)}</figure>
`,
  )}${foldedTable(columns, rows, { caption: `${population} under other policies and limits`, opener: `${population}: the numbers` })}`;
}

function alternativesPicture(
  population: string,
  index: number,
  figure: string,
  words: string,
  rows: readonly PlanAlternative[],
): Picture {
  const name = `${population}.${figure}`;
  const limits = [...new Set(rows.map((one) => one.limits))];
  const asIs = rows.find((one) => one.asIs);
  const now = asIs === undefined ? null : (figureNamed(asIs, name)?.mean ?? null);
  const nameOf = (one: PlanAlternative): string =>
    one.asIs
      ? "as things stand"
      : one.limits === "as they are"
        ? one.policy
        : `${one.policy}, limits ${one.limits}`;
  return intervalPicture({
    id: `alternatives-${index + 1}-${figure.toLowerCase()}`,
    title: `${population}: ${words}`,
    label: `${population}, ${words}: ${rows.map((one) => `${nameOf(one)} ${meanText(figureNamed(one, name))}`).join("; ")}.`,
    what: "alternative",
    figure: words,
    ends: ["low", "high"],
    unit: figureUnit(figure),
    rows: rows.map((one) => {
      const found = figureNamed(one, name);
      return {
        name: nameOf(one),
        mean: found?.mean ?? null,
        low: found?.interval?.low ?? null,
        high: found?.interval?.high ?? null,
        color: one.asIs ? "var(--ink)" : seriesColor(limits.indexOf(one.limits)),
      };
    }),
    line: now === null ? null : { at: now, name: "as things stand" },
    legend: [
      { name: words, swatch: "line", color: "var(--muted)" },
      ...limits.map((one, place) => ({
        name: `limits ${one}`,
        swatch: "area" as const,
        color: seriesColor(place),
      })),
    ],
  });
}
