// The oracle by quotas, of each fault of the catalogue.
import { describe, expect, test } from "vitest";
import { simulate } from "../../sim/simulate.ts";
import { faults } from "../../src/faults/catalogue.ts";
import { parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { judgeQuotas } from "../../src/verify/policy-judge.ts";
import { crowd, crowdRules, suited } from "../faults/crowd.ts";
import { callByQuotas, headerByQuotas } from "./as-quotas.ts";

/** Faults that readings by quota do not show, and why. */
const unseen: Readonly<Record<string, string>> = {
  "refusal-names-user": "a policy's order is not what everybody names refusals by",
  "reset-at-drifts": "a reading has one reset, as the header tells it",
  "reset-disagrees": "a reading has one reset, as the header tells it",
  "headers-missing-on-429": "a policy does not say which answers owe readings",
  "headers-missing-on-status": "a policy does not say which answers owe readings",
  "headers-doubled": "a value that nobody can read is no reading",
  "wrong-scope-header": "a value that nobody can read is no reading",
};

/** Faults that another one's name fits better, by quotas. */
const misnamed = ["one-extra", "reset-zero", "reset-truncated", "status-shares-user"];

describe("faults of the catalogue, by quotas", () => {
  const judged = faults.filter(({ nets }) => nets.includes("V")).map(({ name }) => name);

  test.each(judged)("%s", async (name) => {
    const fault = parseFault(name);
    const { scenario, rules } = suited({ scenario: crowd, rules: parseRules(crowdRules) }, fault);
    const { header, calls } = simulate(scenario, { seed: 1, rules, fault, durationMs: 30_000 });
    const lines = [...calls].map((call, at) => ({ line: at + 2, call: callByQuotas(call) }));
    const { verdict, violations } = await judgeQuotas(headerByQuotas(header, rules), lines);
    expect(verdict).toBe(name in unseen ? "ok" : "violated");
    if (name in unseen || misnamed.includes(name)) return;
    expect(violations.flatMap(({ suspects }) => suspects)).toContain(name);
  });
});
