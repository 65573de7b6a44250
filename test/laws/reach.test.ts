// Random scripts reach the states in which limiters break. Each must be reached often enough that
// 100 runs of a law meet it; `atLeast` is about half of what was measured.
import fc from "fast-check";
import { expect, test } from "vitest";
import { scriptArbitrary, usualProfile } from "../../src/laws/arbitraries.ts";
import { looksByRules } from "../../src/laws/by-rules.ts";
import { type HistoryEvent, play } from "../../src/laws/history.ts";
import { engineFactory } from "../../src/laws/index.ts";
import type { CallOp, Script } from "../../src/laws/script.ts";
import type { Sight } from "../../src/laws/sight.ts";

const scripts = 1_000;
const seed = 42;

/** Least number of 1,000 scripts that must reach a state. */
const atLeast = {
  "refused by the organization alone": 260,
  "refused by the user alone": 230,
  "refused where both lack room": 160,
  "admitted beyond the limit while unenforced": 150,
  "cost exactly what is left": 450,
  "cost above the limit": 350,
  "cost of 0": 70,
  "a call 1 ms before a window ends": 250,
  "a call exactly as a window ends": 160,
  "a call 1 ms after a window ended": 130,
  "a call in the middle of a window": 370,
  "settled in the window of its decision": 210,
  "settled after that window ended": 240,
  "settled at the very end of that window": 49,
  "settled with something to give back": 100,
  "the clock steps back": 290,
  "the clock steps back across an edge": 220,
  "a status reading of an idle window": 280,
  "a status reading of a used window": 190,
  "a refusal that opens a first-request window": 45,
  "a window that opens off the grid": 180,
  "two users in one window": 390,
  "two organizations": 360,
  "enforced again after it was not": 13,
  "a count beyond 2^32": 31,
} as const;
type State = keyof typeof atLeast;

/** Readings of one operation's sights. */
function statesOf(event: HistoryEvent, sights: readonly Sight[], ends: ReadonlyMap<string, number>): State[] {
  const states: State[] = [];
  const note = (reached: boolean, state: State): void => {
    if (reached) states.push(state);
  };
  const some = (test: (sight: Sight) => boolean): boolean => sights.some(test);
  note(
    some(({ after }) => after.most > 2 ** 32),
    "a count beyond 2^32",
  );
  note(
    some(({ clockMs }) => event.op.atMs < clockMs),
    "the clock steps back",
  );
  note(
    some(({ clockMs, untilMs, lengthMs }) => event.op.atMs < Math.min(clockMs, (untilMs ?? 0) - lengthMs)),
    "the clock steps back across an edge",
  );
  if ("status" in event) {
    note(
      some(({ fresh }) => fresh),
      "a status reading of an idle window",
    );
    note(
      some(({ fresh }) => !fresh),
      "a status reading of a used window",
    );
  }
  if ("readings" in event && event.call !== null) {
    note(
      some(({ window, fresh }) => window !== null && !fresh),
      "settled in the window of its decision",
    );
    note(
      some(({ isRenewed }) => isRenewed),
      "settled after that window ended",
    );
    note(
      some((sight) => ends.get(sight.name) === event.op.atMs),
      "settled at the very end of that window",
    );
    note(
      some(({ givenBack }) => givenBack > 0),
      "settled with something to give back",
    );
  }
  if (!("decision" in event)) return states;
  const { cost, atMs } = event.op;
  const { admitted } = event.decision;
  const lacks = sights.map(({ before, limit, isEnforced }) => isEnforced && before.most + cost > limit);
  note(!admitted && lacks[0] === true && lacks[1] === false, "refused by the organization alone");
  note(!admitted && lacks[0] === false && lacks[1] === true, "refused by the user alone");
  note(!admitted && lacks[0] === true && lacks[1] === true, "refused where both lack room");
  note(
    admitted && some(({ isEnforced, after, limit }) => !isEnforced && after.least > limit),
    "admitted beyond the limit while unenforced",
  );
  note(cost > 0 && some(({ before, limit }) => before.most + cost === limit), "cost exactly what is left");
  note(
    some(({ limit }) => cost > limit),
    "cost above the limit",
  );
  note(cost === 0, "cost of 0");
  note(
    some(({ untilMs }) => untilMs === atMs + 1),
    "a call 1 ms before a window ends",
  );
  note(
    some((sight) => ends.get(sight.name) === atMs),
    "a call exactly as a window ends",
  );
  note(
    some((sight) => ends.get(sight.name) === atMs - 1),
    "a call 1 ms after a window ended",
  );
  note(
    some(
      ({ untilMs, lengthMs }) =>
        untilMs !== null && untilMs - atMs > 1000 && untilMs - atMs < lengthMs - 1000,
    ),
    "a call in the middle of a window",
  );
  note(
    !admitted &&
      some(
        ({ rule: { algorithm }, window, fresh, charge }) =>
          "anchor" in algorithm &&
          algorithm.anchor === "first-request" &&
          window !== null &&
          fresh &&
          (charge?.least ?? 0) > 0,
      ),
    "a refusal that opens a first-request window",
  );
  note(
    some(({ untilMs, lengthMs }) => untilMs !== null && untilMs % lengthMs !== 0),
    "a window that opens off the grid",
  );
  return states;
}

/** The states that one script reaches. */
async function reached(script: Script): Promise<Set<State>> {
  const states = new Set<State>();
  const ends = new Map<string, number>();
  const off = new Set<string>();
  const history = await play(engineFactory, script.rules, script.ops);
  const looks = looksByRules(script, history);
  for (const [at, event] of history.entries()) {
    const sights = looks[at]?.sights ?? [];
    for (const state of statesOf(event, sights, ends)) states.add(state);
    for (const sight of sights) if (sight.untilMs !== null) ends.set(sight.name, sight.untilMs);
    if (event.op.do !== "enforce") continue;
    const key = `${event.op.scope} ${event.op.organization}`;
    if (event.op.enforced && off.has(key)) states.add("enforced again after it was not");
    if (!event.op.enforced) off.add(key);
  }
  const calls = script.ops.flatMap((op) => (op.do === "call" ? [op] : []));
  const distinct = (name: (op: CallOp) => string): number => new Set(calls.map(name)).size;
  if (distinct(({ organization }) => organization) > 1) states.add("two organizations");
  const shared = distinct(({ organization, scope }) => `${organization} ${scope}`);
  if (distinct(({ organization, scope, user }) => `${organization} ${scope} ${user}`) > shared)
    states.add("two users in one window");
  return states;
}

test(`every state in which limiters break is reached, seed ${seed}`, async () => {
  const arbitrary = scriptArbitrary({ startMs: 1_767_225_600_000 }, usualProfile);
  const counts = new Map<State, number>();
  for (const script of fc.sample(arbitrary, { seed, numRuns: scripts }))
    for (const state of await reached(script)) counts.set(state, (counts.get(state) ?? 0) + 1);
  const tooRare = Object.entries(atLeast).flatMap(([state, least]) => {
    const count = counts.get(state as State) ?? 0;
    return count < least ? [`${state}: ${count} of ${scripts}, at least ${least} wanted`] : [];
  });
  expect(tooRare, JSON.stringify([...counts])).toEqual([]);
});
