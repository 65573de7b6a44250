// The run in all its facts, and the command that repeats it.

import type { Policy } from "../policy/policy.ts";
import { quotaSentences } from "../policy/sentences.ts";
import { duration } from "../rules/duration.ts";
import { parseRules } from "../rules/parse.ts";
import { presets } from "../rules/presets.ts";
import { shortName } from "../rules/printable.ts";
import { type Rules, type Scope, scopes } from "../rules/rules.ts";
import { switchNames } from "../rules/switches.ts";
import { count, counted } from "../rules/words.ts";
import { instant } from "./format.ts";
import { type Html, html } from "./html.ts";
import { factList } from "./parts.ts";
import type { RunRecord } from "./run.ts";
import { driverWords, latenessWords, type ReportSource, scopeUnits, scopeWords } from "./source.ts";
import { table } from "./table.ts";

export function runSection({ run }: ReportSource): Html {
  const { record, summary } = run;
  const facts: [string, string][] = [
    ["Scenario", record.scenario.file ?? shortName(record.scenario.name)],
    ["How", driverWords[record.driver]],
    ["Target", record.target ?? "none: virtual time"],
    ["Seed", String(record.seed)],
    ["Started", instant(record.startedAt)],
    ["Ended", instant(record.endedAt)],
    ["Meant to last", duration(record.durationMs)],
    ["Trace", counted(summary.records, "record")],
    ...(record.lateness === undefined
      ? []
      : ([["Calls left late", latenessWords(record.lateness)]] satisfies [string, string][])),
    [
      "Versions",
      Object.entries(record.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", "),
    ],
  ];
  return html`<section id="run">
<h2>What was run</h2>
${factList(facts)}
<h3>The command that repeats it</h3>
<pre><code>${record.command}</code></pre>
${record.driver === "k6" ? html`<p>What k6 itself left, its summary and its dashboard, is in the folder's <code>k6/</code>.</p>\n` : null}${limitsBlock(record)}</section>
`;
}

/** Returns the limits of a run, or of a replay. */
export function limitsBlock({ rules, policy }: Pick<RunRecord, "rules" | "policy">): Html {
  if (policy !== undefined) return policyBlock(policy);
  if (rules !== null) return rulesBlock(rules);
  return html`<p>The target's rules were not given; what stands here is what its answers showed.</p>\n`;
}

/** Returns the quotas of a policy in sentences. */
function policyBlock({ name, quotas }: Policy): Html {
  const items = Object.entries(quotas).map(
    ([quota, rest]) => html`<li><code>${shortName(quota)}</code>: ${quotaSentences(rest).join(" ")}</li>\n`,
  );
  return html`<h3>Its policy, ${shortName(name)}</h3>
<ul>${items}</ul>
`;
}

function rulesBlock(rules: Rules): Html {
  const rows = [
    ...scopes.map((scope) => ({ owner: "organization", scope, ...rules.organization[scope] })),
    ...scopes.map((scope) => ({ owner: "user", scope, enforced: true, ...rules.user[scope] })),
  ];
  const overrides = [...Object.keys(rules.organizations), ...Object.keys(rules.users)];
  const switches = unusual(rules);
  return html`<h3>Its rules</h3>
${table(
  [
    { title: "Whose", name: true, cell: ({ owner }) => owner },
    { title: "Scope", cell: ({ scope }) => scopeWords[scope] },
    { title: "Limit", number: true, cell: ({ limit, scope }) => `${count(limit)} ${scopeUnits[scope]}` },
    { title: "Window", number: true, cell: ({ windowSeconds }) => duration(windowSeconds * 1000) },
    { title: "Enforced", cell: ({ enforced }) => (enforced ? "yes" : "no: counts, refuses nothing") },
  ],
  rows,
  { caption: "Limits", titled: true },
)}${overrides.length === 0 ? null : html`<p>Limits of their own: ${overrides.join(", ")} (run.json has them).</p>\n`}<p>Semantics: ${
    switches.length === 0 ? "all switches at their defaults." : `${switches.join(", ")}; else the defaults.`
  }</p>
`;
}

/** Returns the switches that differ from their defaults: `refused (REST): counted`. */
function unusual(rules: Rules): string[] {
  const defaults = parseRules(presets.default);
  return switchNames.flatMap((name) => {
    const meaningful: readonly Scope[] = name === "graphqlCharge" ? ["graphql"] : scopes;
    const differing = meaningful.filter(
      (scope) => rules.semantics[name][scope] !== defaults.semantics[name][scope],
    );
    return differing.map((scope) => `${name} (${scopeWords[scope]}): ${rules.semantics[name][scope]}`);
  });
}
