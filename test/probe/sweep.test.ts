// The probe infers what was set, or "not seen": under every value of every switch (SPEC.md §8), under
// presets, several limits and lengths, and under random rules.
// @module-tag long
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FindingName } from "../../src/probe/finding.ts";
import type { ProbeReport } from "../../src/probe/probe.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { presets } from "../../src/rules/presets.ts";
import { type RulesInput, type Scope, scopes } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";
import { verify } from "../../src/verify/verify.ts";
import { anyRules, mistakes } from "./truth.ts";
import { probeVirtually, START_MS, type VirtualOptions } from "./virtual.ts";

const seen = (report: ProbeReport, name: FindingName, scope: Scope | null): unknown =>
  report.findings.find((finding) => finding.name === name && finding.scope === scope)?.value;

/** Long enough to see GraphQL's window end. */
const patient = { allowance: { waitMs: 700_000, calls: 120 } };

async function holds(
  rules: RulesInput,
  virtual: VirtualOptions = {},
  options = patient,
): Promise<ProbeReport> {
  const report = await probeVirtually(rules, virtual, options);
  expect(report.ended).toBe("whole");
  expect(mistakes(report, rules)).toEqual([]);
  return report;
}

const probed = new Map<string, Promise<ProbeReport>>();

/** Each set of rules is probed once: a switch at its default is no other set. */
function holdsOnce(rules: RulesInput): Promise<ProbeReport> {
  const name = JSON.stringify(parseRules(rules));
  const report = probed.get(name) ?? holds(rules);
  probed.set(name, report);
  return report;
}

/** Another reading of the same calls: their trace breaks no law, and what the oracle infers, too, is the same. */
async function holdsByTheOracle(report: ProbeReport): Promise<void> {
  const verdict = await verify(Readable.from([Buffer.from(`${report.trace.join("\n")}\n`)]));
  expect(verdict.violations).toEqual([]);
  const both = (verdict.inferred ?? []).filter(
    (one) => one.value !== null && (seen(report, one.switch, one.scope) ?? null) !== null,
  );
  expect(both.map(({ switch: name, scope, value }) => [name, scope, String(value)])).toEqual(
    both.map(({ switch: name, scope }) => [name, scope, String(seen(report, name, scope))]),
  );
}

/** Other settings that a value needs to show at all. */
const stages: Partial<Record<SwitchName, RulesInput>> = {
  remaining: { semantics: { refused: "counted" } },
  userEnforced: {
    organization: { rest: { enforced: false }, graphql: { enforced: false } },
    semantics: { graphqlCharge: "prepaid" },
  },
};

const cases = (Object.keys(switchValues) as SwitchName[]).flatMap((name) =>
  switchValues[name].flatMap((value) =>
    scopes.flatMap((scope) => (name === "graphqlCharge" && scope === "rest" ? [] : [{ name, value, scope }])),
  ),
);

describe("every value of every switch", () => {
  test.each(cases)("$name: $value, for $scope", async ({ name, value, scope }) => {
    const stage = stages[name] ?? {};
    const rules = {
      ...stage,
      semantics: { ...stage.semantics, [name]: { ...[], [scope]: value } },
    } as RulesInput;
    const report = await holdsOnce(rules);
    expect(seen(report, name, scope)).toBe(value);
    await holdsByTheOracle(report);
  });
});

describe("every value of every switch under the other charges", () => {
  const charges = switchValues.graphqlCharge.filter((charge) => charge !== "reserved");
  // Each under one of them, in turn.
  test.each(cases.map((one, index) => ({ ...one, charge: charges[index % charges.length] })))(
    "$charge, $name: $value, for $scope",
    async ({ name, value, scope, charge }) => {
      const semantics = { graphqlCharge: charge, [name]: { [scope]: value } };
      await holdsOnce({ semantics } as RulesInput);
    },
  );
});

describe("presets and lengths", () => {
  test.each(Object.entries(presets))("%s", async (_name, rules) => {
    const report = await holds(rules);
    for (const scope of scopes)
      for (const name of [
        "organizationWindow",
        "userWindow",
        "anchor",
        "reset",
        "organizationLimit",
        "userLimit",
      ] as const)
        expect(seen(report, name, scope), `${name} ${scope}`).not.toBeNull();
  });

  test.each([1, 2, 3, 5, 7, 30, 90, 120, 3600])("windows of %i s", async (windowSeconds) => {
    for (const anchor of switchValues.anchor) {
      const windows = { rest: { windowSeconds }, graphql: { windowSeconds } };
      await holds({ organization: windows, user: windows, semantics: { anchor } });
    }
  });
});

test.each([1, 2, 3, 4, 5])("a user's window of %i points that ends while it is looked at", async (limit) => {
  const graphql = { limit, windowSeconds: 1 };
  await holds(
    {
      organization: { graphql: { ...graphql, enforced: false } },
      user: { graphql },
      semantics: { graphqlCharge: "prepaid", userEnforced: "always" },
    },
    { latencyMs: () => 221 },
  );
});

describe("random rules", () => {
  const runs = { numRuns: Number(process.env["PROBE_RUNS"] ?? 10) };

  test("nothing wrong is said", { timeout: 600_000 }, async () => {
    const phase = fc.integer({ min: 0, max: 299_999 });
    await fc.assert(
      fc.asyncProperty(anyRules, phase, fc.integer({ min: 1, max: 60 }), async (rules, phaseMs, latency) => {
        const report = await holds(rules, { startMs: START_MS + phaseMs, latencyMs: () => latency });
        await holdsByTheOracle(report);
      }),
      runs,
    );
  });

  test("nor where calls take from nothing to most of a second", { timeout: 600_000 }, async () => {
    const latencies = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(anyRules, latencies, async (rules, each) => {
        await holds(rules, { latencyMs: (call) => each[call % each.length] ?? 0 });
      }),
      runs,
    );
  });

  test("nor within small allowances", { timeout: 600_000 }, async () => {
    const allowance = fc.record({
      calls: fc.integer({ min: 0, max: 60 }),
      points: fc.integer({ min: 0, max: 10_000 }),
      statusCalls: fc.integer({ min: 1, max: 80 }),
      waitMs: fc.integer({ min: 0, max: 60_000 }),
    });
    await fc.assert(
      fc.asyncProperty(anyRules, allowance, async (rules, small) => {
        await holds(rules, {}, { allowance: small });
      }),
      runs,
    );
  });
});
