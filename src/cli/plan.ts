// `spillway plan SCENARIO`: how many clients, under which limit, with which retry? It searches over simulations.

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { runFiles } from "../report/run.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { parseShare } from "../rules/share.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import { shellCommand } from "../runs/run-place.ts";
import type { PlanResult } from "../summary/plan-result.ts";
import { asWindowOption, commandWords, limitsOf } from "./as-window.ts";
import { openOption, reportOpener } from "./open-report.ts";
import {
  codeNote,
  importMsOf,
  importTimeout,
  repeatCommand,
  requireDuration,
  requireSeed,
  requireWhole,
  runOptions,
  scenarioOperand,
} from "./run-options.ts";
import { openTerminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, type Operand, option, program, type VerbOptions } from "./verb.ts";

const operands = [scenarioOperand] as const satisfies readonly Operand[];

const options = {
  vary: option.text(
    "PATH=VALUES",
    "vary the member PATH over VALUES: agents.clients=10..500, fleet=10..500 (all clients, in the shares they have, with their users), rules.organization.rest.limit=100..1000:50; two make a heat map of at most 10 values of each",
    { array: true },
  ),
  until: option.text(
    "BOUND",
    "require BOUND, a figure and its bound: 'refusedShare<1%', 'agents.waitP95Ms<2s' [default: what the scenario expects]",
    { array: true },
  ),
  find: {
    argument: "largest|smallest",
    choices: ["largest", "smallest"],
    describe:
      "find the largest or the smallest value that holds [default: smallest of limits, buckets, servers and queues, else largest]",
  },
  storm: option.text(
    "TRIGGER",
    "find the smallest TRIGGER that the load does not recover from: outage, burst, outage=1s..60s, burst=10..500",
  ),
  within: option.number(
    "N",
    "require recovery within N windows after the trigger [default: by the end of the run]",
  ),
  compare: option.flag("compare retry policies and larger limits, side by side"),
  "in-runs": option.text(
    "SHARE",
    "require the bounds in more than SHARE of the runs of a point [default: 95%; for a heat map and a storm 50%]",
  ),
  replications: option.number(
    "N",
    "run each point at most N times [default: as many as SHARE needs: 128 for 95%]",
  ),
  confidence: option.number("SHARE", "answer with confidence SHARE [default: 0.95]"),
  workers: option.number("N", "use N threads [default: one a processor]"),
  resume: option.flag("continue the interrupted plan in --out"),
  csv: option.flag("print the points as CSV on standard output, text on standard error", {
    conflicts: "json",
  }),
  ...runOptions,
  "as-window": asWindowOption,
  open: openOption,
  "import-timeout": importTimeout,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "plan",
  summary: "search by simulations for the largest load or the smallest limit that holds",
  notes: [`${program} figures lists the figures that --until takes, with their units.`, codeNote],
  operands,
  options,
  examples: {
    "$0 plan herd --vary herd.clients=5..60 --until 'refusedShare<5%'": "find how many clients are too many",
    "$0 plan ci-fleet --vary agents.clients=10..500 --vary rules.organization.rest.limit=100..1000":
      "draw a heat map: which limit for how many agents",
    "$0 plan mine.ts --vary 'agents.onRefused=none,waitReset,waitReset+0..5s'":
      "vary choices instead of numbers",
    "$0 plan herd --storm outage": "see whether the load recovers after an outage",
    "$0 plan herd --compare": "see which change helps most",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json || args.csv);
    const open = await reportOpener(args.open);
    await untilInterrupted(terminal, async (signal) => {
      const { folder, result } = await answer(args, signal, terminal.progress);
      if (result === null) {
        const again = shellCommand(["--out", folder, "--resume"]);
        terminal.say("Interrupted: what was done is kept. Go on with", `  ${commandOf(args)} ${again}`);
        process.exitCode = INTERRUPTED;
        return;
      }
      const { sayPlan } = await import("./say-plan.ts");
      sayPlan(terminal, result, folder);
      if (args.csv) {
        const [{ renderCsv }, { planTable }] = await Promise.all([
          import("../report/csv.ts"),
          import("../runs/plan-table.ts"),
        ]);
        terminal.document(renderCsv(planTable(result)));
      } else terminal.result({ ...result, folder });
      await open(join(folder, runFiles.html));
      process.exitCode = isAnswered(result) ? 0 : 1;
    });
  },
});

/** Tells whether some value meets the goals. Storms and comparisons are answered by what they show. */
export function isAnswered({ answer, storm }: Pick<PlanResult, "answer" | "storm">): boolean {
  const answers = [answer, storm?.answer ?? null].filter((one) => one !== null);
  return answers.every((one) => {
    if (one.kind === "choices") return one.holding.length > 0;
    if (one.kind === "frontier") return one.holding > 0;
    return one.kind === "value" || one.kind === "all";
  });
}

async function answer(args: Args, signal: AbortSignal, onProgress: (text: string) => void) {
  const options = await optionsOf(args);
  const { planInto } = await import("../runs/plan-into.ts");
  return planInto(args.scenario, { ...options, signal, onProgress });
}

/** Reads the options of a plan. @throws SpillwayError `USAGE`, those of files */
export async function optionsOf(args: Args) {
  const workers =
    args.workers === undefined
      ? Math.min(8, availableParallelism())
      : requireWhole("--workers", args.workers, 1, 256);
  const { resume = false, force = false, out, seed, duration } = args;
  if (resume && out === undefined)
    throw usage("--resume", "no --out", "--out DIR, the folder of the plan to go on with");
  const adjustments = {
    seed: seed === undefined ? undefined : requireSeed(seed),
    durationMs: duration === undefined ? undefined : requireDuration("--duration", duration),
    ...(await limitsOf(args, commandWords("plan", args.scenario))),
  };
  const { vary, until, find, storm, within, compare, replications, confidence } = args;
  const inRuns = args.inRuns === undefined ? undefined : requireShare(args.inRuns);
  const command = commandOf(args);
  const asked = { vary, until, find, storm, within, compare, replications, confidence, inRuns, command };
  return { asked, adjustments, workers, importMs: importMsOf(args), out, force, resume };
}

/** Reads a share of runs: `95%` or `0.95`. @throws SpillwayError `USAGE` */
function requireShare(text: string): number {
  const share = parseShare(text);
  if (share === null) throw usage("--in-runs", quote(text), "a share of runs, such as 95%");
  return share;
}

const usage = (path: string, got: string, allowed: string): SpillwayError =>
  new SpillwayError("USAGE", "this plan cannot be run", { problem: { path, got, allowed } });

/** Returns the command that asks the same question again, without the number of threads. */
function commandOf(args: Args): string {
  const { vary, until, find, storm, within, compare, replications, confidence, inRuns } = args;
  const { seed, duration, rules, asWindow } = args;
  return repeatCommand("plan", args.scenario, {
    ...{ vary, until, find, storm, within, compare, replications, confidence, "in-runs": inRuns },
    ...{ seed, duration, rules, "as-window": asWindow },
  });
}
