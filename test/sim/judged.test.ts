// Two readings of the rules meet here: what the engine decides in virtual time, the oracle must not accuse,
// under each switch and for clients of every kind.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import {
  burst,
  defineScenario,
  exponential,
  none,
  pager,
  pipelinesQuery,
  poller,
  rest,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { judge } from "../../src/verify/judge.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { property } from "../support/property.ts";
import { semantics } from "../support/semantics.ts";
import { numbered } from "./numbered.ts";

const user = rest("/v2/user");
/** Clients of every kind, in windows short enough that many of them pass, half of the calls refused. */
const crowd = defineScenario({
  name: "crowd",
  duration: "90s",
  network: { latency: { least: 1, most: 700 }, execution: { least: 0, most: 2_500 } },
  populations: {
    workers: {
      clients: 8,
      user: 4,
      startWithin: "5s",
      behaviour: worker({
        calls: [{ call: user }, { call: pipelinesQuery(30) }, { call: status() }],
        think: { least: 0, most: "1s" },
      }),
      onRefused: waitReset({ of: "both" }),
    },
    exporters: {
      clients: 2,
      organization: "globex",
      behaviour: pager({ call: user, pages: 8, parallel: 4, every: "3s" }),
      onRefused: exponential({ first: "200ms", most: "5s", jitter: "full" }),
    },
    crons: {
      clients: 3,
      user: "shared",
      behaviour: burst({ call: user, size: 9, every: "7s" }),
      onRefused: none(),
    },
    graphs: { clients: 3, behaviour: burst({ call: pipelinesQuery(60), size: 4, every: "4s" }) },
    watchers: { clients: 2, organization: "globex", behaviour: poller({ call: status(), every: "900ms" }) },
  },
});
const limits: RulesInput = {
  organization: { rest: { limit: 40, windowSeconds: 7 }, graphql: { limit: 500, windowSeconds: 11 } },
  user: { rest: { limit: 15, windowSeconds: 7 }, graphql: { limit: 200, windowSeconds: 11 } },
};

async function judged(rules: RulesInput, seed: number): Promise<Verdict> {
  const { header, calls } = simulate(crowd, { rules: parseRules({ ...limits, ...rules }), seed });
  return judge(header, numbered(calls));
}

const switches = (Object.keys(switchValues) as SwitchName[]).flatMap((name) =>
  switchValues[name].map((value) => [`${name}: ${value}`, { semantics: { [name]: value } }] as const),
);

describe("a simulated run is never accused", () => {
  property([semantics, fc.nat()], { numRuns: 30 })("under any mix of switches", async (semantics, seed) => {
    expect((await judged({ semantics }, seed)).violations.slice(0, 3)).toEqual([]);
  });

  test.each([...switches, ["the documented rules", presets.documented] as const])("%s", async (_, rules) => {
    for (const seed of [1, 2]) {
      const { verdict, violations, records } = await judged(rules, seed);
      expect(violations.slice(0, 3), `seed ${seed}`).toEqual([]);
      expect(verdict).toBe("ok");
      expect(records).toBeGreaterThan(1_000);
    }
  });

  test("with enforcement off", async () => {
    const { organization } = limits;
    const unenforced = {
      rest: { ...organization?.rest, enforced: false },
      graphql: { ...organization?.graphql, enforced: false },
    };
    const { violations } = await judged({ organization: unenforced }, 1);
    expect(violations.slice(0, 3)).toEqual([]);
  });
});

test("the oracle does look: one more than was counted is found", async () => {
  const { header, calls } = simulate(crowd, { rules: parseRules(limits) });
  const lines = [...numbered(calls)];
  const victim = lines.find(
    ({ call }) => call.scope === "rest" && call.kind === "call" && Number(call.remaining) > 5,
  );
  if (victim === undefined) throw new Error("no call to falsify");
  victim.call.remaining = Number(victim.call.remaining) - 3;
  expect((await judge(header, lines)).verdict).toBe("violated");
});
