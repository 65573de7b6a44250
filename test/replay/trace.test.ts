// A simulated run replayed under its own rules: the replay must refuse the calls that the run refused, and no others.
//
// A trace has when a call was sent and received; a deployment decides in between, when it arrives. So that the trace
// shows that instant, every trip here takes the same time: a call arrives one trip after it was sent, and a query that
// was let through is over one trip before it is received. What the trace does not show is the order of calls that
// arrive in one millisecond. REST calls have none to tell apart, since answers come back in the order of decisions
// where all trips are equal. Queries come back later than refusals that were decided after them: a run in which a
// query and a refused one arrive together is left out here, and there must be few.
import { describe, expect, test } from "vitest";
import { replay } from "../../sim/replay/replay.ts";
import { simulate } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import type { Rules, RulesInput } from "../../src/rules/rules.ts";
import { worker } from "../../src/scenario/behaviours/worker.ts";
import { graphql, rest, status } from "../../src/scenario/calls.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { logOf, type Row } from "./rows.ts";

const tripMs = 3;
/** Longer than a trip: a query that ends when another call arrives was scheduled first in both worlds. */
const executionMs = 7;

const rules: RulesInput = {
  organization: {
    rest: { limit: 40, windowSeconds: 10 },
    graphql: { limit: 700, windowSeconds: 15 },
  },
  user: { rest: { limit: 14, windowSeconds: 10 }, graphql: { limit: 300, windowSeconds: 15 } },
};

const variants: Readonly<Record<string, RulesInput>> = {
  "the default rules": rules,
  "the documented ones": { ...rules, ...presets.documented },
  "windows that open with their first call": { ...rules, semantics: { anchor: "first-request" } },
  "refusals that are charged": {
    ...rules,
    semantics: { refused: "counted", refusedByUser: "charges-organization" },
  },
  "points that are never given back": { ...rules, semantics: { graphqlCharge: "prepaid" } },
};

const scenarioOf = (given: RulesInput, seed: number) =>
  defineScenario({
    name: "recorded",
    seed,
    duration: "90s",
    rules: given,
    network: { latency: tripMs, execution: executionMs },
    populations: {
      agents: {
        clients: 6,
        startWithin: "5s",
        behaviour: worker({
          calls: [
            { call: rest("/v2/user"), weight: 5 },
            { call: graphql("{ viewer { id } }", { cost: 60, actual: 12 }), weight: 2 },
            { call: status(), weight: 1 },
          ],
          think: { least: 200, most: 1_900 },
        }),
        onRefused: waitReset({ of: "both", jitter: { least: 0, most: "3s" } }),
      },
      noisy: {
        clients: 2,
        user: "shared",
        behaviour: worker({ calls: [{ call: rest("/v2/user") }], think: { least: 100, most: 700 } }),
      },
    },
  });

function rowOf(call: TraceCall): Row {
  const { org, user, scope, kind, sent, received, status: httpStatus } = call;
  const row = { atMs: sent + tripMs, org, user: user ?? "", status: httpStatus };
  if (kind !== "call") return { ...row, kind };
  if (scope === "rest") return { ...row, kind: "rest" };
  return {
    ...row,
    kind: "graphql",
    cost: call.cost ?? 0,
    ...(call.actual === undefined ? {} : { actual: call.actual }),
    durationMs: received - sent - 2 * tripMs,
  };
}

/** Tells whether a query and a refused one arrive in one millisecond. */
function isAmbiguous(rows: readonly Row[]): boolean {
  const seen = new Map<number, boolean>();
  return rows.some(({ kind, atMs, status: httpStatus }) => {
    if (kind !== "graphql") return false;
    const refused = httpStatus === 429;
    const other = seen.get(atMs);
    seen.set(atMs, refused);
    return other !== undefined && other !== refused;
  });
}

const recordingOf = (given: RulesInput, seed: number): Row[] =>
  [...simulate(scenarioOf(given, seed)).calls].map(rowOf).sort((a, b) => a.atMs - b.atMs);

describe.each(Object.keys(variants))("%s", (name) => {
  const given = variants[name] ?? {};
  const seeds = Array.from({ length: 5 }, (_, seed) => seed);
  const recordings = seeds.map((seed) => recordingOf(given, seed)).filter((rows) => !isAmbiguous(rows));

  test("the replay refuses what the run refused, call by call", async () => {
    expect(recordings.length).toBeGreaterThanOrEqual(3);
    for (const rows of recordings) {
      const { recorded } = await replay(logOf(rows), parseRules(given));
      expect(recorded?.refused).toBeGreaterThan(10);
      expect(recorded).toMatchObject({ onlyInLog: 0, onlyInReplay: 0 });
    }
  });

  test("other limits would have refused others", async () => {
    const [rows = []] = recordings;
    const tighter: Rules = parseRules({ ...given, user: { rest: { limit: 7, windowSeconds: 10 } } });
    const { recorded } = await replay(logOf(rows), tighter);
    expect(recorded?.onlyInReplay).toBeGreaterThan(0);
  });
});
