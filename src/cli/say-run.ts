// Words of a finished run on the terminal, whatever drove it: refusals and whom they hit, the waits, missed calls, the
// verdict, and the folder of it all.

import type { Measurement } from "../../sim/measure.ts";
import type { LoadResult } from "../load/load.ts";
import { isTooSlow } from "../load/node/lateness.ts";
import { figureText } from "../report/format.ts";
import { runFiles } from "../report/run.ts";
import { figureOf, latenessWords, ownerWords, refusalWords, verdictWords } from "../report/source.ts";
import { sparkline } from "../report/sparkline.ts";
import { questionWords } from "../report/verdict-words.ts";
import { displayWidth, padAfter } from "../rules/columns.ts";
import { duration } from "../rules/duration.ts";
import { shortName } from "../rules/printable.ts";
import { count, counted } from "../rules/words.ts";
import type { KeptRun } from "../runs/keep-run.ts";
import type { LoadedRun } from "../runs/load-into.ts";
import type { SimulatedRun } from "../runs/simulate-into.ts";
import type { ExpectationResult, Summary } from "../summary/summary.ts";
import type { Verdict } from "../verify/verdict.ts";
import { pc } from "./colors.ts";
import type { Terminal } from "./terminal.ts";

type Measured = Pick<Summary, "figures" | "populations">;

interface SaidRun {
  readonly run: KeptRun;
  /** First line, after the scenario's name. */
  readonly headline: string;
  /** Lateness that the load generator measured of itself. */
  readonly measured?: readonly string[];
  /** Facts that the reader must know about this run. */
  readonly notes: readonly string[];
  readonly interrupted: boolean;
}

/** Returns `k6 1.8.1` or `Node 24.1.0`. */
const driverText = (load: LoadResult): string =>
  load.driver === "k6" ? `k6 ${load.k6.version}` : `Node ${process.versions.node}`;

const wasTooSlow = (load: LoadResult): boolean => load.driver === "node" && isTooSlow(load.lateness);

/** Says a real run. */
export function sayLoad(terminal: Terminal, run: LoadedRun): void {
  const { notes, load } = run;
  const { interrupted, header } = load;
  const spent = duration(run.summary.endedAt - run.summary.startedAt);
  const calls = counted(run.summary.figures.calls, "call");
  const driven = `${calls} to ${header.target} in ${spent}, by ${driverText(load)}, seed ${header.seed}`;
  const headline = wasTooSlow(load) ? `${driven}; ${pc.yellow("the generator was too slow")}` : driven;
  const measured = load.driver === "node" ? [`Calls left late: ${latenessWords(load.lateness)}.`] : [];
  sayRun(terminal, { run, headline, measured, notes, interrupted });
}

const headlineOf = ({ calls }: Measured["figures"], ms: number, seed: number): string =>
  `${counted(calls, "call")} in ${duration(ms)} of virtual time, seed ${seed}`;

/** Says a run in virtual time. */
export function saySimulation(
  terminal: Terminal,
  run: SimulatedRun,
  seed: number,
  notes: readonly string[],
): void {
  const { summary, interrupted } = run;
  const headline = headlineOf(summary.figures, summary.endedAt - summary.startedAt, seed);
  sayRun(terminal, { run, headline, notes, interrupted });
}

/** Figures of a run that left no trace, and whether they meet the expectations. */
export interface MeasuredRun {
  readonly name: string;
  readonly seed: number;
  readonly durationMs: number;
  readonly measured: Measured & Pick<Measurement, "refusedBy">;
  readonly expectations: readonly ExpectationResult[];
  readonly notes: readonly string[];
  readonly interrupted: boolean;
}

/** Says a run in virtual time by its figures alone. */
export function sayMeasured(
  terminal: Terminal,
  { name, seed, durationMs, measured, expectations, notes, interrupted }: MeasuredRun,
): void {
  terminal.say(`${pc.bold(shortName(name))}: ${headlineOf(measured.figures, durationMs, seed)}`);
  const lines = [
    ...notes.map((note) => `${pc.dim("note")} ${note}`),
    ...refusalLines(measured),
    ...quotaLines(measured),
    waitLine(measured),
    ...expectationLines(expectations),
    ...(interrupted ? [`${pc.yellow("Interrupted")}: these are the figures until then.`] : []),
    "No trace was kept, so no law was judged.",
  ];
  for (const line of lines) terminal.say(`  ${line}`);
}

function sayRun(terminal: Terminal, { run, headline, measured = [], notes, interrupted }: SaidRun): void {
  const { folder, summary, verdict, expectations } = run;
  const lines = [
    ...notes.map((note) => `${pc.dim("note")} ${note}`),
    ...windowLines(run),
    ...refusalLines(summary),
    waitLine(summary),
    ...measured,
    ...expectationLines(expectations),
    verdictLine(verdict),
    ...questionWords(verdict).map((one) => `${pc.yellow("asked")} ${one}`),
    ...(interrupted ? [`${pc.yellow("Interrupted")}: what was done is kept.`] : []),
    `${folder}/${runFiles.html}`,
  ];
  terminal.say(`${pc.bold(shortName(summary.scenario ?? "a run"))}: ${headline}`);
  for (const line of lines) terminal.say(`  ${line}`);
}

const windowsDrawn = 6;
const sparkWidth = 48;

/** Returns a line for each window worth drawing: its counts over time, its highest count, its refusals. */
function windowLines({ series: { windows, lengthMs } }: KeptRun): string[] {
  const drawn = windows.slice(0, windowsDrawn);
  const widest = Math.max(0, ...drawn.map((one) => displayWidth(ownerWords(one))));
  return drawn.map((one) => {
    const limit = Math.max(1, ...one.limits.map(([, value]) => value));
    const highest = Math.max(0, ...one.counts.map(([, value]) => value));
    const refused = one.windows.reduce((sum, window) => sum + window.refused, 0);
    const said = refused === 0 ? "" : `, ${pc.red(`${count(refused)} refused`)}`;
    const spark = sparkline(one.counts, lengthMs, limit, sparkWidth);
    return `${padAfter(ownerWords(one), widest)} ${pc.cyan(spark)} ${count(highest)} of ${count(limit)}${said}`;
  });
}

function refusalLines(summary: Measured): string[] {
  const hit = summary.populations.filter(({ figures }) => figures.refused > 0);
  const lines = hit
    .toSorted((a, b) => b.figures.refused - a.figures.refused)
    .map(({ name, figures }) => {
      const lost = figures.gaveUp;
      const rest = lost > 0 ? `, ${counted(lost, "job")} never got through` : "";
      return `  ${shortName(name)}: ${figureText("refusedShare", figures.refusedShare)} of its calls${rest}`;
    });
  return [refusalWords(summary), ...lines];
}

function quotaLines({ refusedBy = {} }: Pick<Measurement, "refusedBy">): string[] {
  return Object.entries(refusedBy)
    .filter(([, refused]) => refused > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([quota, refused]) => `  by ${shortName(quota)}: ${count(refused)}`);
}

function waitLine({ figures }: Measured): string {
  const [half, most, worst] = (["waitP50Ms", "waitP95Ms", "waitMaxMs"] as const).map((name) =>
    figureText(name, figures[name]),
  );
  return `Waits from wanting to having: half ${half}, 95% ${most}, the worst ${worst}.`;
}

function expectationLines(expectations: readonly ExpectationResult[]): string[] {
  if (expectations.length === 0) return [];
  const missed = expectations.filter(({ held }) => !held);
  const met = expectations.length - missed.length;
  return [
    ...missed.map(({ figure, bound, actual }) => {
      const was = figureText(figureOf(figure), actual);
      const found = actual === null ? "nothing of it was seen" : `it was ${was}`;
      return `${pc.red("missed")} ${figure} ${bound}: ${found}`;
    }),
    `${count(met)} of ${counted(expectations.length, "expectation")} met.`,
  ];
}

function verdictLine(verdict: Verdict): string {
  const color = { violated: pc.red, ok: pc.green, unknown: pc.yellow }[verdict.verdict];
  const held = Object.values(verdict.laws).filter((law) => law === "held").length;
  const judged = `${counted(held, "law")} held over ${counted(verdict.records, "line")} and ${counted(verdict.windows, "window")}`;
  const words = verdictWords(verdict);
  return `${color(words)}${words.includes(":") ? "." : ":"} ${judged}.`;
}
