// A day or three of the worlds with one agent each, and what is fitted to them, word for word; of the smallest, what its
// check and its backtest say, too. `npm test -- test/fit/days.test.ts -u` writes the files anew; read the difference.
import { expect, test } from "vitest";
import { backtest } from "../../sim/fit/backtest.ts";
import { checkSteps } from "../../sim/fit/check.ts";
import { checkTable } from "../../sim/fit/check-text.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import { fitMarkdown } from "../../sim/fit/report.ts";
import { fittedSource } from "../../sim/fit/source.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { resultOf } from "../support/result-of.ts";
import { recordingOf, rulesOf } from "../worlds/recorded.ts";
import { play } from "../worlds/world.ts";
import { worlds } from "../worlds/worlds.ts";

/** Worlds of which three days are few calls. */
const small = ["assistants", "builds", "mirrors", "monorepo", "office", "offices", "warehouse"];
/** Of these they are so few that simulating them takes no time. */
const smallest = ["assistants", "mirrors", "monorepo", "warehouse"];

function told(world: (typeof worlds)[number]): string {
  const { name } = world;
  const rules = parseRules(rulesOf(world));
  const recording = recordingOf(
    play(world, { firstDay: 0, days: small.includes(name) ? 3 : 1, seed: 1, agents: 1 }).rows,
  );
  const fit = fitTo(recording, { name, rules });
  const source = ["```ts", fittedSource(fit.model), "```", ""];
  const head = { format: "spillway-fit", version: 1, source: name, model: fit.model } as const;
  if (!smallest.includes(name))
    return [fitMarkdown({ ...head, check: null, backtest: null }), ...source].join("\n");
  const check = resultOf(checkSteps(fit, 3));
  const tested = { check, backtest: backtest(recording, { rules, seeds: 3 }) };
  return [fitMarkdown({ ...head, ...tested }), ...checkTable(check), ...source].join("\n");
}

/** The one agent of `growing` joins on the fifth day. */
test.each(worlds.filter(({ name }) => name !== "growing"))("$name: its days", async (world) => {
  await expect(told(world)).toMatchFileSnapshot(`./pinned/days-of-${world.name}.md`);
});
