// `spillway check`: looks for a counterexample to each law.
import { randomInt } from "node:crypto";
import { gotAt } from "../engine/limiter-failure.ts";
import type { ChosenFault } from "../faults/choice.ts";
import type { CheckOptions } from "../laws/check-options.ts";
import { hasJudged, isFine } from "../laws/report.ts";
import type { Policy } from "../policy/policy.ts";
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { type LimiterLawName, limiterLawNames } from "../rules/laws.ts";
import type { AnyCheckReport, AnyInterleavingReport, AnyLawReport, CheckTask } from "../runs/check-job.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import { resultOf } from "../runs/job-events.ts";
import type { JobThread } from "../runs/job-thread.ts";
import { shellCommand } from "../runs/run-place.ts";
import { asWindowOption, enforceable } from "./as-window.ts";
import { sayCheckProgress, sayOverlapProgress, showCheckProgress } from "./check-progress.ts";
import { targetOptions } from "./check-target-options.ts";
import { describeCheck } from "./check-text.ts";
import { chooseFault, faultOption, faultWords } from "./fault-list.ts";
import { readKnown, readWrittenLimits } from "./files.ts";
import {
  codeNote,
  importMsOf,
  importTimeout,
  requireWhole,
  rulesOption,
  unusable,
  whichVerb,
} from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, option, program, type VerbOptions } from "./verb.ts";

const clockNote =
  "While your limiter's code runs, Date.now, performance.now and timers follow the script's clock: it needs no fake timers. A clock that it reads elsewhere is set by its setNow.";

const options = {
  adapter: option.text(
    "FILE",
    "check the limiter that the .ts or .js module FILE exports [default: spillway's engine]",
    { conflicts: "target" },
  ),
  rules: rulesOption("use", "rules of all kinds, drawn"),
  "as-window": asWindowOption,
  law: option.text("NAME", "check the law NAME alone", { array: true }),
  runs: option.number("N", "run each law N times [default: 100]"),
  seed: option.number("N", "repeat the check that printed seed N"),
  path: option.text("PATH", "go straight to the counterexample at PATH, with its --law and --seed"),
  known: option.text(
    "FILE",
    "pass over the counterexamples in FILE, which check --json printed, and look for others",
    { conflicts: "path" },
  ),
  interleavings: option.flag("check calls that overlap, too, for a limiter whose store is asynchronous", {
    conflicts: ["target", "path"],
  }),
  "clock-moves": option.flag(
    "with --interleavings, let time pass inside a call, for a limiter that takes the seam",
    { conflicts: ["target", "path"] },
  ),
  "import-timeout": importTimeout,
  fault: { ...faultOption, conflicts: ["adapter", "target"] },
  ...targetOptions,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options>;

export const verb = defineVerb({
  name: "check",
  summary: "look for a counterexample to each law of a rate limiter",
  notes: [codeNote, clockNote, whichVerb],
  options,
  examples: {
    "$0 check --adapter my-limiter.ts": "check a limiter of your own by what it says of itself",
    "$0 check": "check every law of the engine, under all kinds of rules",
    "$0 check --runs 10000 --law conserved --law isolated": "check two laws more thoroughly",
    "$0 check --adapter my-limiter.ts --interleavings": "check calls that overlap, too",
    "$0 check --adapter my-limiter.ts --interleavings --clock-moves":
      "find a key that ends between two commands of a call",
    "$0 check --law conserved --seed 7 --path 3:1": "show a counterexample once more",
    "$0 check --target http://127.0.0.1:4100 --tokens tokens.json": "check a live deployment in real time",
    "$0 check --fault one-extra": "see which laws find a known bug",
    "$0 check --policy github --fault one-extra": "see the same under another API's limits",
    "$0 check --policy my-api.json --adapter my-limiter.ts": "check a limiter of your own by a policy",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    requireOwners(args);
    const limits = await limitsOf(args);
    const { policy } = limits;
    await untilInterrupted(terminal, async (signal) => {
      const options = await optionsOf(args, limits);
      if (args.target === undefined)
        return await checkModule(args, fault, { options, policy }, terminal, signal);
      const live = { ...options, signal, onProgress: showCheckProgress(terminal), timers: globalThis };
      const { checkAhead, checkRealTime } = await import("./check-target.ts");
      if (args.clockHeader === undefined) return await checkRealTime(args, live, terminal, signal);
      const startedMs = Date.now();
      const report = await checkAhead(args, live, terminal, signal);
      const seconds = secondsFrom(startedMs);
      await describeCheck(report, seconds, args, terminal);
      terminal.result({ ...report, seconds });
      requireAnswers(report);
      process.exitCode = exitOf(report);
    });
  },
});

/** Refuses options that lack the option that they belong to: those of a deployment, and `--clock-moves`. */
export function requireOwners(args: Args): void {
  const given = args as unknown as Readonly<Record<string, unknown>>;
  const [name] = Object.keys(targetOptions).filter((each) => given[each] !== undefined);
  if (args.target === undefined && name !== undefined)
    throw new SpillwayError("USAGE", `--${name} needs --target URL`);
  if (args.clockMoves === true && args.interleavings !== true)
    throw new SpillwayError("USAGE", "--clock-moves needs --interleavings");
}

interface Limits extends Pick<CheckOptions, "rules"> {
  readonly policy?: Policy;
}

/** Reads the limits to check: a policy, or rules, for a user's limiter as they were written. */
export async function limitsOf(args: Args): Promise<Limits> {
  if (args.rules === undefined) return {};
  const limits = await readWrittenLimits(args.rules);
  if ("rules" in limits) return { rules: args.adapter === undefined ? limits.rules : limits.written };
  if (args.target === undefined) return { policy: enforceable(limits.policy, args, "check") };
  throw new SpillwayError("USAGE", "--target goes with rules: a deployment is held to a policy by audit", {
    problem: { path: "--policy", got: quote(args.rules), allowed: "a file of rules, default or documented" },
    hint: `${program} audit --target ${args.target} --policy ${shellCommand([args.rules])}`,
  });
}

/** Report of calls one after the other, and of overlapping calls if they were checked, too. */
type WholeReport = AnyCheckReport & { readonly interleavings?: AnyInterleavingReport };

/** Joins two reports: the whole is `ok` if no law is broken and one judged something, and interrupted if one is. */
export const wholeOf = (report: AnyCheckReport, overlapped: AnyInterleavingReport | null): WholeReport =>
  overlapped === null
    ? report
    : {
        ...report,
        ok: (report.ok || (report.laws.every(isFine) && overlapped.overlapped > 0)) && overlapped.ok,
        interrupted: report.interrupted || overlapped.outcome === "interrupted",
        interleavings: overlapped,
      };

/** Returns the exit status: 0 held, 1 violated, 2 findings that do not repeat or nothing judged, 130 interrupted. */
export function exitOf({ ok, laws, interrupted, interleavings }: WholeReport): number {
  const reports = [...laws, ...(interleavings === undefined ? [] : [interleavings])];
  if (interrupted && reports.every(isFine)) return INTERRUPTED;
  if (ok) return 0;
  return reports.some(({ outcome }) => outcome === "violated" || outcome === "failed") ? 1 : 2;
}

/** Checks a user's limiter, one with a fault, or our engine, in a thread of its own. */
async function checkModule(
  args: Args,
  fault: ChosenFault | null,
  { options, policy }: Pick<CheckTask, "options" | "policy">,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const words = { ...args, byPolicy: policy !== undefined };
  if (fault !== null) await faultWords(fault, "check");
  const { startJobs } = await import("../runs/job-thread.ts");
  const threads = await startJobs(
    { adapter: args.adapter, byPolicy: words.byPolicy },
    { importMs: importMsOf(args), signal },
  );
  try {
    const task = { options, policy, fault: args.fault, clockMoves: args.clockMoves };
    const startedMs = Date.now();
    if (args.adapter !== undefined) terminal.progress(`${args.adapter} has not answered yet; Ctrl-C ends it`);
    const done: AnyLawReport[] = [];
    const report = await resultOf(threads.thread.run("check", task), (event) => {
      if ("outcome" in event) done.push(event);
      else sayCheckProgress(event, terminal);
    }).catch(async (error: unknown) => {
      // The user's code was stopped by force: say what was found before.
      if (signal.aborted && done.length > 0)
        await describeCheck(
          partOf(threads.limiter ?? "", options, done),
          secondsFrom(startedMs),
          words,
          terminal,
        );
      throw error;
    });
    const seconds = secondsFrom(startedMs);
    await describeCheck(report, seconds, words, terminal);
    const overlapped = args.interleavings ? await checkOverlaps(threads.thread, task, terminal) : null;
    const whole = wholeOf(report, overlapped);
    terminal.result({ ...whole, seconds });
    requireAnswers(report);
    process.exitCode = exitOf(whole);
  } finally {
    await threads.close();
  }
}

const secondsFrom = (startedMs: number): number => (Date.now() - startedMs) / 1000;

/** Returns a report of the laws that are done. */
export function partOf(
  limiter: string,
  { seed = 0, runs = 0 }: CheckOptions,
  laws: readonly AnyLawReport[],
): AnyCheckReport {
  const ok = laws.every(isFine) && hasJudged(laws);
  return { limiter, seed, runs, laws, known: [], interrupted: true, ok } as AnyCheckReport;
}

/** Checks overlapping calls. The other laws look at calls one after the other. */
export async function checkOverlaps(
  thread: Pick<JobThread, "run">,
  task: CheckTask,
  terminal: Terminal,
): Promise<AnyInterleavingReport> {
  const { describeInterleavings } = await import("./check-text.ts");
  const report = await resultOf(thread.run("interleavings", task), (event) =>
    sayOverlapProgress(event, terminal),
  );
  const { runs, seed, repeatWith: more = [] } = task.options;
  const switches = ["--interleavings", ...(task.clockMoves ? ["--clock-moves"] : [])];
  const repeat = ["npx spillway check", ...switches, `--runs ${runs}`, `--seed ${seed}`, ...more].join(" ");
  const told = report.ok ? report : { ...report, repeat };
  await describeInterleavings(told, task.policy !== undefined, terminal);
  return told;
}

/**
 * @throws SpillwayError `ADAPTER_SILENT` with the number of the call that got no answer in time; else `ADAPTER_INVALID`
 *   naming each call at which the limiter failed
 */
export function requireAnswers({ limiter, laws }: AnyCheckReport): void {
  const failed = laws.flatMap(({ failure, repeat }) => (failure === undefined ? [] : [{ failure, repeat }]));
  if (failed.length === 0) return;
  const problems = failed.map(({ failure: { call, got, allowed, at } }) => ({
    ...{ path: call, got: gotAt(got, at), allowed },
  }));
  const distinct = new Map(problems.map((problem) => [`${problem.got} ${problem.allowed}`, problem]));
  const hung = failed.find(({ failure }) => failure.hung);
  const words =
    hung === undefined
      ? "cannot be checked by every law"
      : `did not answer call ${hung.failure.script.ops.length}`;
  const clock =
    hung === undefined
      ? ""
      : "within a call the script's clock stands still, so no timer over 1 ms fires: where the limiter makes a caller wait, let the adapter refuse; where a store is slow or takes calls in batches, let it wait by setImmediate; ";
  throw new SpillwayError(
    hung === undefined ? "ADAPTER_INVALID" : "ADAPTER_SILENT",
    `the limiter ${quote(limiter)} ${words}`,
    { problems: [...distinct.values()], hint: `${clock}${(hung ?? failed[0])?.repeat} repeats it` },
  );
}

/** Greatest number of runs. A path begins with one of them: the scripts before it are drawn, too. */
const runsMost = 10_000_000;

const isPath = (path: string): boolean =>
  path.split(":").every((step) => /^\d+$/.test(step) && Number(step) < runsMost);

/** Reads the options of a check. @throws SpillwayError `USAGE`, those of files */
export async function optionsOf(args: Args, { rules, policy }: Limits): Promise<CheckOptions> {
  const { runs, seed, law, path, known } = args;
  const laws = law === undefined ? undefined : law.map(lawNamed);
  if (path !== undefined && !isPath(path))
    throw unusable("--path", path, `as check prints it: 3:1:0, each number below ${runsMost}`);
  if (path !== undefined && (seed === undefined || laws?.length !== 1))
    throw new SpillwayError("USAGE", "--path needs --seed and the one --law that it was found with");
  return {
    runs: requireWhole("--runs", runs ?? 100, 1, runsMost),
    seed: requireWhole("--seed", seed ?? randomInt(0x7fff_ffff), -0x8000_0000, 0x7fff_ffff),
    ...(laws === undefined ? {} : { laws }),
    ...(path === undefined ? {} : { path }),
    ...(known === undefined ? {} : { known: await readKnown(known) }),
    ...(rules === undefined ? {} : { rules }),
    repeatWith: repeatWith(args, policy),
  };
}

function lawNamed(name: string): LimiterLawName {
  const law = limiterLawNames.find((known) => known === name);
  if (law !== undefined) return law;
  const meant = closest(name, limiterLawNames);
  throw unusable(
    "--law",
    name,
    limiterLawNames.join(", "),
    meant === null ? undefined : `did you mean ${meant}?`,
  );
}

const repeatWith = ({ rules, asWindow, adapter, fault, ...args }: Args, policy?: Policy): string[] => [
  ...(fault === undefined ? [] : [shellCommand(["--fault", fault])]),
  ...(rules === undefined ? [] : [shellCommand([policy === undefined ? "--rules" : "--policy", rules])]),
  ...(asWindow === true ? ["--as-window"] : []),
  ...(adapter === undefined ? [] : [shellCommand(["--adapter", adapter])]),
  ...Object.entries({
    target: args.target,
    "allow-host": args.allowHost,
    tokens: args.tokens,
    ca: args.ca,
    cert: args.cert,
    key: args.key,
    "clock-header": args.clockHeader,
  }).flatMap(([option, value]) => (value === undefined ? [] : [shellCommand([`--${option}`, value])])),
];
