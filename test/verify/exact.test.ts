// The oracle against the exact checker on small histories. Where an order explains every answer the oracle must not
// accuse; how often it sees that none does is measured, and printed by
//   MEASURE=400 npx vitest run --config test/vitest.config.ts test/verify/exact.test.ts
// More histories than the default: HISTORIES=20000. A failure prints fast-check's seed and path.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Limiter } from "../../src/engine/limiter.ts";
import { decideNow } from "../../src/engine/store.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { injectFault } from "../../src/faults/choice.ts";
import { seededRandom } from "../../src/faults/random.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { Rules, WindowLimit } from "../../src/rules/rules.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Violation } from "../../src/verify/verdict.ts";
import { brokenDeployments } from "./broken.ts";
import { hasOrder } from "./exact.ts";
import { lineChanges, mutated, mutations, smallWorlds, withLines } from "./exact-histories.ts";
import { NotKnown } from "./exact-search.ts";
import { type History, play, type World } from "./history.ts";

const runs = Number(process.env["HISTORIES"] ?? 30);
const callsMost = 7;
const pick = fc.nat({ max: 1000 });

/** Tells whether an order exists; `null` where the exact checker does not know what is in the trace. */
function ordered({ header, lines }: History): boolean | null {
  try {
    return hasOrder(header, lines);
  } catch (error) {
    if (error instanceof NotKnown) return null;
    throw error;
  }
}

async function accusations({ header, lines }: History): Promise<readonly Violation[]> {
  return (await judge(header, lines)).violations;
}

/** An accused history has no order, whether the oracle knows the rules or not. */
async function agrees(history: History): Promise<void> {
  const silent = { ...history, header: { ...history.header, rules: null } };
  const violations = [...(await accusations(history)), ...(await accusations(silent))];
  if (violations.length === 0 || ordered(history) !== true) return;
  const shown = [history.header, ...history.lines.map(({ call }) => call), ...violations];
  expect.fail(`accused, though an order exists:\n${shown.map((each) => JSON.stringify(each)).join("\n")}`);
}

const correct = (world: World): History => play(world, new Limiter(world.rules));

/** Kinds of histories that may be wrong, each made from a world and a number that chooses the place. */
type Wrong = readonly [kind: string, make: (world: World, at: number) => History | null];

/** The rules that a plain counter knows: elsewhere it is not the fault that is judged. */
function plain({ organization, user, semantics }: Rules): Rules {
  const { rest, graphql } = organization;
  const { graphqlCharge } = semantics;
  const known = graphqlCharge.graphql === "postpaid" ? {} : { graphqlCharge };
  const enforced = { rest: { ...rest, enforced: true }, graphql: { ...graphql, enforced: true } };
  return parseRules({ organization: enforced, user, semantics: known });
}

const changedAnswers: readonly Wrong[] = mutations.map((mutation) => [
  mutation.kind,
  (world, at) => mutated(correct(world), mutation, at),
]);
const changedLines: readonly Wrong[] = lineChanges.map((kind) => [
  kind,
  (world, at) => withLines(correct(world), kind, at),
]);
const deployments: readonly Wrong[] = brokenDeployments.map(({ fault, make, change, epochOnly = false }) => [
  fault,
  (drawn) => {
    const world = epochOnly ? { ...drawn, rules: plain(drawn.rules) } : drawn;
    const { header, lines } = play(world, make(world.rules));
    return { header, lines: lines.map(({ line, call }) => ({ line, call: change?.(call) ?? call })) };
  },
]);

/** The catalogue's, each with the switches that it is a fault under. Answers are changed on their way by none here. */
const catalogue: readonly Wrong[] = faults.map((fault) => [
  fault.name,
  (drawn, at) => {
    const { semantics, ...rules } = plain(drawn.rules);
    // A fault under some switches alone is drawn under the first value of each that will do.
    const needed = Object.entries(fault.semantics ?? {}).map(([name, values]) => [name, values[0]]);
    const suitable = { ...semantics, ...Object.fromEntries(needed) };
    const world = { ...drawn, rules: parseRules({ ...rules, semantics: suitable }) };
    const chosen = { fault, rate: fault.rate?.default ?? 1 };
    const { store, change, userOf } = injectFault(chosen, world.rules, seededRandom(at));
    if (change !== undefined || userOf !== undefined) return null;
    return play(world, {
      decide: (call, now) => decideNow(store, call, now),
      settle: (reservation, actual, now) => store.settle(reservation, actual, now),
      status: (org, now) => store.status(org, now),
      readings: (org, user, scope, now) => store.readings(org, user, scope, now),
      setEnforced: (org, scope, enforced) => store.setEnforced(org, scope, enforced),
    });
  },
]);

describe("the oracle accuses only where no order exists", () => {
  test("in the engine's histories, which all have one", async () => {
    const property = fc.asyncProperty(smallWorlds(callsMost), async (world) => {
      const history = correct(world);
      const order = ordered(history);
      fc.pre(order !== null);
      expect(order).toBe(true);
      await agrees(history);
    });
    await fc.assert(property, { numRuns: runs });
  }, 3_600_000);

  test.each([
    ["answers that were changed", changedAnswers],
    ["calls that were left out, or told twice", changedLines],
    ["deployments with a fault, by two readings of it", [...deployments, ...catalogue]],
  ] as const)(
    "in %s",
    async (_, kinds) => {
      const property = fc.asyncProperty(
        smallWorlds(callsMost),
        fc.constantFrom(...kinds),
        pick,
        async (world, [, make], at) => {
          const history = make(world, at);
          fc.pre(history !== null);
          await agrees(history);
        },
      );
      await fc.assert(property, { numRuns: 3 * runs });
    },
    3_600_000,
  );
});

const measured = Number(process.env["MEASURE"] ?? 0);

if (measured > 0)
  test.each([
    ["answers", [...changedAnswers, ...changedLines]],
    ["deployments", deployments],
    ["the catalogue", catalogue],
  ] as const)(
    "how often the oracle sees that no order exists: %s",
    async (_, kinds) => {
      for (const [kind, make] of kinds) console.log(`${kind}: ${await row(kind, make)}`);
    },
    3_600_000,
  );

/** The same worlds with ever more of what the oracle judges by. */
const ways: readonly (readonly [name: string, (world: World) => World])[] = [
  ["as drawn", (world) => world],
  ["windows >= 4 s, quick answers, all known, charged when decided", (world) => known(quick(world))],
];

function quick(world: World): World {
  const longer = ({ windowSeconds, ...limit }: WindowLimit) => ({
    ...limit,
    windowSeconds: windowSeconds < 4 ? windowSeconds + 3 : windowSeconds,
  });
  const { organization, user, ...rules } = world.rules;
  return {
    ...world,
    rules: {
      ...rules,
      organization: {
        rest: { ...organization.rest, ...longer(organization.rest) },
        graphql: { ...organization.graphql, ...longer(organization.graphql) },
      },
      user: { rest: longer(user.rest), graphql: longer(user.graphql) },
    },
    resolutionMs: Math.min(1, world.resolutionMs),
    errorMs: 0,
    plans: world.plans.map((plan) => ({
      ...plan,
      toDecisionMs: plan.toDecisionMs % 50,
      workMs: plan.workMs % 50,
      backMs: plan.backMs % 50,
      bodyMs: { rest: 0, graphql: 0 },
    })),
  };
}

function known(world: World): World {
  const { semantics, ...rules } = world.rules;
  const graphqlCharge = { rest: "prepaid", graphql: "prepaid" } as const;
  return {
    ...world,
    startMs: -15_000,
    rules: { ...rules, semantics: { ...semantics, graphqlCharge } },
    plans: world.plans.map((plan) => ({ ...plan, fate: "answered" })),
  };
}

async function row(kind: string, make: Wrong[1]): Promise<string> {
  const seed = Number(process.env["SEED"] ?? 1);
  const worlds = fc.sample(fc.tuple(smallWorlds(callsMost), pick), { numRuns: measured, seed });
  const shares: string[] = [];
  for (const [name, way] of ways) {
    const count = { wrong: 0, seen: 0 };
    const missed: History[] = [];
    for (const [world, at] of worlds) {
      const history = make(way(world), at);
      if (history === null || ordered(history) !== false) continue;
      count.wrong += 1;
      if ((await accusations(history)).length > 0) count.seen += 1;
      else missed.push(history);
    }
    shares.push(`${name} ${count.seen} of ${count.wrong}`);
    if (name === ways.at(-1)?.[0]) show(kind, missed);
  }
  return shares.join(", ");
}

/** The shortest of those that were missed where it has all that it judges by, to look at: SHOW=3 of each kind. */
function show(kind: string, missed: History[]): void {
  missed.sort((a, b) => a.lines.length - b.lines.length);
  for (const { header, lines } of missed.slice(0, Number(process.env["SHOW"] ?? 0)))
    console.log([`missed: ${kind}`, ...[header, ...lines].map((each) => JSON.stringify(each))].join("\n"));
}
