// `spillway simulate SCENARIO`: a scenario in virtual time, judged, with a run folder.
import type { CommandModule } from "yargs";
import type { SimulateLimiterOptions } from "../../sim/simulate-limiter.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { chooseFault, faultOption, faultWords } from "./fault-list.ts";
import { readRules, readTokens } from "./files.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import {
  repeatCommand,
  requireDuration,
  requireSeed,
  runOptions,
  scenarioPositional,
} from "./run-options.ts";
import { defaultFolder } from "./run-place.ts";
import { openTerminal } from "./terminal.ts";

interface Args {
  readonly scenario?: string | undefined;
  readonly seed?: number | undefined;
  readonly out?: string | undefined;
  readonly rules?: string | undefined;
  readonly duration?: string | undefined;
  readonly like?: string | undefined;
  readonly tokens?: string | undefined;
  readonly fault?: string | undefined;
  readonly adapter?: string | undefined;
  readonly json?: boolean | undefined;
}

export const command: CommandModule<object, Args> = {
  // Optional to yargs alone: `--fault list` needs none.
  command: "simulate [scenario]",
  describe: "run a scenario in virtual time, judge its trace, write a run folder",
  builder: (yargs) =>
    yargs
      .positional("scenario", { ...scenarioPositional, demandOption: false })
      .options(runOptions)
      .option("like", {
        type: "string",
        requiresArg: true,
        describe: "a run's folder, to take start, duration, seed, rules, users and latency from",
      })
      .option("tokens", {
        type: "string",
        requiresArg: true,
        describe: "a tokens file: whose names the trace has",
      })
      .option("fault", faultOption)
      .option("adapter", {
        type: "string",
        requiresArg: true,
        describe: "a .ts or .js module that exports your limiter, in the deployment's place",
      })
      .conflicts("like", "tokens")
      .conflicts("adapter", "fault")
      .example("$0 simulate ci-fleet", "five minutes of a build fleet, in less than a second")
      .example("$0 simulate herd --seed 5 --rules documented", "other draws, other rules")
      .example("$0 simulate mine.ts --duration 1h --json", "a scenario of your own; figures as JSON")
      .example(
        "$0 simulate herd --like reports/herd-load",
        "what the simulator would have said of that measurement",
      )
      .example("$0 simulate herd --fault per-instance-counters=3", "a deployment with a known bug, judged")
      .example("$0 simulate herd --adapter my-limiter.ts", "your own limiter's code, under the same clients"),
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    const file = requireScenario(args.scenario);
    const { loadScenarioFile } = await import("../load/scenario-file.ts");
    const { saySimulation } = await import("./say-run.ts");
    const { simulateInto } = await import("./simulate-into.ts");
    const { scenario: written } = await loadScenarioFile(file);
    const { conditionsOf } = await import("./conditions.ts");
    const { scenario, options, notes } = await conditionsOf(written, {
      seed: args.seed === undefined ? undefined : requireSeed(args.seed),
      durationMs: args.duration === undefined ? undefined : requireDuration("--duration", args.duration),
      rules: args.rules === undefined ? undefined : await readRules(args.rules),
      tokens: args.tokens === undefined ? null : await readTokens(args.tokens),
      like: args.like,
    });
    const words = fault === null ? null : await faultWords(fault, "simulate");
    const interrupt = onInterrupt();
    try {
      const { signal } = interrupt;
      const opened =
        args.adapter === undefined ? null : await limiterOf(args.adapter, scenario, { ...options, signal });
      const told = [...notes, ...(words === null ? [] : [words.note]), ...(opened?.notes ?? [])];
      const run = await simulateInto(args.out ?? defaultFolder(scenario.name), scenario, {
        options: { ...options, fault: fault ?? undefined, signal },
        simulation: opened?.simulation,
        claims: opened?.claims,
        file,
        command: repeatCommand("simulate", file, {
          seed: scenario.seed,
          rules: args.rules,
          duration: args.duration,
          like: args.like,
          tokens: args.tokens,
          fault: words?.text,
          adapter: args.adapter,
        }),
        notes: told,
        compare: args.like,
        onProgress: terminal.progress,
      });
      terminal.progress(null);
      const { folder, summary, verdict, expectations, interrupted } = run;
      saySimulation(terminal, run, scenario.seed, told);
      terminal.result({ folder, summary, verdict, expectations });
      process.exitCode = interrupted ? INTERRUPTED : run.held ? 0 : 1;
    } finally {
      interrupt.release();
      // A limiter of the user's may hold connections open, and nothing says how to close them.
      if (args.adapter !== undefined) setTimeout(() => process.exit(), 500).unref();
    }
  },
};

/** A limiter of the user's, ready to be simulated. */
async function limiterOf(file: string, scenario: Scenario, options: Omit<SimulateLimiterOptions, "clock">) {
  const { limiterNotes, openLimiter } = await import("./simulated-limiter.ts");
  const { simulateLimiter } = await import("../../sim/simulate-limiter.ts");
  const { factory, clock } = await openLimiter(file, scenario.startAtMs);
  return {
    simulation: simulateLimiter(scenario, factory, { ...options, clock }),
    claims: factory.claims,
    notes: limiterNotes(factory, scenario.rules),
  };
}

function requireScenario(scenario: string | undefined): string {
  if (scenario !== undefined) return scenario;
  throw new SpillwayError("USAGE", "name a scenario", {
    hint: "spillway simulate steady, ci-fleet or herd, or a path to a .ts or .js file of your own",
  });
}
