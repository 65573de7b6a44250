// `spillway probe --policy`: infers the fixed windows of any API's quotas, and names the quotas that it does not infer.
import type { Policy } from "../policy/policy.ts";
import type { Allowance, ProbeProgress } from "../probe/hand.ts";
import { differs, type QuotaFinding, quotaFindingNames } from "../probe/policy-finding.ts";
import type { PolicyProbeReport } from "../probe/policy-probe.ts";
import { duration } from "../report/format.ts";
import { counted } from "../rules/words.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { type ProbedTargetArgs, policyTarget } from "./probed-target.ts";
import type { Terminal } from "./terminal.ts";

/** Options of a probe by a policy. */
export interface PolicyProbeArgs extends ProbedTargetArgs {
  readonly allowance: Omit<Allowance, "points">;
  readonly timeoutMs: number;
  readonly out?: string | undefined;
  readonly trace?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ProbeProgress) => void;
}

/**
 * Probes a deployment, prints the findings, and writes the files that were asked for.
 * @param consent asks for consent, once the user knows what will be called
 */
export async function probeByPolicy(
  policy: Policy,
  args: PolicyProbeArgs,
  terminal: Terminal,
  consent: () => Promise<void>,
): Promise<PolicyProbeReport> {
  const { allowance, timeoutMs, out, trace, signal, onProgress } = args;
  const probed = await policyTarget(args, policy);
  const { calls, statusCalls, waitMs } = allowance;
  const who = Object.values(probed.caller.attributes).join("/") || "the token's owner";
  terminal.say(
    `This will call ${pc.bold(probed.target)} as ${who}, by the samples of the policy ${policy.name}:`,
    `  at most ${counted(calls, "call")} that may count, ${counted(statusCalls, "call")} of a status, ` +
      `and ${duration(waitMs)} of waiting for windows to end`,
    "  Quotas that so few calls use up are used up, until they reset: other calls are refused meanwhile.",
  );
  await consent();
  const { probePolicy } = await import("../probe/policy-probe.ts");
  const report = await probePolicy({ policy, ...probed, allowance, timeoutMs, signal, onProgress });
  terminal.progress(null);
  const { writeWhole } = await import("../files/whole-file.ts");
  if (trace !== undefined) await writeWhole(trace, `${report.trace.join("\n")}\n`);
  if (out !== undefined) await writeWhole(out, `${JSON.stringify(report.seen, null, 2)}\n`);
  sayReport(terminal, report);
  if (out !== undefined)
    terminal.say(`policy  ${out}, with what was seen in place of what ${policy.name} says`);
  if (trace !== undefined)
    terminal.say(`trace   ${trace}; next: ${shellCommand(["npx", "spillway", "verify", trace])}`);
  const { trace: _, ...result } = report;
  terminal.result(result);
  return report;
}

function sayReport(terminal: Terminal, report: PolicyProbeReport): void {
  const { used, ended, startedAt, endedAt, findings, notInferred } = report;
  terminal.say(
    `${pc.bold("used")} ${counted(used.calls, "call")} that may count, ${counted(used.statusCalls, "call")} of a status, ` +
      duration(endedAt - startedAt),
  );
  if (ended === "interrupted") terminal.say(`${pc.yellow("interrupted")}: what was found until then`);
  else if (ended !== "whole") terminal.say(`${pc.red("stopped")} ${ended.stopped}`);
  for (const quota of new Set(findings.map((finding) => finding.quota))) {
    terminal.say("", pc.bold(quota));
    const own = findings.filter((finding) => finding.quota === quota);
    for (const finding of own.filter(({ value }) => value !== null)) sayFinding(terminal, finding);
    sayUnseen(
      terminal,
      own.filter(({ value }) => value === null),
    );
    for (const { why } of notInferred.filter((one) => one.quota === quota))
      terminal.say(`  ${pc.yellow("not inferred")}: ${why}`);
  }
  const others = findings.filter(differs).length;
  const seen = findings.filter(({ value, said }) => value !== null && said !== null).length;
  terminal.say(
    "",
    others === 0
      ? `${pc.green("as the policy says")}: ${counted(seen, "member")} seen`
      : `${pc.yellow(`${counted(others, "member")} of ${seen} seen differ`)} from the policy`,
  );
}

const width = Math.max(...Object.values(quotaFindingNames).map((name) => name.length));

const nameOf = ({ name, operation }: QuotaFinding): string =>
  operation === undefined ? quotaFindingNames[name] : `a call of ${operation} is charged`;

function sayFinding(terminal: Terminal, finding: QuotaFinding): void {
  const { value, said, confidence, evidence } = finding;
  const sure = confidence === "certain" ? pc.green(confidence) : pc.yellow(confidence);
  const other = differs(finding) ? `  ${pc.yellow(`the policy says ${said}`)}` : "";
  terminal.say(
    `  ${nameOf(finding).padEnd(width)}  ${pc.bold(String(value))}  ${sure}${other}`,
    pc.dim(`    ${evidence}`),
  );
}

/** Says what was not seen, grouped by reason. */
function sayUnseen(terminal: Terminal, unseen: readonly QuotaFinding[]): void {
  const byReason = new Map<string, string[]>();
  for (const finding of unseen) {
    const reason = `${finding.evidence}; it would take ${finding.needs ?? "more"}`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), nameOf(finding)]);
  }
  for (const [reason, names] of byReason)
    terminal.say(`  ${pc.dim("not seen")} ${names.join(", ")}`, pc.dim(`    ${reason}`));
}
