// The catalogue under policies of other APIs: GitHub's, and one of three dimensions with a day in a time zone and a bucket.
// Each fault that makes sense there is injected, and named by the oracle; a correct deployment is never accused.
// @module-tag long
import { describe, expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { type ChosenFault, parseFault, requirePolicy } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { presets } from "../../src/policy/presets.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import type { LawName } from "../../src/rules/laws.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
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
    retryAfter: [{ header: "Retry-After", form: "delta-s" }],
    outcomes: [{ outcome: "refused", status: [429], by: "{quota}", body: { "/quota": "{quota}" } }],
  },
});

/** Nothing uses more tokens than the policy says, whatever it declares. */
const complete = (model: string, cost: number) =>
  rest(`/v1/${model}/complete`, {
    ...{ method: "POST", name: `${model}-${cost}` },
    ...{ cost, actual: Math.min(cost, 200) },
  });
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
    "retry-too-soon": "refusals by its points alone tell a wait, and they show no reset",
  },
};
/** Faults that another one's name fits better. */
const misnamed: Readonly<Record<string, readonly string[]>> = {
  gateway: ["one-short", "status-charged", "reset-zero", "reset-negative", "reset-truncated"],
  github: ["wrong-user-key", "skewed-nodes", "reset-negative"],
};

/** The law by which a fault is found; `null`: it is asked about. */
const foundBy: Readonly<Record<string, LawName | null>> = {
  "race-read-then-write": "conserved",
  "one-short": "refusal-agrees",
  "one-extra": "refusal-justified",
  "cost-ignored": "conserved",
  "cost-over-limit-admitted": "refusal-justified",
  "double-count": "conserved",
  "refused-counted": "conserved",
  "narrow-drains-broad": "conserved",
  "status-charged": "conserved",
  "refusal-names-user": null,
  "unenforced-refuses": "unenforced-never-refuses",
  "wrong-user-key": "conserved",
  "scopes-mixed": "conserved",
  "new-reset-old-count": "recovers",
  "two-interleaved-windows": "reset-agrees",
  "lost-expiry": "recovers",
  "immortal-by-polling": "conserved",
  "rearmed-per-hit": "reset-agrees",
  "reset-all-sweep": "conserved",
  "double-roll": "conserved",
  "status-opens-window": "reset-agrees",
  "windows-back-to-back": "reset-agrees",
  "organization-off-grid": "reset-agrees",
  "per-instance-counters": "conserved",
  "stale-replica-read": "conserved",
  "skewed-nodes": "reset-agrees",
  "limit-changes-mid-window": "limit-agrees",
  "reset-in-ms": "reset-agrees",
  "reset-epoch": "headers-present",
  "reset-zero": "reset-agrees",
  "reset-negative": "reset-agrees",
  "reset-truncated": "reset-agrees",
  "stale-cached-reset": "reset-agrees",
  "retry-too-soon": "refusal-agrees",
  "status-pristine": "conserved",
  "headers-missing-on-429": null,
  "headers-missing-on-status": null,
  "headers-doubled": "headers-present",
  "remaining-of-laxer-window": "limit-agrees",
};
/** Faults that GitHub's answers show otherwise: its counts pass their limits, and its windows are on no grid. */
const foundOtherwise: Readonly<Record<string, Readonly<Record<string, LawName>>>> = {
  github: { "one-extra": "bounded", "skewed-nodes": "conserved" },
};

const worlds: readonly (readonly [string, Policy, Scenario])[] = [
  ["gateway", gateway, agents],
  ["github", parsePolicy(presets["github"]?.policy), robots],
];

/** Parts of a run, in turn until a fault is found: most of them show soon. */
const parts = [1 / 8, 1 / 2, 1];

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
    const why = hidden[name]?.[fault];
    if (why !== undefined) {
      const { violations, questions = [] } = await judged(policy, scenario, parseFault(fault));
      expect([...violations, ...questions], why).toEqual([]);
      return;
    }
    const law = foundOtherwise[name]?.[fault] ?? foundBy[fault];
    const isNamed = misnamed[name]?.includes(fault) !== true;
    let shown = "";
    for (const part of parts) {
      const some = adjustScenario(scenario, { policy, durationMs: scenario.durationMs * part });
      const { violations, questions = [] } = await judged(policy, some, parseFault(fault));
      const found = law === null ? questions : violations.filter((violation) => violation.law === law);
      if (found.length > 0 && (!isNamed || found.some(({ suspects }) => suspects.includes(fault)))) return;
      shown = JSON.stringify([violations.slice(0, 2), questions.slice(0, 2)]);
    }
    expect.unreachable(`${fault} is not found by ${law}${isNamed ? ", and named" : ""}: ${shown}`);
  });
});

// A run of half a minute sees one window of each count, which opened with its first call, at the whole second before.
describe("the first window of a run", () => {
  const github = parsePolicy(presets["github"]?.policy);
  const brief = adjustScenario(robots, { durationMs: 30_000 });

  test("of a correct deployment is judged from zero, and not accused", async () => {
    const verdict = await judged(github, brief);
    expect(verdict.violations).toEqual([]);
    expect(verdict.laws).toMatchObject({ bounded: "held", conserved: "held", isolated: "held" });
  });

  test.each([
    ["one-extra", "bounded"],
    ["double-count", "conserved"],
    ["cost-over-limit-admitted", "bounded"],
    ["scopes-mixed", "conserved"],
  ] as const)("%s breaks %s", async (fault, law) => {
    const { violations } = await judged(github, brief, parseFault(fault));
    const found = violations.filter((violation) => violation.law === law);
    expect(
      found.map(({ suspects: [first] }) => first),
      JSON.stringify(violations),
    ).toContain(fault);
  });
});
