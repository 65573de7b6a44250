// `spillway verify TRACE`: judges a trace.
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { requireFile } from "../files/read-file.ts";
import { k6Files } from "../load/run-k6.ts";
import type { Policy } from "../policy/policy.ts";
import { instant } from "../report/format.ts";
import { k6Folder, limitsIn, type RunRecord, runFiles } from "../report/run.ts";
import {
  amountWords,
  evidenceGaps,
  evidenceWords,
  inferredWords,
  leftOut,
  methodWords,
  notJudgedWords,
  otherQuotaWords,
  questionWords,
} from "../report/verdict-words.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseExpectation } from "../rules/figures.ts";
import { type LawName, lawNames } from "../rules/laws.ts";
import { shortName } from "../rules/printable.ts";
import { counted } from "../rules/words.ts";
import { acceptedBy } from "../runs/accepted.ts";
import type { RereadableTrace } from "../runs/trace-source.ts";
import { version } from "../runs/version.ts";
import type { Whose } from "../trace/whose.ts";
import type { LawVerdict, Verdict, Violation } from "../verify/verdict.ts";
import { pc } from "./colors.ts";
import { openOption, reportOpener } from "./open-report.ts";
import { unusable } from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { defineVerb, option } from "./verb.ts";
import { verdictStatus } from "./verdict-status.ts";

/** Most violations that are printed; the JSON has all of them. */
const printedMost = 20;

export const verb = defineVerb({
  name: "verify",
  summary: "judge a trace: say which laws of the rules it keeps, and which it breaks",
  operands: [
    {
      name: "trace",
      required: true,
      describe: "a trace file (gzip or not), a run's folder (also of a killed run), or - for standard input",
    },
  ],
  options: {
    sort: option.flag("put the trace in the order of received first, in memory", { default: false }),
    out: option.text(
      "FILE",
      "write the verdict to FILE: .json, .html with pictures, .md, or .xml for build servers",
      { array: true },
    ),
    open: {
      ...openOption,
      describe: "with an .html file in --out, open it in the browser once it is written",
    },
    expect: option.text(
      "BOUND",
      "accept a limiter that is approximate on purpose, within BOUND: 'overAdmission<1%' [default: the run's own]",
    ),
  },
  examples: {
    "$0 verify reports/ci-fleet-load": "judge the trace of a run",
    "$0 verify staging.trace.ndjson.gz --out verdict.json": "judge a trace from anywhere",
    "$0 verify prod.ndjson --expect 'overAdmission<1%' --out verdict.html": "accept what its owner accepts",
    "{ cat header.json; kubectl logs k6-0 | grep '^{\"sent\"'; } | $0 verify - --json":
      "judge the calls that plain k6 wrote (bundle, TRACE=1), below a header as FORMAT.md has it",
  },
  handler: async ({ trace, sort, out = [], expect, open: isWanted, json }) => {
    const writers = out.map(writerOf);
    const page = out.find((path) => extname(path).toLowerCase() === ".html");
    if (isWanted === true && page === undefined)
      throw new SpillwayError("USAGE", "--open needs an .html file in --out, which it opens");
    const open = await reportOpener(isWanted);
    const terminal = openTerminal(json);
    const judge = async (signal: AbortSignal): Promise<void> => {
      const { verifyReading } = await import("../verify/verify.ts");
      const { claimedVerdict } = await import("../verify/claims.ts");
      const kept = await keptTerms(trace);
      const accept = acceptedBy(expect === undefined ? kept.expect : overAdmission(expect));
      const onProgress = (calls: number): void => terminal.progress(`judging: ${counted(calls, "call")}`);
      const { first, again, close } = await openNamed(trace, sort, signal, terminal);
      const judged = await verifyReading(first, { onProgress, signal, again, ...accept }).finally(close);
      const verdict = claimedVerdict(judged, kept.claims ?? "all");
      for (const write of writers) await write(nameOf(trace), verdict, limitsIn(first.header).policy);
      if (page !== undefined) await open(page);
      sayVerdict(trace, verdict, terminal);
      if (out.length > 0) terminal.say(`wrote ${out.join(", ")}`);
      terminal.result(verdict);
      process.exitCode = verdictStatus[verdict.verdict];
    };
    const said = `${pc.yellow("interrupted")} before the end of the trace: no verdict`;
    await untilInterrupted(terminal, judge, said, true);
  },
});

/** Opens a file, the trace of a run's folder, or standard input. */
export async function openNamed(
  trace: string,
  sort: boolean,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<RereadableTrace> {
  const { openTraceSource, sourceOf } = await import("../runs/trace-source.ts");
  if (trace === "-" || !(await isFolder(trace))) {
    if (trace !== "-") await requireFile(trace, "trace");
    return openTraceSource(trace, { sort, signal });
  }
  const { unfinishedRunIn } = await import("../report/run-folder.ts");
  const unfinished = await unfinishedRunIn(trace);
  const path = join(trace, runFiles.trace);
  if (unfinished !== null && !existsSync(path)) {
    terminal.say(`${pc.yellow("note")} this run did not end: its trace is judged as far as it goes`);
    const { openTrace } = await import("../trace/read.ts");
    return sourceOf(async () => openTrace(await unfinishedSource(unfinished, signal), { sort }));
  }
  if (unfinished !== null)
    terminal.say(
      `${pc.yellow("note")} a later run into this folder did not end: the one before it is judged`,
    );
  await requireFile(path, "trace of this run's folder");
  return openTraceSource(path, { sort, signal });
}

/** Opens an unfinished run's trace; a run by k6 has its calls in k6's raw file. @param hidden the run's folder */
async function unfinishedSource(hidden: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { traceBytes } = await import("../runs/trace-bytes.ts");
  const { unfinishedTrace } = await import("../trace/unfinished.ts");
  const trace = join(hidden, runFiles.trace);
  const raw = join(hidden, k6Folder, k6Files.raw);
  const { unfinishedK6Trace } = await import("../load/trace-from-k6.ts");
  return unfinishedTrace(existsSync(raw) ? unfinishedK6Trace(trace, raw) : traceBytes(trace, signal));
}

/** Returns the terms by which a run was judged; none for a trace alone, or an unfinished run. */
export async function keptTerms(trace: string): Promise<Pick<RunRecord, "expect" | "claims">> {
  if (trace === "-" || !existsSync(join(trace, runFiles.record))) return { expect: {} };
  const { readRecord } = await import("../report/run-folder.ts");
  return readRecord(trace);
}

/** Reads `overAdmission<1%`, as one word. */
export function overAdmission(written: string): Readonly<Record<string, string>> {
  const [, figure = "", bound = ""] = /^\s*(\w+)\s*([<=>].*)$/.exec(written) ?? [];
  const parsed = figure === "overAdmission" ? parseExpectation(figure, bound) : { path: "" };
  if (!("path" in parsed)) return { [figure]: bound };
  throw unusable("--expect", written, "'overAdmission<1%', with a share of your own");
}

/** Renders a verdict. The policy is that of its trace. */
type Render<Made> = (name: string, verdict: Verdict, policy?: Policy) => Promise<Made>;

const documents: Readonly<Record<string, Render<string>>> = {
  ".json": async (_, verdict) => `${JSON.stringify(verdict, null, 2)}\n`,
  ".html": async (name, verdict, policy) =>
    (await import("../report/page.ts")).renderVerdict(name, verdict, version, policy),
  ".md": async (name, verdict) =>
    (await import("../report/markdown.ts")).renderVerdictMarkdown(name, verdict),
  ".xml": async (name, verdict) => (await import("../report/junit.ts")).renderVerdictJunit(name, verdict),
};

/** Returns the function that writes a verdict in the form of a file's name. @throws SpillwayError `USAGE` */
export function writerOf(path: string): Render<void> {
  const render = documents[extname(path).toLowerCase()];
  if (render === undefined)
    throw unusable("--out", path, `a file ending in ${Object.keys(documents).join(", ")}`);
  return async (name, verdict, policy) => {
    const { writeWhole } = await import("../files/whole-file.ts");
    await writeWhole(path, await render(name, verdict, policy));
  };
}

const nameOf = (trace: string): string => (trace === "-" ? "standard input" : trace);

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const widest = Math.max(...lawNames.map((law) => law.length));

export function sayVerdict(trace: string, verdict: Verdict, terminal: Terminal): void {
  const color = { ok: pc.green, violated: pc.red, unknown: pc.yellow }[verdict.verdict];
  const { records, windows, laws, evidence, violations, accepted = [], inferred = [] } = verdict;
  const gaps = evidenceGaps(verdict);
  const little = gaps.length === 0 ? "" : `, on little evidence: ${gaps.join("; ")}`;
  terminal.say(
    `${color(pc.bold(verdict.verdict))} ${nameOf(trace)}: ${counted(records, "call")}, ${counted(windows, "window")}${little}`,
  );
  for (const words of [methodWords(verdict), amountWords(verdict), otherQuotaWords(verdict)])
    if (words !== "") terminal.say(`  ${words}`);
  for (const { expectation, explanation } of accepted)
    terminal.say(`  ${pc.yellow("accepted")} ${expectation}: ${explanation}`);
  const printed = violations.slice(0, printedMost);
  for (const violation of printed) sayViolation(violation, terminal);
  const more = violations.length - printed.length + leftOut(verdict);
  if (more > 0) terminal.say(`  and ${counted(more, "violation")} more: --out verdict.json, --json`);
  const entries = Object.entries(laws) as [LawName, LawVerdict][];
  const held = entries.filter(([, law]) => law === "held").map(([law]) => law);
  if (held.length > 0)
    terminal.say(`  ${pc.green("held")} ${held.join(", ")}${evidence === undefined ? "" : "; tested on"}`);
  if (evidence !== undefined)
    for (const law of held)
      terminal.say(`    ${law.padEnd(widest)}  ${pc.dim(evidenceWords(evidence[law]))}`);
  for (const [reason, skipped] of byReason(entries))
    terminal.say(`  ${pc.dim("skipped")} ${skipped.join(", ")}: ${reason}`);
  for (const one of notJudgedWords(verdict)) terminal.say(`  ${pc.dim("not judged")} ${one}`);
  for (const one of questionWords(verdict)) terminal.say(`  ${pc.yellow("asked")} ${one}`);
  for (const one of inferred) terminal.say(`  ${pc.cyan("inferred")} ${inferredWords(one)}`);
  if (verdict.verdict === "unknown") terminal.say("  Nothing in this trace could be judged.");
}

/** Groups the laws that were not judged by the reason. */
function byReason(laws: readonly [string, LawVerdict][]): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>();
  for (const [law, verdict] of laws) {
    if (typeof verdict !== "object") continue;
    const same = reasons.get(verdict.skipped);
    if (same === undefined) reasons.set(verdict.skipped, [law]);
    else same.push(law);
  }
  return reasons;
}

/** Returns `acme, ann, rest`, or for a policy's quota `core, ann`. */
function whoseWords(whose: Whose): string {
  if ("quota" in whose) return [whose.quota, ...Object.values(whose.key)].map(shortName).join(", ");
  const { org, user, scope } = whose;
  return `${user === null ? shortName(org) : `${shortName(org)}, ${shortName(user)}`}, ${scope}`;
}

function sayViolation(violation: Violation, terminal: Terminal): void {
  const { law, suspects, window, count, lines, explanation } = violation;
  const when = window === null ? "" : `, the window until ${instant(window.endsAt)}`;
  const times = count === 1 ? "" : `, ${counted(count, "time")}`;
  terminal.say(`  ${pc.red("violated")} ${pc.bold(law)} ${whoseWords(violation)}${when}${times}`);
  terminal.say(`    ${explanation}`);
  const guess = suspects.length === 0 ? "" : `; likely ${suspects.slice(0, 3).join(", ")}`;
  terminal.say(`    ${pc.dim(`${linesText(lines)}${guess}`)}`);
}

/** Returns `line 3` or `lines 3, 5`; names at most twelve lines. */
export function linesText(lines: readonly number[]): string {
  const shown = lines.length > 12 ? [...lines.slice(0, 12), "..."] : lines;
  return `${lines.length === 1 ? "line" : "lines"} ${shown.join(", ")}`;
}
