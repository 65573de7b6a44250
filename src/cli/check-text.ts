// A check's findings as the terminal shows them: one line for each law, then the counterexamples.

import type { RunEvidence } from "../laws/evidence.ts";
import { unmetText } from "../laws/known.ts";
import type { InterleavingReport } from "../laws/overlaps.ts";
import type { LawReport } from "../laws/report.ts";
import type { QuotasKind } from "../laws/sight.ts";
import { evidenceGaps, evidenceWords } from "../report/verdict-words.ts";
import { quote } from "../rules/errors.ts";
import { limiterLawNames } from "../rules/laws.ts";
import { counted } from "../rules/words.ts";
import type { AnyCheckReport, AnyInterleavingReport, AnyLawReport } from "../runs/check-job.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

/** Options of the command that the text depends on. */
interface CheckWords {
  readonly rules?: string | undefined;
  readonly path?: string | undefined;
  readonly adapter?: string | undefined;
  readonly interleavings?: boolean | undefined;
  /** True if the limits are a policy's. */
  readonly byPolicy?: boolean;
}

const widest = Math.max(...limiterLawNames.map((law) => law.length));

export async function describeCheck(
  report: AnyCheckReport,
  seconds: number,
  args: CheckWords,
  terminal: Terminal,
): Promise<void> {
  const render = await rendererOf(args);
  const { limiter, runs, seed, laws } = report;
  const under =
    args.rules === undefined
      ? "rules of all kinds"
      : `the ${args.byPolicy === true ? "policy" : "rules"} ${args.rules}`;
  const how = args.path === undefined ? `${counted(runs, "run")} a law` : `path ${args.path}`;
  const gaps = evidenceGaps({ verdict: report.ok ? "ok" : "unknown", evidence: evidenceBy(laws) });
  const little = gaps.length === 0 ? "" : `, on little evidence: ${gaps.join("; ")}`;
  terminal.say(`${pc.bold(limiter)} under ${under}, seed ${seed}, ${how}${little}`);
  for (const law of laws) {
    terminal.say(`  ${law.law.padEnd(widest)}  ${outcomeText(law)}`);
    for (const note of switchNotes(law, args.rules !== undefined))
      terminal.say(`  ${" ".repeat(widest)}  ${pc.dim(note)}`);
  }
  const violated = laws
    .filter(({ outcome }) => outcome === "violated")
    .toSorted((one, other) => lengthOf(one) - lengthOf(other));
  const failed = laws.find(({ outcome }) => outcome === "failed");
  const unrepeated = laws.filter(({ outcome }) => outcome === "not-repeatable");
  for (const law of [...violated, ...unrepeated.slice(0, 1), ...(failed === undefined ? [] : [failed])])
    terminal.say("", ...render(law));
  if (violated.some(isOfManyKinds) && args.adapter !== undefined && args.rules === undefined)
    terminal.say("", advice);
  const total = laws.reduce((sum, law) => sum + law.runs, 0);
  const tried = laws.filter((law) => law.runs > 0);
  const silent = tried.filter(({ outcome }) => outcome === "not-observed").length;
  const alone = args.interleavings === true ? " by one call after the other" : "";
  const found =
    violated.length > 0
      ? pc.red(`${counted(violated.length, "law")} violated`)
      : failed !== undefined
        ? pc.red(failedWords(failed))
        : unrepeated.length > 0
          ? pc.yellow(`no law violated, and ${unrepeated.length} not judged, as answers do not repeat`)
          : !report.ok
            ? pc.yellow(`nothing was judged${alone}`)
            : pc.green(`no law violated${alone}`);
  const notes = knownNotes(report);
  if (notes.length > 0) terminal.say("");
  for (const note of notes) terminal.say(`${pc.cyan("note")} ${note}`);
  const cut = report.interrupted ? `, ${pc.yellow("interrupted")}` : "";
  terminal.say(
    "",
    `${found}${cut}: ${counted(tried.length - silent, "law")}${silent === 0 ? "" : ` and ${silent} that judged nothing`}, ${counted(total, "run")}, ${seconds.toFixed(1)} s`,
  );
}

/**
 * Says which known counterexamples are another limiter's, the notes of those that still break their law, and which were
 * not met though their law was checked.
 */
function knownNotes({ limiter, laws, known }: AnyCheckReport): string[] {
  const done = laws.filter(({ outcome }) => outcome !== "not-run" && outcome !== "interrupted");
  const unmet = known.filter(
    ({ law, state }) => state === "mended" || (state === "unseen" && done.some((one) => one.law === law)),
  );
  const others = new Set(known.flatMap((one) => (one.limiter === undefined ? [] : [quote(one.limiter)])));
  return [
    ...[...others].map(
      (other) => `known counterexamples were found in ${other}: this limiter is ${quote(limiter)}`,
    ),
    ...known.flatMap(({ law, state, note }) =>
      state === "broken" && note !== undefined ? [`a known counterexample still breaks ${law}: ${note}`] : [],
    ),
    ...unmet.map(unmetText),
  ];
}

/** Returns the number of operations of a counterexample: the shortest one names a bug best. */
const lengthOf = ({ counterexample }: AnyLawReport): number => counterexample?.history.length ?? 0;

const failedWords = ({ failure }: AnyLawReport): string =>
  failure?.hung ? `the limiter did not answer call ${failure.script.ops.length}` : "the limiter failed";

/** Returns the function that draws a law's counterexample. */
export async function rendererOf({ byPolicy = false }: CheckWords): Promise<(law: AnyLawReport) => string[]> {
  if (!byPolicy) {
    const { renderCounterexample } = await import("../laws/timeline.ts");
    return (law) => renderCounterexample(law as LawReport);
  }
  const { renderQuotaCounterexample } = await import("../laws/quotas/timeline.ts");
  return (law) => renderQuotaCounterexample(law as LawReport<QuotasKind>);
}

/** Returns the evidence for each law; `undefined` if none was counted. */
function evidenceBy(laws: readonly AnyLawReport[]): Record<string, RunEvidence> | undefined {
  const counts = laws.flatMap(({ law, evidence }) => (evidence === undefined ? [] : [[law, evidence]]));
  return counts.length === 0 ? undefined : Object.fromEntries(counts);
}

/** Says the findings on overlapping calls. */
export async function describeInterleavings(
  report: AnyInterleavingReport,
  byPolicy: boolean,
  terminal: Terminal,
): Promise<void> {
  const { outcome, runs, overlapped } = report;
  const text = {
    "no-counterexample":
      overlapped === 0
        ? pc.dim(`none in ${counted(runs, "run")}: the limiter decides each call at once`)
        : `${pc.green("no counterexample")} in ${counted(runs, "run")}, ${counted(overlapped, "overlap")} explained`,
    "not-repeatable": `${pc.yellow("not repeatable")} in run ${runs}: the same calls are answered otherwise when played again`,
    violated: `${pc.red("violated")} in run ${runs}: some calls are explained by no order`,
    failed: `${pc.red("failed")} in run ${runs}: the limiter, not a law`,
    "not-claimed": pc.dim("no law is claimed by which orders are told apart"),
    interrupted: `${pc.yellow("interrupted")} after ${counted(runs, "run")}`,
  }[outcome];
  terminal.say(`overlapping calls: ${text}`);
  const lines = byPolicy
    ? (await import("../laws/quotas/timeline.ts")).renderQuotaInterleaving(
        report as InterleavingReport<QuotasKind>,
      )
    : (await import("../laws/timeline.ts")).renderInterleaving(report as InterleavingReport);
  if (lines.length > 0) terminal.say("", ...lines);
}

/** Tells whether a limiter has several kinds of calls. A limiter by key says its only kind itself. */
const isOfManyKinds = ({ counterexample }: AnyLawReport): boolean =>
  (counterexample?.script as { readonly keyed?: boolean } | undefined)?.keyed !== true;

const advice = `${pc.cyan("note")} Rules of all kinds were drawn. If your limiter follows one kind alone, name it: --rules FILE, or \`semantics\` of the factory, as in { anchor: ["epoch"] }.`;

function outcomeText({
  outcome,
  runs,
  judged,
  known,
  plays,
  reason,
  evidence,
  failure,
}: AnyLawReport): string {
  const answers = counted(judged, "answer");
  const rests = evidence === undefined ? "" : pc.dim(`: ${evidenceWords(evidence)}`);
  switch (outcome) {
    case "no-counterexample":
      return `${pc.green("no counterexample")} in ${counted(runs, "run")}, ${answers} judged${rests}`;
    case "violated":
      return `${pc.red("violated")} in run ${runs}${known > 0 ? `, beside known counterexamples: ${known}` : ""}`;
    case "not-repeatable":
      return `${pc.yellow("not repeatable")} in run ${runs}: broken in ${plays?.broken} of ${counted(plays?.all ?? 0, "play")} of the same calls, so not judged`;
    case "known":
      return `${pc.yellow(`known: ${known}`)}, and no other counterexample in ${counted(runs, "run")}`;
    case "failed":
      return `${pc.red("failed")} in run ${runs}: ${failure?.hung ? "the limiter gave no answer" : "the limiter, not the law"}`;
    case "skipped":
      return `${pc.yellow("skipped")}: ${reason ?? "void under these rules"}`;
    case "not-claimed":
      return pc.dim("not claimed by this limiter");
    case "not-observed":
      return `${pc.yellow("not observed")}: nothing in ${counted(runs, "run")} that it could judge`;
    case "interrupted":
      return `${pc.yellow("interrupted")} after ${counted(runs, "run")}, ${answers} judged`;
    case "not-run":
      return pc.dim("not run");
  }
}

/** Returns the effect of switches on a law: why it was void and, under given rules, the form in which it stood. */
function switchNotes({ voidRuns, changedRuns }: AnyLawReport, given: boolean): string[] {
  const times = (count: number): string => (given ? "" : `, ${counted(count, "time")}`);
  const voids = Object.entries(voidRuns).map(([why, count]) => `void for ${why}${times(count)}`);
  const forms = given ? Object.keys(changedRuns).map((form) => `as ${form}`) : [];
  return [...voids, ...forms];
}
