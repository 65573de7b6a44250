// `spillway plan SCENARIO`: how many clients, under which limit, with which retry? A search over simulations.
import { availableParallelism } from "node:os";
import type { CommandModule } from "yargs";
import { SpillwayError } from "../rules/errors.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { readRules } from "./files.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { requireDuration, requireSeed, runOptions, scenarioPositional } from "./run-options.ts";
import { shellCommand } from "./run-place.ts";
import { openTerminal } from "./terminal.ts";

interface Args {
  readonly scenario: string;
  readonly vary?: readonly string[] | undefined;
  readonly until?: readonly string[] | undefined;
  readonly find?: "largest" | "smallest" | undefined;
  readonly storm?: string | undefined;
  readonly within?: number | undefined;
  readonly compare?: boolean | undefined;
  readonly replications?: number | undefined;
  readonly confidence?: number | undefined;
  readonly workers?: number | undefined;
  readonly resume?: boolean | undefined;
  readonly csv?: boolean | undefined;
  readonly json?: boolean | undefined;
  readonly seed?: number | undefined;
  readonly duration?: string | undefined;
  readonly rules?: string | undefined;
  readonly out?: string | undefined;
}

export const command: CommandModule<object, Args> = {
  command: "plan <scenario>",
  describe: "search for the largest load or the smallest limit that holds, by many simulations",
  builder: (yargs) =>
    yargs
      .positional("scenario", scenarioPositional)
      .option("vary", {
        type: "string",
        array: true,
        nargs: 1,
        describe:
          "what to vary: agents.clients=10..500, rules.organization.rest.limit=100..1000:50; two make a heat map",
      })
      .option("until", {
        type: "string",
        array: true,
        nargs: 1,
        describe: "what must hold: 'refused<1%', 'agents.waitP95Ms<2s' [default: what the scenario expects]",
      })
      .option("find", {
        choices: ["largest", "smallest"] as const,
        describe: "which value that holds [default: by what is varied]",
      })
      .option("storm", {
        type: "string",
        requiresArg: true,
        describe:
          "the smallest trigger that the load does not recover from: outage, burst, outage=1s..60s, burst=10..500",
      })
      .option("within", {
        type: "number",
        requiresArg: true,
        describe: "windows after the trigger in which the load must be back [default: by the end of the run]",
      })
      .option("compare", { type: "boolean", describe: "retry policies and larger limits, side by side" })
      .option("replications", {
        type: "number",
        requiresArg: true,
        describe: "the most runs of one point [default: 64]",
      })
      .option("confidence", {
        type: "number",
        requiresArg: true,
        describe: "how sure an answer is to be [default: 0.95]",
      })
      .option("workers", {
        type: "number",
        requiresArg: true,
        describe: "threads [default: one a processor]",
      })
      .option("resume", { type: "boolean", describe: "go on with the interrupted plan in --out" })
      .option("csv", {
        type: "boolean",
        describe: "print the points as CSV, and nothing else, on standard output",
      })
      .options(runOptions)
      .conflicts("csv", "json")
      .example(
        "$0 plan herd --vary herd.clients=5..60 --until 'refused<5%'",
        "how many clients are too many?",
      )
      .example(
        "$0 plan ci-fleet --vary agents.clients=10..500 --vary rules.organization.rest.limit=100..1000",
        "a heat map: which limit for how many agents",
      )
      .example(
        "$0 plan mine.ts --vary 'agents.onRefused=none,waitReset,waitReset+0..5s'",
        "choices instead of numbers",
      )
      .example("$0 plan herd --storm outage", "does the load recover when an outage is over?")
      .example("$0 plan herd --compare", "what to change"),
  handler: async (args) => {
    const terminal = openTerminal(args.json === true || args.csv === true);
    const interrupt = onInterrupt();
    try {
      const { folder, result } = await answer(args, interrupt.signal, terminal.progress);
      terminal.progress(null);
      if (result === null) {
        const again = shellCommand(["--out", folder, "--resume"]);
        terminal.say(`Interrupted: what was done is kept. Go on with\n  ${commandOf(args)} ${again}`);
        process.exitCode = INTERRUPTED;
        return;
      }
      const { sayPlan } = await import("./say-plan.ts");
      sayPlan(terminal, result, folder);
      if (args.csv === true) {
        const [{ renderCsv }, { planTable }] = await Promise.all([
          import("../report/csv.ts"),
          import("./plan-table.ts"),
        ]);
        process.stdout.write(renderCsv(planTable(result)));
      } else terminal.result(result);
      process.exitCode = isAnswered(result) ? 0 : 1;
    } finally {
      interrupt.release();
    }
  },
};

/** Whether some value holds. Storms and comparisons answer by what they show. */
function isAnswered({ answer, storm }: PlanResult): boolean {
  const answers = [answer, storm?.answer ?? null].filter((one) => one !== null);
  return answers.every((one) => {
    if (one.kind === "choices") return one.holding.length > 0;
    if (one.kind === "frontier") return one.holding > 0;
    return one.kind === "value" || one.kind === "all";
  });
}

async function answer(args: Args, signal: AbortSignal, onProgress: (text: string) => void) {
  const workers = requireWorkers(args.workers);
  if (args.resume === true && args.out === undefined)
    throw usage("--resume", "no --out", "--out DIR, the folder of the plan to go on with");
  const adjustments = {
    seed: args.seed === undefined ? undefined : requireSeed(args.seed),
    durationMs: args.duration === undefined ? undefined : requireDuration("--duration", args.duration),
    rules: args.rules === undefined ? undefined : await readRules(args.rules),
  };
  const { planInto } = await import("./plan-into.ts");
  const { vary, until, find, storm, within, compare, replications, confidence } = args;
  const command = commandOf(args);
  return planInto(args.scenario, {
    asked: { vary, until, find, storm, within, compare, replications, confidence, command },
    adjustments,
    workers,
    out: args.out,
    resume: args.resume === true,
    signal,
    onProgress,
  });
}

function requireWorkers(workers: number | undefined): number {
  if (workers === undefined) return Math.min(8, availableParallelism());
  if (Number.isSafeInteger(workers) && workers >= 1 && workers <= 256) return workers;
  throw usage("--workers", String(workers), "a whole number from 1 to 256");
}

const usage = (path: string, got: string, allowed: string): SpillwayError =>
  new SpillwayError("USAGE", "this plan cannot be run", { problems: [{ path, got, allowed }] });

/** What asks the same question again, on any number of threads. */
function commandOf(args: Args): string {
  const given = (name: keyof Args): string[] => {
    const value = args[name];
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => [`--${name}`, String(one)]);
  };
  const names = [
    "vary",
    "until",
    "find",
    "storm",
    "within",
    "compare",
    "replications",
    "confidence",
    "seed",
    "duration",
    "rules",
  ] as const;
  return shellCommand(["spillway", "plan", args.scenario, ...names.flatMap(given)]);
}
