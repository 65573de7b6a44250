// A probe's findings, for people: a line for each thing it looked for, the evidence below, then what it did not see.

import { type Finding, findingNames } from "../probe/finding.ts";
import type { ProbeReport } from "../probe/probe.ts";
import { duration } from "../report/format.ts";
import { counted } from "../rules/words.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

/** Prints the report. */
export function sayProbe(terminal: Terminal, report: ProbeReport): void {
  const { used, failed, ended, startedAt, endedAt, findings, defaults } = report;
  const failures = failed === 0 ? "" : `, ${counted(failed, "call")} failed`;
  terminal.say(
    `${pc.bold("used")} ${counted(used.calls, "call")} that may count, ${counted(used.points, "point")} asked for, ` +
      `${counted(used.statusCalls, "free call")}, ${duration(endedAt - startedAt)}${failures}`,
  );
  if (ended === "interrupted") terminal.say(`${pc.yellow("interrupted")}: what was found until then`);
  else if (ended !== "whole") terminal.say(`${pc.red("stopped")} ${ended.stopped}`);
  for (const scope of ["rest", "graphql", null] as const) {
    const ofScope = findings.filter((finding) => finding.scope === scope && finding.value !== null);
    if (ofScope.length === 0) continue;
    terminal.say("", pc.bold(scope === null ? "both" : scope));
    for (const finding of ofScope) sayFinding(terminal, finding);
  }
  sayUnseen(terminal, findings);
  if (defaults.length > 0) {
    terminal.say("", `${pc.bold("defaults")} of the rules that were not seen: ${defaults.join(", ")}`);
  }
}

const nameWidth = Math.max(...Object.values(findingNames).map((name) => name.length));

function sayFinding(terminal: Terminal, { name, value, confidence, evidence }: Finding): void {
  const sure = confidence === "certain" ? pc.green(confidence) : pc.yellow(confidence);
  terminal.say(`  ${findingNames[name].padEnd(nameWidth)}  ${pc.bold(words(value))}  ${sure}`);
  terminal.say(pc.dim(`    ${evidence}`));
}

function words(value: Finding["value"]): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([name, amount]) => `${name} ${amount ?? "unknown"}`)
    .join(", ");
}

/** Says what was not seen, grouped by reason. */
function sayUnseen(terminal: Terminal, findings: readonly Finding[]): void {
  const unseen = findings.filter(({ value }) => value === null);
  if (unseen.length === 0) return;
  terminal.say("", pc.bold("not seen"));
  const byReason = new Map<string, string[]>();
  for (const { name, scope, evidence, needs } of unseen) {
    const reason = `${evidence}; it would take ${needs ?? "more"}`;
    const what = `${scope === null ? "" : `${scope}: `}${findingNames[name]}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), what]);
  }
  for (const [reason, what] of byReason) {
    terminal.say(`  ${what.join(", ")}`);
    terminal.say(pc.dim(`    ${reason}`));
  }
}
