// Our engine keeps every law: under rules of all kinds, under each preset, and with each switch alone.
// @module-tag long
import { describe, test } from "vitest";
import {
  checkLaws,
  engineFactory,
  type LimiterLawName,
  limiterLawNames,
  parseRules,
  presets,
} from "../../src/laws/index.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { expectKept } from "./expectations.ts";

const seed = 20_260_101;

describe(`the engine, seed ${seed}`, () => {
  test.each(limiterLawNames)("keeps %s in 20 runs", async (law) => {
    // Every fault of the catalogue that the laws find at all shows to one of them within 7 runs.
    expectKept(await checkLaws(engineFactory, { seed, laws: [law], runs: 20 }));
  });

  test("keeps every law near the epoch, where times step back to 0", async () => {
    // Every fault of the catalogue that the laws find at all shows there within 4 runs.
    expectKept(await checkLaws(engineFactory, { seed, startMs: 0, runs: 8 }));
  });
});

describe(`the engine under one set of rules, seed ${seed}`, () => {
  const small = {
    organization: { rest: { limit: 4, windowSeconds: 6 }, graphql: { limit: 9, windowSeconds: 10 } },
    user: { rest: { limit: 2, windowSeconds: 4 }, graphql: { limit: 5, windowSeconds: 10 } },
  };

  test.each(Object.keys(presets) as (keyof typeof presets)[])(
    "keeps every law of preset %s",
    async (name) => {
      const rules = parseRules(presets[name]);
      const skipped: LimiterLawName[] = name === "documented" ? ["bounded"] : [];
      // Faults of the catalogue show within 6 runs there; one that counts in 32 bits shows under no preset.
      const report = await checkLaws(engineFactory, { seed, rules, runs: 8 });
      expectKept(report, skipped);
    },
  );

  test("keeps every law with every switch at its default", async () => {
    // An engine that charges GraphQL prepaid instead shows in run 17.
    expectKept(await checkLaws(engineFactory, { seed, rules: parseRules(small), runs: 20 }));
  });

  const switches = Object.entries(switchValues).flatMap(([name, [, ...others]]) =>
    others.map((value) => [name as SwitchName, value] as const),
  );
  test.each(switches)("keeps every law with %s = %s alone", async (name, value) => {
    const rules = parseRules({ ...small, semantics: { [name]: value } });
    const skipped: LimiterLawName[] =
      name === "refused" && value === "counted" ? ["bounded", "give-back"] : [];
    // An engine that follows another value of the switch shows in 2 runs, where the laws can tell the two apart.
    expectKept(await checkLaws(engineFactory, { seed, rules, runs: 8 }), skipped);
  });
});
