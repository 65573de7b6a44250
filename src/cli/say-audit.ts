// An audit in words: what it is about to spend, and what it found, one line for each experiment.
import type { Experiment } from "../audit/experiment.ts";
import type { Lab } from "../audit/lab.ts";
import { type Plan, tasksOf } from "../audit/plan.ts";
import { auditLine } from "../report/audit-documents.ts";
import { duration } from "../rules/duration.ts";
import { counted } from "../rules/words.ts";
import { type AuditResult, answerWords, type Row, type State } from "../summary/audit-result.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

/** Says what an audit will call, empty and take. */
export function sayPlan(terminal: Terminal, base: string, plan: Plan, lab: Lab, maxMs: number): void {
  const experiments = new Set(tasksOf(plan).map(({ experiment }) => experiment.name));
  terminal.say(
    `This will call ${pc.bold(base)} as ${counted(lab.callers.length, "caller")}, under the policy ${lab.policy.name}:`,
    `  ${counted(experiments.size, "experiment")}, about ${counted(plan.calls, "call")}; ${counted(plan.empties, "window")} used up, never two in a row of one quota`,
    ...(plan.rests === 0
      ? []
      : [`  quotas without counts are used up ${counted(plan.rests, "time")}, also in windows in a row`]),
    `  about ${duration(Math.min(plan.ms, maxMs))}, at most ${duration(maxMs)}; what does not fit is said to be not exercised`,
    "  The policy's samples are sent. Other calls of these quotas may be refused meanwhile.",
  );
}

const colors: Readonly<Record<State, (text: string) => string>> = {
  kept: pc.green,
  broken: pc.red,
  "not exercised": pc.yellow,
};

/** Prints the table, then each contradiction. */
export function sayAudit(terminal: Terminal, result: AuditResult, folder: string): void {
  const width = Math.max(...result.rows.map(({ name }) => name.length));
  terminal.say("");
  for (const row of result.rows) terminal.say(lineOf(row, width));
  for (const row of result.rows)
    for (const { law, operation, expected, got, calls, follows, repeat, isRepeated, oracle } of row.broken) {
      const from = follows === null ? "" : ` (it may follow from ${follows})`;
      terminal.say(
        "",
        `${pc.red("broken")} ${pc.bold(row.name)}, ${operation}: ${law}, ${row.section}${from}`,
      );
      terminal.say(`  expected  ${expected}`, `  got       ${got}`);
      for (const call of calls.slice(0, 6))
        terminal.say(pc.dim(`  line ${call.line}  ${[call.what, answerWords(call)].join(": ")}`));
      const again = isRepeated ? "seen again when repeated" : "not repeated";
      terminal.say(`  ${again}; the oracle ${oracle}`, `  repeat    ${repeat}`);
    }
  const { ended } = result;
  if (ended === "interrupted")
    terminal.say("", `${pc.yellow("interrupted")}: go on with --resume --out ${folder}`);
  else if (ended !== "whole") terminal.say("", `${pc.red("stopped")} ${ended.stopped}`);
  for (const assumption of result.assumptions) terminal.say(`${pc.yellow("note")}    ${assumption}`);
  terminal.say("", auditLine(result), `report  ${folder}/report.html`);
}

function lineOf({ name, law, state, why, operations }: Row, width: number): string {
  const of = state === "kept" && operations.length > 0 ? pc.dim(` ${operations.join(", ")}`) : "";
  const because =
    why === null ? "" : pc.dim(`  ${state === "not exercised" ? "" : "not exercised with "}${why}`);
  return `${colors[state](state.padEnd(13))} ${name.padEnd(width)}  ${law}${of}${because}`;
}

/** Lists experiments with law, needs and spend. */
export function sayExperiments(terminal: Terminal, experiments: readonly Experiment[]): void {
  terminal.result(
    experiments.map(({ name, law, section, promise, needs, calls, empties = 0, waits = 0 }) => ({
      name,
      law,
      section,
      promise,
      needs,
      calls,
      empties,
      waits,
    })),
  );
  for (const { name, law, promise, needs, calls, empties = 0, waits = 0 } of experiments) {
    const windows = [empties > 0 ? "empties a window" : "", waits > 0 ? "waits for its end" : ""].filter(
      (text) => text !== "",
    );
    terminal.say(`${pc.bold(name)}  ${law}: ${promise}`);
    terminal.say(pc.dim(`    needs ${needs}; spends ${[counted(calls, "call"), ...windows].join(", ")}`));
  }
}
