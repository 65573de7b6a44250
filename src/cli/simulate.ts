// `spillway simulate SCENARIO`: runs a scenario in virtual time, judges it, and keeps a run folder.
import { join } from "node:path";
import { runFiles } from "../report/run.ts";
import { SpillwayError } from "../rules/errors.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import type { SimulateTask } from "../runs/simulate-job.ts";
import { asWindowOption, commandWords, limitsOf } from "./as-window.ts";
import { chooseFault, type FaultWords, faultOption, faultWords } from "./fault-list.ts";
import { readTokens } from "./files.ts";
import { openOption, reportOpener } from "./open-report.ts";
import {
  adapterOption,
  codeNote,
  importMsOf,
  importTimeout,
  repeatCommand,
  requireDuration,
  requireSeed,
  runOptions,
  scenarioOperand,
  tokensFormat,
} from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, type Operand, option, type VerbOptions } from "./verb.ts";

const operands = [{ ...scenarioOperand, required: false }] as const satisfies readonly Operand[];

const options = {
  ...runOptions,
  "as-window": asWindowOption,
  like: option.text("DIR", "take start, duration, seed, rules, users and latency from the run in DIR", {
    conflicts: "tokens",
  }),
  tokens: option.text("FILE", `name organizations and users in the trace as FILE does: ${tokensFormat}`),
  open: openOption,
  fault: faultOption,
  adapter: adapterOption,
  world: option.text("SEED/NUMBER", "run world NUMBER of the swarm with seed SEED again", {
    conflicts: ["scenario", "seed", "like"],
  }),
  trace: option.flag(
    "write the run and judge its trace (--no-trace: count figures alone and write nothing, many times faster)",
    { default: true },
  ),
  "import-timeout": importTimeout,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "simulate",
  summary: "run a scenario in virtual time, judge its trace, write a run folder",
  notes: [codeNote],
  operands,
  options,
  examples: {
    "$0 simulate ci-fleet": "run five minutes of a build fleet, in a few seconds",
    "$0 simulate herd --seed 5 --rules documented": "draw otherwise, under other rules",
    "$0 simulate mine.ts --duration 1h --json": "run a scenario of your own; print figures as JSON",
    "$0 simulate mine.ts --no-trace --json": "print the figures of a long run alone",
    "$0 simulate herd --like reports/herd-load": "predict what that measurement then found",
    "$0 simulate herd --fault per-instance-counters=3": "judge a deployment with a known bug",
    "$0 simulate herd --adapter my-limiter.ts": "put your own limiter's code under the same clients",
    "$0 simulate --world 7/13": "run the world of number 13 once more, with a run folder",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    const importMs = importMsOf(args);
    const words = fault === null ? null : await faultWords(fault, "simulate");
    const task = await taskOf(args);
    const file = args.world === undefined ? requireScenario(args.scenario) : null;
    await untilInterrupted(terminal, async (signal) => {
      const asked = { task, file, importMs, words, signal };
      await (args.trace ? simulateOne(args, asked, terminal) : measureOne(asked, terminal));
    });
  },
});

/** Reads what is to be simulated. @throws SpillwayError `USAGE`, `POLICY_UNSUPPORTED`, those of files */
export async function taskOf(args: Args): Promise<SimulateTask> {
  const { world, seed, duration, tokens, like, fault } = args;
  if (!args.trace) requireNoPlace(args);
  const limits = await limitsOf(args, commandWords("simulate", args.scenario));
  if (limits.policy !== undefined) requireRules(args, limits.policy.name);
  const changes = {
    seed: seed === undefined ? undefined : requireSeed(seed),
    durationMs: duration === undefined ? undefined : requireDuration("--duration", duration),
    ...limits,
    tokens: tokens === undefined ? null : await readTokens(tokens),
    like,
  };
  return { world, changes, fault };
}

interface Asked {
  readonly task: SimulateTask;
  /** File of the scenario; `null` if a world is simulated. */
  readonly file: string | null;
  readonly importMs: number;
  readonly words: FaultWords | null;
  readonly signal: AbortSignal;
}

async function simulateOne(
  args: Args,
  { task, file, importMs, words, signal }: Asked,
  terminal: Terminal,
): Promise<void> {
  const { adapter, out, force } = args;
  const open = await reportOpener(args.open);
  const { startJobs } = await import("../runs/job-thread.ts");
  const files = { adapter, scenario: file ?? undefined };
  const threads = await startJobs(files, { importMs, signal });
  try {
    const { factsOf, simulateInto } = await import("../runs/simulate-into.ts");
    const parts = threads.thread.run("simulate", task);
    const facts = await factsOf(parts);
    const { scenario, header } = facts;
    const run = await simulateInto({ out, name: scenario.name, force }, facts, {
      parts,
      signal,
      file,
      command: commandOf(args, file, scenario.seed, words),
      notes: [...facts.notes, ...(words === null ? [] : [words.note])],
      compare: args.like,
      onProgress: terminal.progress,
    });
    const { saySimulation } = await import("./say-run.ts");
    const { folder, summary, verdict, expectations, interrupted, notes } = run;
    saySimulation(terminal, run, header.seed ?? scenario.seed, notes);
    terminal.result({ folder, summary, verdict, expectations, notes });
    await open(join(folder, runFiles.html));
    process.exitCode = interrupted ? INTERRUPTED : run.held ? 0 : 1;
  } finally {
    await threads.close();
  }
}

/** Refuses options that need a trace. Figures alone have no folder, and a user's limiter may be asynchronous. */
function requireNoPlace(args: Args): void {
  const wrong = (["out", "open", "adapter"] as const).find((name) => args[name] !== undefined);
  if (wrong === undefined) return;
  throw new SpillwayError("USAGE", `--no-trace and --${wrong} do not go together`, {
    hint: "--no-trace counts figures and writes nothing: --json prints them all",
  });
}

/** Refuses a policy beside a user's limiter or a world: neither knows policies yet. */
function requireRules(args: Args, policy: string): void {
  const wrong = (["adapter", "world"] as const).find((name) => args[name] !== undefined);
  if (wrong === undefined) return;
  throw new SpillwayError("POLICY_UNSUPPORTED", `--${wrong} goes with rules, and with no policy yet`, {
    problem: {
      path: `--${wrong}`,
      got: `a policy beside it, ${policy}`,
      allowed: "rules, as of the preset buildkite",
    },
  });
}

async function measureOne({ task, file, importMs, words, signal }: Asked, terminal: Terminal): Promise<void> {
  const { startJobs } = await import("../runs/job-thread.ts");
  const threads = await startJobs({ scenario: file ?? undefined }, { importMs, signal });
  try {
    const { measuredRun } = await import("./measured-run.ts");
    const run = await measuredRun(threads.thread.run("measure", task), terminal, signal);
    const notes = [...run.notes, ...(words === null ? [] : [words.note])];
    const { sayMeasured } = await import("./say-run.ts");
    sayMeasured(terminal, { ...run, notes });
    terminal.result({ folder: null, ...run.measured, expectations: run.expectations, notes });
    const held = run.expectations.every((expectation) => expectation.held);
    process.exitCode = run.interrupted ? INTERRUPTED : held ? 0 : 1;
  } finally {
    await threads.close();
  }
}

/** Returns the command that repeats a run. @param seed the scenario's own */
export function commandOf(args: Args, file: string | null, seed: number, words: FaultWords | null): string {
  const { world, rules, asWindow, duration, like, tokens, adapter } = args;
  return repeatCommand("simulate", file ?? ["--world", world ?? ""], {
    seed: world === undefined ? seed : undefined,
    rules,
    "as-window": asWindow,
    duration,
    like,
    tokens,
    fault: words?.text,
    adapter,
  });
}

export function requireScenario(scenario: string | undefined): string {
  if (scenario !== undefined) return scenario;
  throw new SpillwayError("USAGE", "name a scenario", {
    hint: "npx spillway simulate steady, ci-fleet or herd, or a path to a .ts or .js file of your own",
  });
}
