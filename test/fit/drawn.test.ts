// Fits of small drawn recordings, word for word: a change of any number that `fit` finds shows in `pinned/drawn.txt`.
// `npm test -- test/fit/drawn.test.ts -u` writes the file anew; read the difference.
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedModel } from "../../sim/fit/model.ts";
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

test("small drawn recordings are fitted as ever", async () => {
  const seeds = Array.from({ length: 40 }, (_, index) => index + 1);
  const lines = seeds.flatMap((seed) => [`seed ${seed}`, ...linesOf(fitScenario(drawnRecording(seed)))]);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn.txt");
});
