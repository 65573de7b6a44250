// A fit's check of itself in words: its first line, and a table of what was recorded beside what is simulated.

import { columns } from "../../src/rules/columns.ts";
import { shortName } from "../../src/rules/printable.ts";
import { count, counted } from "../../src/rules/words.ts";
import type { CheckedFigure, CheckRow, FitCheck } from "./check-result.ts";
import { timeText } from "./words.ts";

const figureText: Readonly<Record<CheckedFigure, string>> = {
  calls: "calls",
  refused: "refused",
  admittedP50: "admitted per window, median",
  admittedP95: "admitted per window, p95",
  admittedMost: "admitted per window, most",
  waitP50Ms: "median wait",
  waitP95Ms: "p95 wait",
  waitP99Ms: "p99 wait",
  busiest: "calls of the busiest window",
};

/** Returns the name of a figure, with its unit. */
export const checkedText = (figure: CheckedFigure): string =>
  figureText[figure] + (figure.endsWith("Ms") ? ", ms" : "");

const valueText = (figure: CheckedFigure, value: number | null): string =>
  value === null
    ? "not recorded"
    : figure.endsWith("Ms")
      ? timeText(Math.round(value))
      : count(Math.round(value));

export function findingText({ population, figure, recorded, least, most }: CheckRow): string {
  const text = (value: number | null): string => valueText(figure, value);
  const simulated = text(least) === text(most) ? text(least) : `${text(least)} to ${text(most)}`;
  return `${population === null ? "all" : shortName(population)}: ${figureText[figure]}: ${text(recorded)} recorded, ${simulated} simulated`;
}

/** Returns the check's first line, which names what is off by more than chance. */
export function checkText({ seeds, findings }: FitCheck): string {
  const [first] = findings;
  const rest = findings.length - 1;
  return first === undefined
    ? `check: ${counted(seeds, "simulation")} of the scenario are as the recording, within chance`
    : `check: off by more than chance: ${first}${rest === 0 ? "" : `; and ${counted(rest, "other figure")}`}`;
}

/** Number of populations that a terminal shows beside all together. */
const shownMost = 6;

/** Returns the lines of a table of recorded and simulated values, one row a figure; `!` ends a row that is off. */
export function checkTable({ rows }: FitCheck): string[] {
  const names = [...new Set(rows.map(({ population }) => population))];
  const shown = [null, ...names.filter((name) => name !== null).slice(0, shownMost)];
  const body = shown.flatMap((name) =>
    rows
      .filter(({ population }) => population === name)
      .map(({ figure, recorded, middle, least, most, off }) => [
        `${name === null ? "all" : shortName(name)}: ${figureText[figure]}`,
        valueText(figure, recorded),
        valueText(figure, middle),
        `${valueText(figure, least)} to ${valueText(figure, most)}${off ? " !" : ""}`,
      ]),
  );
  const table = [["", "recorded", "simulated", "of all simulations"], ...body];
  const more =
    names.length > shown.length
      ? [`  (${counted(names.length - shown.length, "other population")} in --json and --report)`]
      : [];
  const lines = columns(table, { right: [1, 2] }).map((line) => `  ${line}`);
  return [...lines, ...more];
}
