// The catalogue under policies of other APIs: GitHub's, and one of three dimensions with a day in a time zone and a bucket.
// Each fault that makes sense there is injected, and named by the oracle; a correct deployment is never accused.
import { describe, expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { type ChosenFault, parseFault, requirePolicy } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import {
  burst,
  defineScenario,
  graphql,
  none,
  rest,
  type Scenario,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { QuotaVerdict } from "../../src/verify/verdict.ts";

const reset = { form: "delta-s", means: "window-end" } as const;
const anchored = (limit: number, windowSeconds: number) =>
  ({ algorithm: { kind: "fixed-window", limit, windowSeconds, anchor: "epoch" } }) as const;
const shownIn = (quota: string) => ({
  quotas: [quota],
  on: ["admitted", "refused", "status"] as const,
  headers: { [`X-${quota}`]: "{remaining}/{limit}", [`X-${quota}-Reset`]: "{reset}" },
});

/** A tenant's calls, a user's, a day's, a model's tokens, and a bucket of tokens whose number the answer tells. */
const gateway = parsePolicy({
  version: 2,
  name: "gateway",
  quotas: {
    calls: { ...anchored(60, 30), key: ["tenant"] },
    user_calls: { ...anchored(20, 30), key: ["tenant", "user"] },
    daily: {
      algorithm: { kind: "fixed-window", limit: 900, anchor: { calendar: "day", zone: "America/New_York" } },
      key: ["tenant"],
    },
    model: { ...anchored(4000, 60), key: ["tenant", "model"] },
    tokens: {
      algorithm: { kind: "token-bucket", capacity: 5000, refill: { amount: 100, everyMs: 1000 } },
      key: ["user"],
      charge: { when: "reserve-settle" },
    },
    trial: { ...anchored(10, 60), key: ["tenant"], enforced: false },
  },
  operations: {
    complete: { uses: { calls: 1, user_calls: 1, daily: 1, model: "declared", tokens: { atMost: 200 } } },
    list: { uses: { calls: 1, user_calls: 1, trial: 1 } },
  },
  routes: [
    { path: "/limits", operation: "status" },
    { path: "/v1/{model}/complete", operation: "complete" },
    { path: "/**", operation: "list" },
  ],
  auth: { attributes: ["tenant", "user"] },
  wire: {
    revision: "1",
    readings: [
      { ...shownIn("calls"), reset },
      { ...shownIn("user_calls"), reset },
      { ...shownIn("daily"), reset: { form: "epoch-s", means: "window-end" } },
      { ...shownIn("model"), reset },
      { ...shownIn("trial"), reset },
      { quotas: ["tokens"], headers: { "X-Tokens": "{remaining}/{limit}" } },
    ],
    outcomes: [{ outcome: "refused", status: [429], by: "{quota}", body: { "/quota": "{quota}" } }],
  },
});

const complete = (model: string, cost: number) =>
  rest(`/v1/${model}/complete`, { method: "POST", name: `${model}-${cost}`, cost });
const list = rest("/v1/list");

const agents = defineScenario({
  name: "agents",
  seed: 4,
  duration: "4m",
  populations: {
    workers: {
      clients: 4,
      user: 2,
      organization: "acme",
      behaviour: worker({
        calls: [
          { call: complete("small", 30), weight: 3 },
          { call: complete("large", 150) },
          { call: complete("large", 4001) },
          { call: list, weight: 2 },
          { call: status() },
        ],
        think: { least: "300ms", most: "4s" },
      }),
      onRefused: waitReset({ of: "both", jitter: "2s" }),
    },
    bursts: {
      clients: 1,
      organization: "acme",
      behaviour: burst({ call: list, size: 30, every: "23s" }),
      onRefused: none(),
    },
    others: {
      clients: 3,
      organization: "beta",
      behaviour: worker({
        calls: [{ call: complete("small", 90) }, { call: list }, { call: status() }],
        think: { least: "100ms", most: "2500ms" },
      }),
      onRefused: none(),
    },
  },
});

const robots = defineScenario({
  name: "robots",
  seed: 9,
  duration: "8m",
  populations: {
    bots: {
      clients: 6,
      user: 2,
      behaviour: worker({
        calls: [
          { call: rest("/repos/acme/app/pulls"), weight: 12 },
          { call: rest("/search/issues?q=is:open", "search"), weight: 5 },
          { call: rest("/repos/acme/app/issues/1/comments", { method: "POST", name: "comment" }) },
          { call: graphql("{ viewer { login } }", { cost: 7, name: "viewer" }), weight: 3 },
          { call: status(), weight: 2 },
        ],
        think: { least: "500ms", most: "6s" },
      }),
      onRefused: waitReset({ of: "both", fallback: "20s", jitter: "5s" }),
    },
    dear: {
      clients: 1,
      behaviour: burst({
        call: graphql("{ viewer { id } }", { cost: 5001, name: "dear" }),
        size: 1,
        every: "6m",
      }),
      onRefused: none(),
    },
    searchers: {
      clients: 2,
      user: "shared",
      behaviour: burst({ call: rest("/search/issues?q=is:open", "searches"), size: 20, every: "50s" }),
      onRefused: none(),
    },
  },
});

/** Faults that nobody outside sees under these limits, and why. */
const hidden: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gateway: {
    overflow: "no count comes near 2^32",
    "boundary-inclusive": "one instant of a window's end is between two calls",
  },
  github: {
    overflow: "no count comes near 2^32",
    "boundary-inclusive": "one instant of a window's end is between two calls",
    "narrow-drains-broad": "no answer shows the points, which refuse nobody here",
    "refusal-names-user": "no answer shows the points, which refuse nobody here",
    "remaining-of-laxer-window": "the last quota of each call is its points, which no answer shows",
    "headers-missing-on-429": "some of its refusals show nothing",
    "one-short": "a 403 that shows a remaining of 1 is none of its refusals",
  },
};
/** Faults that another one's name fits better. */
const misnamed: Readonly<Record<string, readonly string[]>> = {
  gateway: ["one-short", "status-charged", "reset-zero", "reset-negative", "reset-truncated"],
  github: ["one-extra", "wrong-user-key", "skewed-nodes", "reset-negative"],
};

const worlds: readonly (readonly [string, Policy, Scenario])[] = [
  ["gateway", gateway, agents],
  ["github", parsePolicy(presets["github"]?.policy), robots],
];

async function judged(policy: Policy, scenario: Scenario, fault?: ChosenFault): Promise<QuotaVerdict> {
  const { header, calls } = simulateQuotas(scenario, { policy, ...(fault === undefined ? {} : { fault }) });
  return judgeQuotas(
    header,
    (function* () {
      let line = 1;
      for (const call of calls) {
        line += 1;
        yield { line, call };
      }
    })(),
  );
}

function fits(name: string, policy: Policy): boolean {
  try {
    requirePolicy(parseFault(name), policy);
    return true;
  } catch (error) {
    if (error instanceof SpillwayError && error.code === "FAULT_INVALID") return false;
    throw error;
  }
}

describe.each(worlds)("%s", (name, policy, scenario) => {
  test("a correct deployment is neither accused nor asked", async () => {
    const verdict = await judged(policy, scenario);
    expect(verdict.violations).toEqual([]);
    expect(verdict.questions ?? []).toEqual([]);
    expect(verdict.laws).toMatchObject({
      conserved: "held",
      "refusal-justified": "held",
      "headers-present": "held",
    });
  });

  const possible = faults.filter(
    ({ name: fault, nets }) => nets.some((net) => net !== "A") && fits(fault, policy),
  );
  test.each(possible.map((fault) => fault.name))("%s", async (fault) => {
    const verdict = await judged(policy, scenario, parseFault(fault));
    const why = hidden[name]?.[fault];
    const found = [...verdict.violations, ...(verdict.questions ?? [])];
    if (why !== undefined) expect(found, why).toEqual([]);
    else if (misnamed[name]?.includes(fault) === true) expect(verdict.verdict).toBe("violated");
    else
      expect(
        found.flatMap(({ suspects }) => suspects),
        JSON.stringify(found.slice(0, 2)),
      ).toContain(fault);
  });
});
