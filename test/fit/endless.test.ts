// No fitted client calls without pause or end: some lanes of calls that overlap show no pauses of their own.
import { expect, test } from "vitest";
import { fitScenario } from "../../sim/fit/fit.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { infrastructure } from "../worlds/infrastructure.ts";
import { recordingOf, worldRules } from "../worlds/recorded.ts";
import { play } from "../worlds/world.ts";

test("calls of several processes under one token leave no worker that never pauses", () => {
  const week = play(infrastructure, { firstDay: 0, days: 7, seed: 2 });
  const { populations } = fitScenario(recordingOf(week.rows), { rules: parseRules(worldRules) });
  const loops = populations.flatMap(({ behaviour }) =>
    (behaviour.kind === "together" ? behaviour.parts : [{ behaviour }]).map(({ behaviour: part }) =>
      "of" in part ? part.of : part,
    ),
  );
  expect(loops.length).toBeGreaterThan(18);
  const workers = loops.filter(({ kind }) => kind === "worker");
  expect(workers.length).toBeGreaterThan(10);
  expect(workers).not.toContainEqual(
    expect.objectContaining({ think: { kind: "constant", ms: 0 }, jobs: null }),
  );
});
