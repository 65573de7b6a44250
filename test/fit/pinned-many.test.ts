// Fits of many small drawn recordings, a line each: a change that the few of `pinned-drawn.test.ts` do not meet shows here.
// `npm run test:long -- test/fit/pinned-many.test.ts -u` writes the lines anew; read the difference.
// @module-tag long
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import type { FittedModel } from "../../sim/fit/model.ts";
import { digestOf } from "../support/digest.ts";
import { drawnRecording } from "./drawn-recordings.ts";

/** Returns a seed's fit in short: its populations by behaviour and callers, and a digest of all that was found. */
function lineOf(seed: number, model: FittedModel): string {
  const digest = digestOf(model);
  const found = model.populations.map(({ behaviour, callers }) => `${behaviour.kind} ${callers}`);
  return `${seed}: ${model.calls} calls, ${found.join(", ")}; ${digest}`;
}

test("many small drawn recordings are fitted as ever", async () => {
  const seeds = Array.from({ length: 132 }, (_, index) => index + 19);
  const lines = seeds.map((seed) => lineOf(seed, fitScenario(drawnRecording(seed))));
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("./pinned/drawn-many.txt");
});
