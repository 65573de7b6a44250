// Which law and which suspect come first by the quotas of a policy: of one quota alone, as most limiters of packages
// are, and of a tenant's beside a user's.
import { expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { LawName } from "../../src/rules/laws.ts";
import { burst, defineScenario, none, rest, waitReset, worker } from "../../src/scenario/index.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import type { Suspect } from "../../src/verify/suspects.ts";

const reset = { form: "delta-s", means: "window-end", round: "ceil" } as const;
const window = (limit: number, windowSeconds: number, anchor: "epoch" | "first-request" = "epoch") => ({
  algorithm: { kind: "fixed-window", limit, windowSeconds, anchor } as const,
});
const shownIn = (quota: string) => ({
  quotas: [quota],
  headers: { [`${quota}-Left`]: "{remaining}/{limit}", [`${quota}-Reset`]: "{reset}" },
  reset,
});

const policyOf = (quotas: Record<string, object>): Policy =>
  parsePolicy({
    version: 2,
    name: "stranger",
    quotas,
    operations: { call: { uses: Object.fromEntries(Object.keys(quotas).map((name) => [name, 1])) } },
    routes: [{ path: "/**", operation: "call" }],
    auth: { attributes: ["organization", "user"] },
    wire: {
      revision: "1",
      readings: Object.keys(quotas).map(shownIn),
      retryAfter: [{ header: "Retry-After", form: "delta-s" }],
      outcomes: [{ outcome: "refused", status: [429], by: "{quota}", body: { "/quota": "{quota}" } }],
    },
  } as Parameters<typeof parsePolicy>[0]);

const policies = {
  alone: policyOf({ calls: { ...window(20, 10), key: ["user"] } }),
  opened: policyOf({
    calls: { ...window(20, 10, "first-request"), key: ["user"], charge: { refused: "counted" } },
  }),
  both: policyOf({
    tenant: { ...window(50, 20), key: ["organization"] },
    own: { ...window(20, 10), key: ["organization", "user"] },
  }),
};

const scenario = defineScenario({
  name: "strangers",
  seed: 2,
  duration: "90s",
  network: { latency: { least: 2, most: 40 } },
  populations: {
    workers: {
      clients: 6,
      user: 2,
      organization: "acme",
      behaviour: worker({ calls: [{ call: rest("/a") }], think: { least: "200ms", most: "2s" } }),
      onRefused: waitReset({ of: "both", jitter: "2s" }),
    },
    bursts: {
      clients: 2,
      organization: "acme",
      behaviour: burst({ call: rest("/b"), size: 26, every: "13s" }),
      onRefused: none(),
    },
    others: {
      clients: 4,
      organization: "beta",
      behaviour: worker({ calls: [{ call: rest("/c") }], think: { least: "50ms", most: "600ms" } }),
      onRefused: none(),
    },
  },
});

async function judged(policy: Policy, fault?: string) {
  const { header, calls } = simulateQuotas(scenario, {
    policy,
    ...(fault === undefined ? {} : { fault: parseFault(fault) }),
  });
  const lines = Array.from(calls, (call, at) => ({ line: at + 2, call: { ...call } }));
  return judgeQuotas(header, lines);
}

test.each(Object.keys(policies) as (keyof typeof policies)[])(
  "%s: a right one is not accused",
  async (name) => {
    const { verdict, questions } = await judged(policies[name]);
    expect([verdict, questions]).toEqual(["ok", undefined]);
  },
);

const first: readonly (readonly [keyof typeof policies, Suspect | `skewed-nodes=${string}`, LawName])[] = [
  ["alone", "wrong-user-key", "conserved"],
  ["alone", "one-extra", "conserved"],
  ["alone", "double-count", "conserved"],
  ["alone", "per-instance-counters", "conserved"],
  ["alone", "double-roll", "conserved"],
  ["alone", "reset-epoch", "headers-present"],
  ["alone", "retry-too-soon", "refusal-agrees"],
  ["alone", "reset-zero", "reset-agrees"],
  ["alone", "reset-negative", "reset-agrees"],
  ["alone", "skewed-nodes", "conserved"],
  ["alone", "skewed-nodes=3.7", "reset-agrees"],
  ["alone", "two-interleaved-windows", "reset-agrees"],
  ["opened", "reset-zero", "reset-agrees"],
  ["opened", "one-short", "refusal-justified"],
  ["opened", "wrong-user-key", "conserved"],
  ["opened", "rearmed-per-hit", "reset-agrees"],
  ["opened", "per-instance-counters", "reset-agrees"],
  ["opened", "skewed-nodes", "reset-agrees"],
  ["both", "wrong-user-key", "conserved"],
  ["both", "narrow-drains-broad", "conserved"],
  ["both", "one-extra", "conserved"],
  ["both", "stale-cached-reset", "refusal-agrees"],
  ["both", "skewed-nodes", "reset-agrees"],
];

test.each(first)("%s: %s shows first as %s", async (name, fault, law) => {
  const { violations } = await judged(policies[name], fault);
  expect([violations[0]?.law, violations[0]?.suspects[0]]).toEqual([law, fault.split("=")[0]]);
});
