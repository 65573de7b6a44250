// `spillway check`: looks for a counterexample to each law.
import { randomInt } from "node:crypto";
import pc from "picocolors";
import type { CommandModule } from "yargs";
import type { LimiterFactory } from "../engine/adapter.ts";
import type { ChosenFault } from "../faults/choice.ts";
import type { CheckOptions } from "../laws/check.ts";
import type { CheckReport, LawReport } from "../laws/report.ts";
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { type LawName, lawNames } from "../rules/laws.ts";
import { showCheckProgress } from "./check-progress.ts";
import { chooseFault, faultOption, faultWords } from "./fault-list.ts";
import { readRules } from "./files.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { shellCommand } from "./run-place.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

interface Args {
  readonly runs?: number | undefined;
  readonly seed?: number | undefined;
  readonly law?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly rules?: string | undefined;
  readonly adapter?: string | undefined;
  readonly fault?: string | undefined;
  readonly json?: boolean | undefined;
}

export const command: CommandModule<object, Args> = {
  command: "check",
  describe: "look for a counterexample to each law of a rate limiter",
  builder: (yargs) =>
    yargs
      .option("runs", { type: "number", requiresArg: true, describe: "runs of each law [default: 100]" })
      .option("seed", { type: "number", requiresArg: true, describe: "repeats an earlier check" })
      .option("law", { type: "string", array: true, requiresArg: true, describe: "only these laws" })
      .option("path", {
        type: "string",
        requiresArg: true,
        describe: "straight to a counterexample, with its --law and --seed",
      })
      .option("rules", {
        type: "string",
        requiresArg: true,
        describe: "a rules file, or a preset: default, documented [default: all kinds, drawn]",
      })
      .option("adapter", {
        type: "string",
        requiresArg: true,
        describe: "a .ts or .js module that exports your limiter [default: our engine]",
      })
      .option("fault", faultOption)
      .conflicts("fault", "adapter")
      .example("$0 check", "every law of the engine, under all kinds of rules")
      .example("$0 check --runs 10000 --law conserved --law isolated", "two laws, more thoroughly")
      .example("$0 check --adapter my-limiter.ts --rules default", "a limiter of your own")
      .example("$0 check --law conserved --seed 7 --path 3:1", "a counterexample found before")
      .example("$0 check --fault one-extra", "a limiter with a known bug: which laws find it"),
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    const interrupt = onInterrupt();
    try {
      const { checkLaws } = await import("../laws/check.ts");
      const options = await optionsOf(args);
      const factory = await factoryOf(args, fault, options);
      const startedMs = Date.now();
      const onProgress = showCheckProgress(terminal);
      const report = await checkLaws(factory, {
        ...options,
        onProgress,
        signal: interrupt.signal,
        timers: { setTimeout, clearTimeout },
      });
      terminal.progress(null);
      const seconds = (Date.now() - startedMs) / 1000;
      await describe(report, seconds, args, terminal);
      terminal.result({ ...report, seconds });
      requireAnswers(report);
      process.exitCode = !report.ok ? 1 : report.interrupted ? INTERRUPTED : 0;
    } finally {
      interrupt.release();
      // A limiter of the user's may hold connections open, and nothing says how to close them.
      if (args.adapter !== undefined) setTimeout(() => process.exit(), 500).unref();
    }
  },
};

/** What is checked: a limiter of the user's, one with a fault, or our engine. */
async function factoryOf(
  { adapter }: Args,
  fault: ChosenFault | null,
  { rules, seed = 0 }: CheckOptions,
): Promise<LimiterFactory> {
  if (adapter !== undefined) return (await import("./adapter-file.ts")).loadLimiterFactory(adapter);
  if (fault === null) return (await import("../laws/engine-factory.ts")).engineFactory;
  await faultWords(fault, "check");
  if (rules !== undefined) (await import("../faults/choice.ts")).requireSuitable(fault, rules);
  return (await import("../faults/factory.ts")).faultFactory(fault, seed);
}

/** @throws SpillwayError `ADAPTER_INVALID` naming each call at which the limiter failed */
function requireAnswers({ limiter, laws }: CheckReport): void {
  const failed = laws.flatMap(({ failure, repeat }) => (failure === undefined ? [] : [{ failure, repeat }]));
  if (failed.length === 0) return;
  const problems = failed.map(({ failure: { call, got, allowed } }) => ({ path: call, got, allowed }));
  const distinct = new Map(problems.map((problem) => [`${problem.got} ${problem.allowed}`, problem]));
  throw new SpillwayError("ADAPTER_INVALID", `the limiter ${quote(limiter)} cannot be checked by every law`, {
    problems: [...distinct.values()],
    hint: `${failed[0]?.repeat} repeats it`,
  });
}

async function optionsOf(args: Args): Promise<CheckOptions> {
  const { runs, seed, law, path, rules } = args;
  const laws = law === undefined ? undefined : law.map(lawNamed);
  if (path !== undefined && !/^\d+(:\d+)*$/.test(path))
    throw usage("--path", path, "as check prints it: 3:1:0");
  if (path !== undefined && (seed === undefined || laws?.length !== 1))
    throw new SpillwayError("USAGE", "--path needs --seed and the one --law that it was found with");
  return {
    runs: wholeNumber("--runs", runs ?? 100, 1, 10_000_000),
    seed: wholeNumber("--seed", seed ?? randomInt(0x7fff_ffff), -0x8000_0000, 0x7fff_ffff),
    ...(laws === undefined ? {} : { laws }),
    ...(path === undefined ? {} : { path }),
    ...(rules === undefined ? {} : { rules: await readRules(rules) }),
    repeatWith: repeatWith(args),
  };
}

const usage = (path: string, got: unknown, allowed: string, hint?: string): SpillwayError =>
  new SpillwayError("USAGE", `${path} cannot be used`, {
    problems: [{ path, got: quote(got), allowed }],
    ...(hint === undefined ? {} : { hint }),
  });

function wholeNumber(option: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw usage(option, value, `a whole number from ${least} to ${most}`);
}

function lawNamed(name: string): LawName {
  const law = lawNames.find((known) => known === name);
  if (law !== undefined) return law;
  const meant = closest(name, lawNames);
  throw usage("--law", name, lawNames.join(", "), meant === null ? undefined : `did you mean ${meant}?`);
}

const widest = Math.max(...lawNames.map((law) => law.length));

async function describe(report: CheckReport, seconds: number, args: Args, terminal: Terminal): Promise<void> {
  const { renderCounterexample } = await import("../laws/timeline.ts");
  const { limiter, runs, seed, laws } = report;
  const under = args.rules === undefined ? "rules of all kinds" : `the rules ${args.rules}`;
  const how = args.path === undefined ? `${counted(runs, "run")} a law` : `path ${args.path}`;
  terminal.say(`${pc.bold(limiter)} under ${under}, seed ${seed}, ${how}`);
  for (const law of laws) {
    terminal.say(`  ${law.law.padEnd(widest)}  ${outcomeText(law)}`);
    for (const note of switchNotes(law, args.rules !== undefined))
      terminal.say(`  ${" ".repeat(widest)}  ${pc.dim(note)}`);
  }
  const violated = laws.filter(({ outcome }) => outcome === "violated");
  const failed = laws.find(({ outcome }) => outcome === "failed");
  for (const law of [...violated, ...(failed === undefined ? [] : [failed])])
    terminal.say(["", ...renderCounterexample(law)].join("\n"));
  if (violated.length > 0 && args.adapter !== undefined && args.rules === undefined)
    terminal.say(`\n${advice}`);
  const total = laws.reduce((sum, law) => sum + law.runs, 0);
  const found =
    violated.length > 0
      ? pc.red(`${counted(violated.length, "law")} violated`)
      : failed === undefined
        ? pc.green("no law violated")
        : pc.red("the limiter failed");
  const cut = report.interrupted ? `, ${pc.yellow("interrupted")}` : "";
  terminal.say(
    `\n${found}${cut}: ${counted(laws.length, "law")}, ${counted(total, "run")}, ${seconds.toFixed(1)} s`,
  );
}

const advice = `${pc.cyan("note")} Rules of all kinds were drawn. If your limiter follows one kind alone, name it:
     --rules FILE, or \`semantics\` of the factory, as in { anchor: ["epoch"], graphqlCharge: ["prepaid"] }.`;

const repeatWith = ({ rules, adapter, fault }: Args): string[] => [
  ...(fault === undefined ? [] : [shellCommand(["--fault", fault])]),
  ...(rules === undefined ? [] : [shellCommand(["--rules", rules])]),
  ...(adapter === undefined ? [] : [shellCommand(["--adapter", adapter])]),
];

const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;

function outcomeText({ outcome, runs, judged, reason }: LawReport): string {
  const answers = counted(judged, "answer");
  switch (outcome) {
    case "no-counterexample":
      return `${pc.green("no counterexample")} in ${counted(runs, "run")}, ${answers} judged`;
    case "violated":
      return `${pc.red("violated")} in run ${runs}`;
    case "failed":
      return `${pc.red("failed")} in run ${runs}: the limiter, not the law`;
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

/** What switches did to a law: where they made it void; under given rules, also in which form it stood. */
function switchNotes({ voidRuns, changedRuns }: LawReport, given: boolean): string[] {
  const times = (count: number): string => (given ? "" : `, ${counted(count, "time")}`);
  const voids = Object.entries(voidRuns).map(([why, count]) => `void for ${why}${times(count)}`);
  const forms = given ? Object.keys(changedRuns).map((form) => `as ${form}`) : [];
  return [...voids, ...forms];
}
