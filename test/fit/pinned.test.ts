// Weeks of the worlds with two agents each, and what is fitted to them, word for word: a change of any number that `fit`
// finds shows in the files of `pinned/`. `npm test -- test/fit/pinned.test.ts -u` writes them anew; read the difference.
import { expect, test } from "vitest";
import ciFleet from "../../scenarios/ci-fleet.ts";
import herd from "../../scenarios/herd.ts";
import steady from "../../scenarios/steady.ts";
import { backtest } from "../../sim/fit/backtest.ts";
import { checkSteps } from "../../sim/fit/check.ts";
import { checkTable } from "../../sim/fit/check-text.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { fitMarkdown } from "../../sim/fit/report.ts";
import { fittedSource } from "../../sim/fit/source.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules } from "../../src/rules/rules.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { play } from "../worlds/world.ts";
import { worlds } from "../worlds/worlds.ts";
import { logged, traced, tracedNameless } from "./recordings.ts";

const pinned = (name: string): string => `./pinned/${name}.md`;

/** Everything that a fit says: of itself, of its check, and of its backtest. */
function told(recording: Recording, name: string, rules: Rules | undefined, isWhole: boolean): string {
  const fit = fitTo(recording, { name, rules });
  const steps = checkSteps(fit, 3);
  let step = isWhole ? steps.next() : null;
  while (step !== null && step.done !== true) step = steps.next();
  const check = step?.value ?? null;
  const markdown = fitMarkdown({
    ...{ format: "spillway-fit", version: 1, source: name },
    model: fit.model,
    check,
    backtest: isWhole ? backtest(recording, { rules, seeds: 3 }) : null,
  });
  const table = check === null ? [] : checkTable(check);
  return [markdown, ...table, "```ts", fittedSource(fit.model), "```", ""].join("\n");
}

/** Worlds whose weeks are simulated, too, in a second or two. */
const short = ["builds", "mirrors", "offices", "webhooks"];

test.each(worlds)("$name: its week", async (world) => {
  const { rows } = play(world, { firstDay: 0, days: 8, seed: 1, agents: 2 });
  const text = told(recordingOf(rows), world.name, parseRules(worldRules), short.includes(world.name));
  await expect(text).toMatchFileSnapshot(pinned(world.name));
});

const ways = {
  traced,
  tracedNameless,
  logged: (scenario: typeof herd) => logged(scenario, { resolutionMs: 1000 }),
};

test.each(
  [ciFleet, herd, steady].flatMap((scenario) =>
    Object.entries(ways).map(([way, record]) => ({ name: `${scenario.name}-${way}`, scenario, record })),
  ),
)("$name: its ten minutes", async ({ name, scenario, record }) => {
  const recording = record(adjustScenario(scenario, { durationMs: 600_000 }));
  await expect(told(recording, name, undefined, true)).toMatchFileSnapshot(pinned(name));
});
