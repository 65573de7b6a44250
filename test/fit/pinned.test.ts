// Weeks of worlds, and what is fitted to them, word for word: a change of any number that `fit` finds shows in the files
// of `pinned/`. A week stands here if its fit reaches code that no other pinned fit reaches; all worlds are in days.test.ts.
// `npm test -- test/fit/pinned.test.ts -u` writes the files anew; read the difference.
// @module-tag long
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
import { resultOf } from "../support/result-of.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { play } from "../worlds/world.ts";
import { worlds } from "../worlds/worlds.ts";
import { logged, traced, tracedNameless } from "./recordings.ts";

const pinned = (name: string): string => `./pinned/${name}.md`;

/** Everything that a fit says: of itself, of its check, and of its backtest. */
function told(recording: Recording, name: string, rules: Rules | undefined, isWhole: boolean): string {
  const fit = fitTo(recording, { name, rules });
  const check = isWhole ? resultOf(checkSteps(fit, 3)) : null;
  const markdown = fitMarkdown({
    ...{ format: "spillway-fit", version: 1, source: name },
    model: fit.model,
    check,
    backtest: isWhole ? backtest(recording, { rules, seeds: 3 }) : null,
  });
  const table = check === null ? [] : checkTable(check);
  return [markdown, ...table, "```ts", fittedSource(fit.model), "```", ""].join("\n");
}

/** Number of agents in the week of a world. */
const weeks: Readonly<Record<string, number>> = {
  ...{
    assistants: 2,
    builds: 1,
    feeds: 1,
    gateways: 2,
    growing: 2,
    helpdesk: 1,
    infrastructure: 2,
    matrices: 2,
  },
  ...{ mirrors: 1, mixed: 1, mobile: 1, monorepo: 2, newcomer: 1, throttled: 2, tills: 1, "time-outs": 2 },
};
/** Worlds whose weeks are simulated, too, in a second or less. */
const short = ["builds", "mirrors"];

test.each(Object.entries(weeks))("%s: its week", async (name, agents) => {
  const world = worlds.find((one) => one.name === name);
  if (world === undefined) throw new RangeError(`${name} is no world`);
  const { rows } = play(world, { firstDay: 0, days: 8, seed: 1, agents });
  const text = told(recordingOf(rows), world.name, parseRules(worldRules), short.includes(world.name));
  await expect(text).toMatchFileSnapshot(pinned(world.name));
});

const ways = {
  traced,
  tracedNameless,
  logged: (scenario: typeof herd) => logged(scenario, { resolutionMs: 1000 }),
};

/** In fewer minutes nobody is refused. */
const long = ["ci-fleet-traced"];

test.each(
  [ciFleet, herd, steady].flatMap((scenario) =>
    Object.entries(ways).map(([way, record]) => ({ name: `${scenario.name}-${way}`, scenario, record })),
  ),
)("$name: its minutes", async ({ name, scenario, record }) => {
  const recording = record(adjustScenario(scenario, { durationMs: long.includes(name) ? 600_000 : 300_000 }));
  await expect(told(recording, name, undefined, true)).toMatchFileSnapshot(pinned(name));
});
