// A probe's findings, for people: a line for each thing it looked for, the evidence below, then what it did not see.
import { type FindingValue, findingNames, type Sighting } from "../probe/finding.ts";
import { differs, type QuotaFinding, quotaFindingNames } from "../probe/policy-finding.ts";
import type { PolicyProbeReport } from "../probe/policy-probe.ts";
import type { ProbeReport } from "../probe/probe.ts";
import { duration } from "../rules/duration.ts";
import { counted } from "../rules/words.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

/** Prints the report of a probe by rules or by a policy. */
export function sayProbe(terminal: Terminal, report: ProbeReport | PolicyProbeReport): void {
  const { used, ended, startedAt, endedAt } = report;
  const failed = "failed" in report ? report.failed : 0;
  const spent = [
    `${counted(used.calls, "call")} that may count`,
    ...("points" in used
      ? [`${counted(used.points, "point")} asked for`, counted(used.statusCalls, "free call")]
      : [`${counted(used.statusCalls, "call")} of a status`]),
    duration(endedAt - startedAt),
    ...(failed === 0 ? [] : [`${counted(failed, "call")} failed`]),
  ];
  terminal.say(`${pc.bold("used")} ${spent.join(", ")}`);
  if (ended === "interrupted") terminal.say(`${pc.yellow("interrupted")}: what was found until then`);
  else if (ended !== "whole") terminal.say(`${pc.red("stopped")} ${ended.stopped}`);
  terminal.say(...("policy" in report ? byQuota(report) : byScope(report)));
}

function byScope({ findings, defaults }: ProbeReport): string[] {
  const seen = (["rest", "graphql", null] as const).flatMap((scope) => {
    const lines = seenLines(
      findings.filter((finding) => finding.scope === scope),
      ({ name }) => findingNames[name],
      width(findingNames),
    );
    return lines.length === 0 ? [] : ["", pc.bold(scope ?? "both"), ...lines];
  });
  const unseen = unseenLines(
    findings,
    ({ scope, name }) => `${scope === null ? "" : `${scope}: `}${findingNames[name]}`,
  );
  return [
    ...seen,
    ...(unseen.length === 0 ? [] : ["", pc.bold("not seen"), ...unseen]),
    ...(defaults.length === 0
      ? []
      : ["", `${pc.bold("defaults")} of the rules that were not seen: ${defaults.join(", ")}`]),
  ];
}

function byQuota({ findings, notInferred }: PolicyProbeReport): string[] {
  const nameOf = ({ name, operation }: QuotaFinding): string =>
    operation === undefined ? quotaFindingNames[name] : `a call of ${operation} is charged`;
  const otherOf = (finding: QuotaFinding): string =>
    differs(finding) ? `  ${pc.yellow(`the policy says ${finding.said}`)}` : "";
  const others = findings.filter(differs).length;
  const seen = findings.filter(({ value, said }) => value !== null && said !== null).length;
  return [
    ...[...new Set(findings.map(({ quota }) => quota))].flatMap((quota) => {
      const own = findings.filter((finding) => finding.quota === quota);
      const why = notInferred.filter((one) => one.quota === quota);
      return [
        "",
        pc.bold(quota),
        ...seenLines(own, nameOf, width(quotaFindingNames), otherOf),
        ...unseenLines(own, nameOf, `${pc.dim("not seen")} `),
        ...why.map((one) => `  ${pc.yellow("not inferred")}: ${one.why}`),
      ];
    }),
    "",
    others === 0
      ? `${pc.green("as the policy says")}: ${counted(seen, "member")} seen`
      : `${pc.yellow(`${counted(others, "member")} of ${seen} seen differ`)} from the policy`,
  ];
}

const width = (names: Readonly<Record<string, string>>): number =>
  Math.max(...Object.values(names).map((name) => name.length));

/** Returns the lines of the things that were seen. @param otherOf says what was expected, if that is something else */
const seenLines = <F extends Sighting<FindingValue>>(
  findings: readonly F[],
  nameOf: (finding: F) => string,
  nameWidth: number,
  otherOf: (finding: F) => string = () => "",
): string[] =>
  findings.flatMap((finding) => {
    const { value, confidence, evidence } = finding;
    if (value === null) return [];
    const sure = confidence === "certain" ? pc.green(confidence) : pc.yellow(confidence);
    const name = nameOf(finding).padEnd(nameWidth);
    return [`  ${name}  ${pc.bold(words(value))}  ${sure}${otherOf(finding)}`, pc.dim(`    ${evidence}`)];
  });

function words(value: FindingValue): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .map(([name, amount]) => `${name} ${amount ?? "unknown"}`)
    .join(", ");
}

/** Returns the lines of the things that were not seen, grouped by reason. */
function unseenLines<F extends Sighting<unknown>>(
  findings: readonly F[],
  nameOf: (finding: F) => string,
  before = "",
): string[] {
  const byReason = new Map<string, string[]>();
  for (const finding of findings) {
    if (finding.value !== null) continue;
    const reason = `${finding.evidence}; it would take ${finding.needs ?? "more"}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), nameOf(finding)]);
  }
  return [...byReason].flatMap(([reason, names]) => [
    `  ${before}${names.join(", ")}`,
    pc.dim(`    ${reason}`),
  ]);
}
