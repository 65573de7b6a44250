// Turns findings into rules that the other verbs take.
import { parseRules } from "../rules/parse.ts";
import { type RulesInput, type Scope, scopes } from "../rules/rules.ts";
import { switchNames } from "../rules/switches.ts";
import type { Finding, FindingName } from "./finding.ts";

/** Rules for other verbs, and the members that were not seen. */
export interface ProbedRules {
  /** Only what was seen; `parseRules` fills in the rest. */
  readonly rules: RulesInput;
  /** Paths of the members that are defaults, because nothing was seen of them. */
  readonly defaults: readonly string[];
}

/** Puts findings together as rules. What nobody can tell from outside keeps its default. */
export function rulesOf(findings: readonly Finding[]): ProbedRules {
  const defaults: string[] = [];
  const rules: Record<string, Record<string, Record<string, unknown>>> = {};
  const put = (section: string, first: string, second: string, name: FindingName, scope: Scope): void => {
    const finding = findings.find((one) => one.name === name && one.scope === scope);
    if (finding == null || finding.value === null) defaults.push(`${section}.${first}.${second}`);
    else {
      rules[section] = {
        ...rules[section],
        [first]: { ...rules[section]?.[first], [second]: finding.value },
      };
    }
  };
  for (const scope of scopes) {
    put("organization", scope, "limit", "organizationLimit", scope);
    put("organization", scope, "windowSeconds", "organizationWindow", scope);
    put("organization", scope, "enforced", "enforced", scope);
    put("user", scope, "limit", "userLimit", scope);
    put("user", scope, "windowSeconds", "userWindow", scope);
  }
  for (const name of switchNames)
    for (const scope of scopes) {
      // Meaningless for REST, whose calls cost 1 when they are decided.
      if (name === "graphqlCharge" && scope === "rest") continue;
      put("semantics", name, scope, name, scope);
    }
  parseRules(rules);
  return { rules: rules as RulesInput, defaults };
}
