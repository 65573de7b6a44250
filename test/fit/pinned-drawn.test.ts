// Fits of small drawn recordings, word for word: a change of any number that `fit` finds shows in `pinned/drawn.txt`.
// `npm test -- test/fit/pinned-drawn.test.ts -u` writes the file anew; read the difference.
import { expect, test } from "vitest";
import { backtest } from "../../sim/fit/backtest.ts";
import { checkSteps } from "../../sim/fit/check.ts";
import { checkTable } from "../../sim/fit/check-text.ts";
import { fitScenario, fitTo } from "../../sim/fit/fit.ts";
import type { FittedModel } from "../../sim/fit/model.ts";
import { fitMarkdown } from "../../sim/fit/report.ts";
import { fittedSource } from "../../sim/fit/source.ts";
import { resultOf } from "../support/result-of.ts";
import { drawnRecording } from "./drawn-recordings.ts";

/** Writes lists of many numbers as their number, their sum, and the sum of each times its place. */
const brief = (_name: string, value: unknown): unknown => {
  if (!Array.isArray(value) || value.length < 9 || typeof value[0] !== "number") return value;
  const numbers: readonly number[] = value;
  const sum = numbers.reduce((all, number) => all + number, 0);
  return [numbers.length, sum, numbers.reduce((all, number, place) => all + number * (place + 1), 0)];
};
const text = (value: unknown): string => JSON.stringify(value, brief);

/** Everything that a fit finds, a line each. */
function linesOf({ populations, network, outages, doubts, untold, ...model }: FittedModel): string[] {
  const { startAtMs, durationMs, settledAtMs, calls, callers, unexplained } = model;
  return [
    text({ startAtMs, durationMs, settledAtMs, calls, callers, unexplained, untold }),
    ...populations.map((population) => text(population)),
    ...[network, outages, doubts].map((found) => text(found)),
  ];
}

/** The first lines of what is said of a fit, its check and its backtest, and the length of all of it. */
const extract = (lines: readonly string[]): string[] => [...lines.slice(0, 40), `${lines.join("\n").length}`];

test("scripts, reports, checks and backtests of the smallest are as ever", async () => {
  const lines = [19, 33, 35].flatMap((seed) => {
    const recording = drawnRecording(seed);
    const fit = fitTo(recording);
    const check = resultOf(checkSteps(fit, 3));
    const predicted = backtest(recording, { seeds: 3 });
    const { windows, model, ...result } = predicted;
    const source = { format: "spillway-fit", version: 1, source: `seed ${seed}` } as const;
    const markdown = fitMarkdown({ ...source, model: fit.model, check, backtest: predicted });
    return [
      ...[`# seed ${seed}`, ...checkTable(check), ...extract(markdown.split("\n"))],
      ...extract(fittedSource(fit.model).split("\n")),
      ...[...windows.slice(0, 20), result].map((found) => text(found)),
    ];
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn-checks.txt");
});

test("small drawn recordings are fitted as ever", async () => {
  const seeds = Array.from({ length: 18 }, (_, index) => index + 1);
  const lines = seeds.flatMap((seed) => [`seed ${seed}`, ...linesOf(fitScenario(drawnRecording(seed)))]);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn.txt");
});
