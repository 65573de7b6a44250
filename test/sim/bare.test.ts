// Limiters that say yes or no and show nothing else: in virtual time windows on the epoch's grid are known without
// headers, and what was let through in one is held to the limit.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SimulateOptions, simulate } from "../../sim/simulate.ts";
import { parseFault } from "../../src/faults/choice.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { switchValues } from "../../src/rules/switches.ts";
import { defineScenario, pipelinesQuery, rest, waitReset, worker } from "../../src/scenario/index.ts";
import type { TraceCall } from "../../src/trace/record.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { property } from "../support/property.ts";

const crowd = (rules: RulesInput, apart: string) =>
  defineScenario({
    name: "bare",
    duration: "40s",
    rules,
    network: { latency: { least: 1, most: 300 }, execution: { least: 0, most: 900 } },
    clocks: { apart },
    populations: {
      agents: {
        clients: 6,
        user: 3,
        startWithin: "3s",
        behaviour: worker({
          calls: [{ call: rest("/v2/user"), weight: 2 }, { call: pipelinesQuery(10) }],
          think: { least: 0, most: "400ms" },
        }),
        onRefused: waitReset({ of: "both", fallback: "1s", jitter: { least: 0, most: "1s" } }),
      },
    },
  });

/** Parts of an answer that a limiter without headers leaves. */
const stripped = ({
  retryAfter,
  warning,
  userWarning,
  body,
  refusal,
  actual,
  ...call
}: TraceCall): TraceCall => ({
  ...call,
  scopeName: null,
  limit: null,
  remaining: null,
  reset: null,
  userScopeName: null,
  userLimit: null,
  userRemaining: null,
  userReset: null,
});

function* bare(calls: Iterable<TraceCall>): Generator<{ line: number; call: TraceCall }> {
  let line = 2;
  for (const call of calls) yield { line: line++, call: stripped(call) };
}

async function verdictOf(rules: RulesInput, options: SimulateOptions, apart = "0ms"): Promise<Verdict> {
  const { header, calls } = simulate(crowd(rules, apart), options);
  return judge(header, bare(calls));
}

const limits = (organization: number, user: number, windowSeconds: number): RulesInput => ({
  organization: {
    rest: { limit: organization, windowSeconds },
    graphql: { limit: 20 * organization, windowSeconds },
  },
  user: { rest: { limit: user, windowSeconds }, graphql: { limit: 20 * user, windowSeconds } },
});

const semantics = fc.record({
  graphqlCharge: fc.constantFrom(...switchValues.graphqlCharge),
  anchor: fc.constantFrom(...switchValues.anchor),
  refused: fc.constantFrom(...switchValues.refused),
  userEnforced: fc.constantFrom(...switchValues.userEnforced),
});

describe("without a header, in virtual time", () => {
  property([fc.nat(), fc.integer({ min: 4, max: 30 }), fc.integer({ min: 2, max: 12 }), semantics], {
    numRuns: 60,
  })(
    "no right limiter lets more through in a window than its limit",
    async (seed, organization, user, draws) => {
      const { violations } = await verdictOf(
        { ...limits(organization, user, 7), semantics: draws },
        { seed },
      );
      expect(violations.filter(({ law }) => law === "bounded" || law === "twice-at-most")).toEqual([]);
    },
  );

  test("one that lets one more through is accused of it, by window and count", async () => {
    const { violations } = await verdictOf(limits(100, 5, 10), { fault: parseFault("one-extra") });
    const [first] = violations.filter(({ law }) => law === "bounded");
    expect(first?.suspects).toContain("one-extra");
    expect(first?.explanation).toMatch(
      /from line \d+ to line \d+, 6 were admitted, which is above the limit of 5/,
    );
    expect(((first?.window?.endsAt ?? 0) - (first?.window?.opensAt ?? 0)) / 1000).toBe(10);
  });

  test("nothing is said of one whose windows open with their first call", async () => {
    const rules = { ...limits(100, 5, 10), semantics: { anchor: "first-request" as const } };
    const { laws } = await verdictOf(rules, { fault: parseFault("one-extra") });
    expect(laws.bounded).not.toBe("violated");
  });
});
