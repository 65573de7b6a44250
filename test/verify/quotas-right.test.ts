// The oracle by quotas accuses no correct deployment, in random histories.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";
import { allFates, honestFates, worlds } from "./drawn-worlds.ts";
import { play, type World } from "./history.ts";

const runs = Number(process.env["HISTORIES"] ?? 60);

/** No policy says when limits are switched off. */
const steady = (world: World): World => ({ ...world, flips: [], showsRules: true });

async function notAccused(drawn: World, callsBetweenClosings: number): Promise<void> {
  const world = steady(drawn);
  const { header, lines } = play(world, new Limiter(world.rules));
  const byQuotas = lines.map(({ line, call }) => ({ line, call: callByQuotas(call) }));
  const { violations } = await judgeQuotas(headerByQuotas(header, world.rules), byQuotas, {
    callsBetweenClosings,
  });
  const shown = violations.flatMap((violation) => [
    JSON.stringify(violation),
    ...violation.lines.map((line) => `${line} ${JSON.stringify(lines[line - 2]?.call)}`),
  ]);
  expect(shown, JSON.stringify(world.rules)).toEqual([]);
}

describe("a correct deployment is never accused", () => {
  test.each([
    ["when every call is answered", ["answered"], false],
    ["when calls time out, fail, or are lost", honestFates, false],
    ["when users are unknown and the trace is not complete", allFates, true],
  ] as const)(
    "%s",
    async (_, fates, anonymous) => {
      const closings = fc.constantFrom(1, 7, 4096);
      await fc.assert(fc.asyncProperty(worlds({ fates, anonymous, plansMost: 90 }), closings, notAccused), {
        numRuns: runs,
      });
    },
    600_000,
  );
});
