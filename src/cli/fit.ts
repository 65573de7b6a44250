// `spillway fit FILES...`: makes a scenario from a trace or from logs, and tests how well it predicts.

import { basename, extname, resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { BacktestResult, FitResult } from "../../sim/fit/backtest-result.ts";
import type { SimulationsDone } from "../../sim/fit/check.ts";
import type { FitCheck } from "../../sim/fit/check-result.ts";
import type { Fit } from "../../sim/fit/fit.ts";
import type { Recording } from "../../sim/fit/recording.ts";
import { requireFree } from "../files/read-file.ts";
import type { Policy } from "../policy/policy.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { shortName } from "../rules/printable.ts";
import type { Rules } from "../rules/rules.ts";
import { parseShare } from "../rules/share.ts";
import { count, counted } from "../rules/words.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import { asWindowOption, limitsOf } from "./as-window.ts";
import { pc } from "./colors.ts";
import { logOptions } from "./log-options.ts";
import { policyOfLogs } from "./log-policy.ts";
import { repeatCommand, requireWhole, rulesOption } from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, type Operand, option, type VerbOptions } from "./verb.ts";

const operands = [
  {
    name: "files",
    many: true,
    required: true,
    describe: "a trace, a run's folder, or logs: files, globs, or - for standard input",
  },
] as const satisfies readonly Operand[];

const options = {
  out: option.text("FILE", "write the scenario to FILE [default: standard output]", { alias: "o" }),
  name: option.text("NAME", "call the scenario NAME [default: the file's name]"),
  rules: rulesOption("use", "the trace's, or what headers showed"),
  "as-window": asWindowOption,
  check: option.flag(
    "simulate the scenario, and say which figures differ from the recording (--no-check: do not)",
    { default: true },
  ),
  strict: option.flag("exit 1 if the check finds a figure that differs by more than chance", {
    default: false,
  }),
  backtest: option.flag(
    "fit to the first part, predict the rest, and say how often the prediction holds (--no-backtest: do not) [default: if the rest is long enough]",
  ),
  seeds: option.number(
    "N",
    "simulate the backtest N times [default: 39, the fewest for exact 80% and 95% intervals]",
  ),
  share: option.text(
    "SHARE",
    "fit the backtest to the first SHARE of the time [default: 70%, less if the rest would be only a weekend]",
  ),
  report: option.text("FILE", "write the results of check and backtest to FILE, as Markdown"),
  force: option.flag("overwrite files that exist", { default: false }),
  ...logOptions,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "fit",
  summary: "make a scenario from a trace or from logs, and test what it predicts",
  operands,
  options,
  examples: {
    "$0 fit reports/ci-fleet-load -o fleet.ts": "make a scenario of a run's clients",
    "$0 fit 'access.log*' -o monday.ts --backtest": "make one from logs, and test its predictions",
    "$0 fit access.log --path '/v2/**' --traffic 2x -o double.ts":
      "make one of twice the callers of some paths",
    "$0 fit prod.trace.ndjson.gz --rules limits.json -o prod.ts": "use rules of your own",
  },
  handler: async (args) => {
    const { out, report, force } = args;
    if (report !== undefined && out !== undefined && resolve(report) === resolve(out))
      throw new SpillwayError("USAGE", "--out and --report need a file each", {
        problem: { path: "--report", got: quote(report), allowed: "another file than that of --out" },
      });
    for (const path of [out, report]) if (path !== undefined && !force) await requireFree(path);
    const share = shareOf(args.share);
    const seeds = seedsOf(args.seeds);
    const name = nameOf(args);
    const limits = await limitsOf({ asWindow: args["as-window"], rules: args.rules }, "fit LOG");
    const { rules } = limits;
    // If the scenario itself is printed, text for people goes to standard error, as under --json.
    const terminal = openTerminal(args.json || out === undefined);
    const fit = async (signal: AbortSignal): Promise<void> => {
      // A fit makes many times as much garbage as it holds. The heap therefore grows by a third between two
      // collections, not fourfold.
      setFlagsFromString("--heap-growing-percent=30");
      const recording = await recordingOf(args, limits, terminal, signal);
      const fitted = await fittedTo(recording, { ...args, name, rules }, terminal, signal);
      if (out !== undefined) await writeFile(out, fitted.source);
      const short =
        args.backtest === undefined
          ? (await import("../../sim/fit/backtest.ts")).tooShort(fitted.model, share)
          : null;
      const isTested = !signal.aborted && args.backtest !== false && short === null;
      const backtest = isTested
        ? await backtested(recording, { name, rules, seeds, share }, terminal, signal)
        : null;
      const result: FitResult = {
        ...fitted,
        backtest,
        ...(short === null ? {} : { backtestLeftOut: short }),
      };
      await sayFit(result, args, terminal);
      const { fitMarkdown } = await import("../../sim/fit/report.ts");
      if (report !== undefined) await writeFile(report, fitMarkdown(result));
      if (args.json) terminal.result(result);
      else if (out === undefined) terminal.document(fitted.source);
      if (args.strict && (result.check?.findings.length ?? 0) > 0) process.exitCode = 1;
      if (signal.aborted) process.exitCode = INTERRUPTED;
    };
    const said = `${pc.yellow("interrupted")} before the end of the recording: nothing was fitted`;
    await untilInterrupted(terminal, fit, said, true);
  },
});

async function writeFile(path: string, text: string): Promise<void> {
  const { writeWhole } = await import("../files/whole-file.ts");
  await writeWhole(path, text);
}

/** Returns the scenario's name: as given, or as its file is called. @throws SpillwayError `USAGE` */
export function nameOf({ name, out }: Pick<Args, "name" | "out">): string {
  if (name !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
    throw new SpillwayError("USAGE", "the name cannot be used", {
      problem: {
        path: "--name",
        got: quote(name),
        allowed: "letters, digits, dashes, underscores, at most 64",
      },
    });
  const stem = out === undefined ? "" : basename(out, extname(out));
  const slug = stem
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[-_]+/, "")
    .slice(0, 64);
  return name ?? (slug === "" ? "fitted" : slug);
}

export function shareOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const share = parseShare(text);
  if (share !== null && share > 0 && share < 1) return share;
  throw new SpillwayError("USAGE", "the share cannot be used", {
    problem: { path: "--share", got: quote(text), allowed: "a part of the time, such as 70% or 0.5" },
  });
}

export const seedsOf = (seeds: number | undefined): number | undefined =>
  seeds === undefined ? undefined : requireWhole("--seeds", seeds, 3, 10_000);

/** Reads a recording: clients and attempts of a single trace; users and instants of several files or other logs. */
async function recordingOf(
  args: Args,
  limits: { readonly rules?: Rules; readonly policy?: Policy },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Recording> {
  const { Recorder } = await import("../../sim/fit/recording.ts");
  const { openLogs } = await import("../runs/log-input.ts");
  const { trafficOf } = await import("../runs/log-flags.ts");
  const logs = await openLogs(
    args.files,
    args,
    {
      onProgress: terminal.progress,
      signal,
    },
    (files) => policyOfLogs(files, limits, { asWindow: args["as-window"], verb: "fit" }),
  );
  const sayNotes = (notes: readonly string[]): void => {
    for (const words of notes) if (words !== "") terminal.say(pc.yellow(words));
  };
  // The others are known once all rows are read.
  const knownNotes = logs.notes.length;
  sayNotes(logs.notes);
  const [file] = logs.files;
  const isTrace = logs.files.length === 1 && file?.sample.format === "trace";
  if (isTrace && logs.policy !== undefined && trafficOf(args) === 1) {
    const { openTrace } = await import("../trace/read.ts");
    const trace = await openTrace(file.open());
    if (trace.version === 2 && isSameCalls(trace.header.policy, logs.policy)) {
      const recorder = new Recorder(trace.header, logs.policy);
      for await (const { call } of trace.calls) recorder.addQuotas(call);
      return recorder.finish();
    }
    for await (const _ of trace.calls) break;
  }
  if (isTrace && logs.policy === undefined) {
    const { readTrace } = await import("../trace/read.ts");
    const { copiesOfCalls } = await import("../logs/traffic.ts");
    const { header, calls } = await readTrace(file.open());
    const recorder = new Recorder(header);
    const copies = copiesOfCalls(trafficOf(args));
    for await (const { call } of calls) for (const copy of copies(call)) recorder.add(copy);
    return recorder.finish();
  }
  const recorder = new Recorder(null, logs.policy);
  for await (const batch of logs.batches) recorder.addBatch(batch, logs.callers);
  if (logs.unread > 0)
    terminal.say(
      pc.yellow(
        `${count(logs.unread)} of ${counted(logs.read + logs.unread, "row")} could not be read, the first: ${logs.examples[0]?.why}`,
      ),
    );
  const { anonymousWords, unplacedWords } = await import("../logs/unplaced-words.ts");
  const apart = unplacedWords(
    logs.unplaced,
    logs.callers.map(({ organization }) => organization),
  );
  sayNotes([anonymousWords(logs.anonymous), apart, ...logs.notes.slice(knownNotes)]);
  return recorder.finish();
}

/** Tells whether calls by one policy are calls by the other: the other has all of its operations. */
export const isSameCalls = (one: Pick<Policy, "operations">, other: Pick<Policy, "operations">): boolean =>
  Object.keys(one.operations).every((name) => Object.hasOwn(other.operations, name));

/** Fits a scenario; skips the check if the user wants none or interrupts it. */
async function fittedTo(
  recording: Recording,
  { name, rules, check: isChecked }: { name: string; rules: Rules | undefined; check: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Omit<FitResult, "backtest">> {
  const { fitTo } = await import("../../sim/fit/fit.ts");
  const { fittedSource } = await import("../../sim/fit/source.ts");
  const fit = fitTo(recording, { name, rules });
  const check = isChecked ? await checked(fit, terminal, signal) : null;
  const { model } = fit;
  return { format: "spillway-fit", version: 1, model, check, source: fittedSource(model, check?.error) };
}

async function checked(fit: Fit, terminal: Terminal, signal: AbortSignal): Promise<FitCheck | null> {
  const { checkSteps } = await import("../../sim/fit/check.ts");
  return done(checkSteps(fit), "check", terminal, signal);
}

async function backtested(
  recording: Recording,
  options: { name: string; rules: Rules | undefined; seeds: number | undefined; share: number | undefined },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<BacktestResult | null> {
  const { backtestSteps } = await import("../../sim/fit/backtest.ts");
  return done(backtestSteps(recording, options), "backtest", terminal, signal);
}

/** Does all steps; returns `null` if interrupted. */
export async function done<Result>(
  steps: Generator<SimulationsDone, Result>,
  name: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result | null> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    terminal.progress(`${name}: ${count(value.done)} of ${counted(value.of, "simulation")}`);
    await setImmediate();
    if (signal.aborted) return null;
  }
}

/** Says what was found, what the check and the backtest say of it, and where it is. */
export async function sayFit(
  { model, check, backtest, backtestLeftOut }: FitResult,
  { out, rules, "as-window": asWindow }: Pick<Args, "out" | "rules" | "as-window">,
  terminal: Terminal,
): Promise<void> {
  const { foundText, populationText } = await import("../../sim/fit/report.ts");
  if (check !== null) {
    const { checkText } = await import("../../sim/fit/check-text.ts");
    const text = checkText(check);
    terminal.say(check.findings.length === 0 ? text : pc.yellow(text));
    if (check.why !== null) terminal.say(`  why: ${check.why}`);
  }
  terminal.say(`${pc.bold(shortName(model.name))}: ${foundText(model)}`);
  if (model.policy === undefined && model.rulesFrom === "defaults")
    terminal.say(`  ${pc.yellow("not told")} the rules: the defaults are taken; --policy names others`);
  for (const doubt of model.doubts) terminal.say(`  ${pc.yellow("not told")} ${doubt}`);
  for (const population of model.populations) {
    terminal.say(`  ${pc.bold(shortName(population.name))}: ${population.reasons.population}`);
    terminal.say(`    ${populationText(population)}`);
    terminal.say(`    ${pc.dim(population.reasons.onRefused)}`);
  }
  if (check !== null) await sayCheck(check, terminal);
  if (backtest !== null) await sayBacktest(backtest, terminal);
  if (backtestLeftOut !== undefined)
    terminal.say(`no backtest: ${backtestLeftOut}; --backtest makes one all the same`);
  if (out === undefined) return;
  terminal.say(`wrote ${out}`);
  const { policy } = model;
  const isPreset =
    policy !== undefined && Object.hasOwn((await import("../policy/presets.ts")).presets, policy.name);
  const named = policy === undefined ? undefined : (rules ?? (isPreset ? policy.name : "FILE"));
  const limits = { policy: named, "as-window": asWindow };
  const where = named === "FILE" ? `, with the policy ${policy?.name} of the trace in FILE` : "";
  terminal.say(`next: ${repeatCommand("simulate", [out], limits)}${where}`);
  const clients = closedClients(model);
  if (clients === 0) return;
  const asked = { vary: `fleet=${Math.ceil(clients / 2)}..${2 * clients}`, until: "refusedShare<1%" };
  terminal.say(`  or: ${repeatCommand("plan", [out], { ...asked, ...limits })}`);
}

/** Returns the number of clients that are there for the whole of a fitted scenario. */
const closedClients = ({ populations }: FitResult["model"]): number =>
  populations.reduce((sum, { arrivals }) => sum + (arrivals.kind === "closed" ? arrivals.clients : 0), 0);

async function sayCheck(check: FitCheck, terminal: Terminal): Promise<void> {
  const { checkTable } = await import("../../sim/fit/check-text.ts");
  const [head = "", ...rows] = checkTable(check);
  terminal.say(pc.dim(head), ...rows.map((row) => (row.endsWith("!") ? pc.yellow(row) : row)));
}

async function sayBacktest(backtest: BacktestResult, terminal: Terminal): Promise<void> {
  const { classText, percent, predictedText } = await import("../../sim/fit/backtest-coverage.ts");
  const { share, predicted, windowsSeen, seeds, levels, coverage, findings } = backtest;
  terminal.say(
    `backtest: fitted to the first ${percent(share)}, held to ${counted(windowsSeen, "window")} of ${predictedText[predicted]}, ${counted(seeds, "simulation")}`,
  );
  for (const { figure, class: name, windows, insideNarrow, insideWide } of coverage) {
    if (name === "all") continue;
    const parts = `${percent(insideNarrow / windows)} inside the ${percent(levels.narrow)} interval, ${percent(insideWide / windows)} inside the ${percent(levels.wide)} one`;
    terminal.say(`  ${figure}, ${classText[name]} (${count(windows)}): ${parts}`);
  }
  for (const finding of findings) terminal.say(`  ${pc.yellow(finding)}`);
}
