// The oracle by quotas: traces of version 1, written by the quotas of their rules, and of any other policy.
import { describe, expect, test } from "vitest";
import { simulateQuotas } from "../../sim/simulate-quotas.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import type { PolicyInput } from "../../src/policy/schema.ts";
import { adjustScenario } from "../../src/scenario/adjust.ts";
import {
  burst,
  defineScenario,
  rest,
  retryAfter,
  status,
  waitReset,
  worker,
} from "../../src/scenario/index.ts";
import type { QuotaCall } from "../../src/trace/quota-record.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { inference } from "../policy/policies.ts";

/** Three dimensions, five quotas on one call: a day's tokens in a time zone, a bucket of tokens whose cost comes later. */
const gateway: PolicyInput = {
  ...inference,
  overrides: [],
  quotas: {
    ...inference.quotas,
    tenant: { ...inference.quotas.tenant, algorithm: { ...inference.quotas.tenant.algorithm, limit: 60 } },
    burst: { ...inference.quotas.burst, enforced: true },
  },
};

const scenario = defineScenario({
  name: "gateway",
  seed: 3,
  // Across midnight in New York.
  startAt: "2026-03-08T04:57:00Z",
  duration: "4m",
  populations: {
    agents: {
      clients: 6,
      user: 3,
      behaviour: worker({
        calls: [
          { call: rest("/v1/complete", { method: "POST", cost: 120, actual: 45 }) },
          { call: rest("/v1/models/large/list") },
          { call: status() },
        ],
        think: { least: "50ms", most: "2s" },
      }),
      onRefused: retryAfter({ fallback: "700ms" }),
    },
    others: {
      clients: 3,
      organization: "globex",
      behaviour: worker({
        calls: [{ call: rest("/v1/complete", { method: "POST", cost: 80, actual: 80 }) }],
        think: { least: "100ms", most: "900ms" },
      }),
      onRefused: waitReset({ of: "both", fallback: "1s" }),
    },
    bursts: {
      clients: 2,
      user: "shared",
      behaviour: burst({ call: rest("/v1/models/small/list"), size: 9, every: "8s" }),
    },
  },
});

const wire: PolicyInput["wire"] = {
  revision: "1",
  readings: [
    {
      headers: {
        RateLimit: { list: { ".": "{quota}", r: "{remaining}", t: "{reset}" } },
        "RateLimit-Policy": { list: { ".": "{quota}", q: "{limit}" } },
      },
      reset: { form: "delta-s", means: "window-end" },
    },
  ],
  retryAfter: [{ header: "Retry-After", form: "delta-s" }],
  outcomes: [{ outcome: "refused", by: "{quota}", status: [429], headers: { "X-Refused-By": "{quota}" } }],
};

/** Judges a run under one policy as if it were under another. */
async function judgedAs(kept: PolicyInput, claimed: PolicyInput, change = (call: QuotaCall) => call) {
  const { header, calls } = simulateQuotas(adjustScenario(scenario, { policy: parsePolicy(kept) }));
  const lines = [...calls].map((call, at) => ({ line: at + 2, call: change(call) }));
  return judgeQuotas({ ...header, policy: parsePolicy(claimed) }, lines);
}

type Quotas = PolicyInput["quotas"];

const gatewayWith = (quotas: Partial<Quotas>): PolicyInput => ({
  ...gateway,
  wire,
  quotas: { ...(gateway.quotas as Quotas), ...(quotas as Quotas) },
});

const claimed = gatewayWith({});

const { tenant, user } = gateway.quotas as typeof inference.quotas;

describe("five quotas on one call", () => {
  test("a correct deployment is clean, and buckets are named as not judged", async () => {
    const verdict = await judgedAs(claimed, claimed);
    expect(verdict.violations).toEqual([]);
    expect(verdict.verdict).toBe("ok");
    expect(verdict.notJudged?.map(({ quota }) => quota)).toEqual(["tenant_tokens", "burst", "anybody"]);
    expect(verdict.windows).toBeGreaterThan(20);
    for (const law of [
      "bounded",
      "conserved",
      "isolated",
      "monotone",
      "refusal-justified",
      "recovers",
    ] as const)
      expect(verdict.laws[law], law).toBe("held");
  });

  test.each<[string, PolicyInput, string, string]>([
    [
      "a limit one higher",
      gatewayWith({ tenant: { ...tenant, algorithm: { ...tenant.algorithm, limit: 61 } } }),
      "tenant",
      "limit-agrees",
    ],
    [
      "a limit one lower",
      gatewayWith({ user: { ...user, algorithm: { ...user.algorithm, limit: 14 } } }),
      "user",
      "limit-agrees",
    ],
    [
      "refusals that cost nothing",
      gatewayWith({ user: { ...user, charge: { refused: "nothing" } } }),
      "user",
      "conserved",
    ],
    [
      "refusals of others that cost something",
      gatewayWith({ tenant: { ...tenant, charge: { refusedByOther: "charged" } } }),
      "tenant",
      "conserved",
    ],
    ["one count for all tenants", gatewayWith({ tenant: { ...tenant, key: [] } }), "tenant", "conserved"],
    [
      "one count for all users of a tenant",
      gatewayWith({ user: { ...user, key: ["tenant"] } }),
      "user",
      "conserved",
    ],
    [
      "windows of another length",
      gatewayWith({ tenant: { ...tenant, algorithm: { ...tenant.algorithm, windowSeconds: 90 } } }),
      "tenant",
      "reset-agrees",
    ],
    [
      "windows that open otherwise",
      gatewayWith({ tenant: { ...tenant, algorithm: { ...tenant.algorithm, anchor: "first-request" } } }),
      "tenant",
      "reset-agrees",
    ],
    [
      "a limit that is not enforced",
      gatewayWith({ tenant: { ...tenant, enforced: false } }),
      "tenant",
      "conserved",
    ],
  ])("%s is found", async (_, kept, quota, law) => {
    const { verdict, violations } = await judgedAs(kept, claimed);
    expect(verdict).toBe("violated");
    expect(violations.map((each) => [each.quota, each.law])).toContainEqual([quota, law]);
    expect(new Set(violations.map((each) => each.quota))).toEqual(new Set([quota]));
  });

  test("a limit one higher is found behind a proxy that rewrites the headers", async () => {
    const kept = gatewayWith({ tenant: { ...tenant, algorithm: { ...tenant.algorithm, limit: 61 } } });
    const rewritten = (call: QuotaCall): QuotaCall => ({
      ...call,
      readings: call.readings.map((reading) =>
        reading.quota === "tenant"
          ? { ...reading, limit: 60, remaining: Math.min(60, reading.remaining ?? 0) }
          : reading,
      ),
    });
    const { violations } = await judgedAs(kept, claimed, rewritten);
    expect(new Set(violations.map((each) => each.quota))).toEqual(new Set(["tenant"]));
    expect(violations.map(({ law }) => law)).toContain("conserved");
  });
});
