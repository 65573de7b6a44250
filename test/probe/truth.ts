// Findings that a probe owes: the rules that were set. And rules at random.
import fc from "fast-check";
import type { Finding, FindingName } from "../../src/probe/finding.ts";
import type { ProbeReport } from "../../src/probe/probe.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type SwitchName, switchValues } from "../../src/rules/switches.ts";

/** The setting, by finding; `undefined` where the rules leave it open. */
function truth(input: RulesInput): (finding: Pick<Finding, "name" | "scope">) => unknown {
  const { organization, user, semantics } = parseRules(input);
  return ({ name, scope }) => {
    if (scope === null) return undefined;
    const values: Partial<Record<FindingName, unknown>> = {
      organizationLimit: organization[scope].limit,
      userLimit: user[scope].limit,
      organizationWindow: organization[scope].windowSeconds,
      userWindow: user[scope].windowSeconds,
      enforced: organization[scope].enforced,
      firstRefuser: "organization",
      statusCounted: false,
      getCounted: true,
      headCounted: true,
      headStatusCounted: false,
      notFoundCounted: true,
      wrongMethodCounted: scope === "rest",
      badBodyCounted: false,
      badQueryCounted: false,
    };
    return name in switchValues ? semantics[name as SwitchName][scope] : values[name];
  };
}

/** Findings that say something else than what was set. */
export function mistakes(report: ProbeReport, rules: RulesInput): string[] {
  const set = truth(rules);
  const seconds = { ...parseRules(rules) };
  return report.findings.flatMap((finding) => {
    const { name, scope, value } = finding;
    const expected = set(finding);
    if (value === null || expected === undefined || value === expected) return [];
    // A window of one second is the same under both anchors.
    if (name === "anchor" && scope !== null && seconds.organization[scope].windowSeconds === 1) return [];
    return [
      `${name} ${scope}: ${String(value)} (${finding.confidence}), was set ${String(expected)}: ${finding.evidence}`,
    ];
  });
}

const limit = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 61, max: 30_000 }));
const windowSeconds = fc.oneof(fc.constantFrom(60, 300, 10, 5), fc.integer({ min: 1, max: 400 }));
const userLimits = fc.record({ limit, windowSeconds });
const organizationLimits = fc.record({ limit, windowSeconds, enforced: fc.boolean() });
const perScope = <T>(one: fc.Arbitrary<T>) => fc.record({ rest: one, graphql: one });
/** Rules that differ in everything: small limits and large, short windows and long, every switch. */
export const anyRules = fc.record({
  organization: perScope(organizationLimits),
  user: perScope(userLimits),
  semantics: fc.record(
    Object.fromEntries(
      Object.entries(switchValues).map(([name, values]) => [name, perScope(fc.constantFrom(...values))]),
    ),
  ),
}) as fc.Arbitrary<RulesInput>;
