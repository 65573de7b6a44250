// A correct deployment is never accused, and what is inferred of one is so: random histories of the engine, under every switch, with clocks that are
// off, calls that overlap, and everything that a trace may not know.
//   HISTORIES=20000 npx vitest run --config test/vitest.config.ts test/verify/soundness.test.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { judge } from "../../src/verify/judge.ts";
import { ChangingLimits, changeable } from "./changing-limits.ts";
import { allFates, honestFates, worlds } from "./drawn-worlds.ts";
import { play, type Target, type World } from "./history.ts";

const runs = Number(process.env["HISTORIES"] ?? 120);

/** Windows are judged as soon as they are over, or all at the end. */
const closings = fc.constantFrom(1, 7, 4096);

const neverAccused = (world: World, callsBetweenClosings: number): Promise<void> =>
  notAccused(world, new Limiter(world.rules), callsBetweenClosings);

/** Limits that change at a window's edge: legal where no rules say which they are. */
const neverAccusedOfChange = (world: World, callsBetweenClosings: number): Promise<void> => {
  const rules = changeable(world.rules);
  return notAccused({ ...world, rules, showsRules: false }, new ChangingLimits(rules), callsBetweenClosings);
};

async function notAccused(world: World, target: Target, callsBetweenClosings: number): Promise<void> {
  const { header, lines } = play(world, target);
  const { violations, inferred = [] } = await judge(header, lines, { callsBetweenClosings });
  // Histories have no Retry-After.
  for (const { switch: name, scope, value, explanation } of inferred)
    if (value !== null && name !== "retryAfter")
      expect(value, `${scope}'s ${name}: ${explanation}`).toBe(world.rules.semantics[name][scope]);
  if (violations.length === 0) return;
  const shown = violations.flatMap((violation) => [
    JSON.stringify(violation),
    ...violation.lines.map((line) => `${line} ${JSON.stringify(lines[line - 2]?.call)}`),
  ]);
  expect.fail(`accused:\n${shown.join("\n")}\nheader ${JSON.stringify(header)}`);
}

describe("a correct deployment is never accused", () => {
  test.each([
    ["when every call is answered", ["answered"], false],
    ["when calls time out, fail, or are lost", honestFates, false],
    ["when users are unknown and the trace is not complete", allFates, true],
  ] as const)(
    "%s",
    async (_, fates, anonymous) => {
      await fc.assert(fc.asyncProperty(worlds({ fates, anonymous, plansMost: 90 }), closings, neverAccused), {
        numRuns: runs,
      });
    },
    600_000,
  );

  test("when limits change at a window's edge, and no rules are given", async () => {
    const arbitrary = worlds({ fates: honestFates, anonymous: false, plansMost: 90 });
    await fc.assert(fc.asyncProperty(arbitrary, closings, neverAccusedOfChange), { numRuns: runs });
  }, 600_000);
});
