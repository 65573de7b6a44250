// `spillway simulate SCENARIO`: a scenario in virtual time, judged, with a run folder.
import { join } from "node:path";
import type { SimulateLimiterOptions } from "../../sim/adapter/simulate-limiter.ts";
import type { ChosenFault } from "../faults/choice.ts";
import { runFiles } from "../report/run.ts";
import { claimsInTraces } from "../rules/algorithms.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { chooseFault, faultOption, faultWords } from "./fault-list.ts";
import { readRules, readTokens } from "./files.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { openOption, reportOpener } from "./open-report.ts";
import {
  repeatCommand,
  requireDuration,
  requireSeed,
  runOptions,
  scenarioOperand,
  tokensFormat,
} from "./run-options.ts";
import type { OpenedLimiter } from "./simulated-limiter.ts";
import { openTerminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

interface Args {
  readonly scenario?: string | undefined;
  readonly seed?: number | undefined;
  readonly out?: string | undefined;
  readonly force?: boolean | undefined;
  readonly rules?: string | undefined;
  readonly duration?: string | undefined;
  readonly like?: string | undefined;
  readonly tokens?: string | undefined;
  readonly fault?: string | undefined;
  readonly adapter?: string | undefined;
  readonly swarm?: number | undefined;
  readonly world?: string | undefined;
  readonly requireStates?: boolean | undefined;
  readonly open?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const verb = defineVerb<Args>({
  name: "simulate",
  summary: "run a scenario in virtual time, judge its trace, write a run folder",
  operands: [{ ...scenarioOperand, required: false }],
  options: {
    ...runOptions,
    like: {
      argument: "DIR",
      type: "string",
      conflicts: "tokens",
      describe: "take start, duration, seed, rules, users and latency from the run in DIR",
    },
    tokens: {
      argument: "FILE",
      type: "string",
      describe: `name organizations and users in the trace as FILE does: ${tokensFormat}`,
    },
    open: { ...openOption, conflicts: "swarm" },
    fault: faultOption,
    adapter: {
      argument: "FILE",
      type: "string",
      conflicts: "fault",
      describe: "put the limiter that the .ts or .js module FILE exports in the deployment's place",
    },
    swarm: {
      argument: "N",
      type: "number",
      conflicts: ["scenario", "world", "duration", "rules", "like", "tokens"],
      describe: "draw N whole worlds from --seed [default: 1], and judge every law in each",
    },
    world: {
      argument: "SEED/NUMBER",
      type: "string",
      conflicts: ["scenario", "seed", "like"],
      describe: "run one world of a swarm again",
    },
    "require-states": {
      type: "boolean",
      describe: "end a swarm with exit code 1 if an interesting state was never reached",
    },
  },
  examples: [
    ["$0 simulate ci-fleet", "run five minutes of a build fleet, in a few seconds"],
    ["$0 simulate herd --seed 5 --rules documented", "draw otherwise, under other rules"],
    ["$0 simulate mine.ts --duration 1h --json", "run a scenario of your own; print figures as JSON"],
    ["$0 simulate herd --like reports/herd-load", "predict what that measurement then found"],
    ["$0 simulate herd --fault per-instance-counters=3", "judge a deployment with a known bug"],
    ["$0 simulate herd --adapter my-limiter.ts", "put your own limiter's code under the same clients"],
    ["$0 simulate --swarm 1000 --seed 7", "draw a thousand worlds; make one that breaks a law smaller"],
    ["$0 simulate --swarm 200 --adapter my-limiter.ts", "put your own limiter into every one of them"],
    ["$0 simulate --world 7/13", "run the world of number 13 once more, with a run folder"],
  ],
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    if (args.swarm !== undefined) {
      const { simulateSwarm } = await import("./simulate-swarm.ts");
      return simulateSwarm(
        { ...args, swarm: args.swarm, seed: requireSeed(args.seed ?? 1) },
        fault,
        terminal,
      );
    }
    if (args.requireStates === true)
      throw new SpillwayError("USAGE", "--require-states is about a swarm", { hint: "add --swarm 100" });
    const open = await reportOpener(args.open);
    const { saySimulation } = await import("./say-run.ts");
    const { simulateInto } = await import("./simulate-into.ts");
    const limiter = args.adapter === undefined ? null : await opened(args.adapter);
    const { file, scenario: written, words: named } = await scenarioNamed(args, fault, limiter);
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
      const simulated =
        limiter === null ? null : await simulatedBy(limiter, scenario, { ...options, signal });
      const told = [...notes, ...(words === null ? [] : [words.note]), ...(simulated?.notes ?? [])];
      const place = { out: args.out, name: scenario.name, force: args.force };
      const run = await simulateInto(place, scenario, {
        options: { ...options, fault: fault ?? undefined, signal },
        simulation: simulated?.simulation,
        claims: simulated?.claims,
        file,
        command: repeatCommand("simulate", named, {
          seed: args.world === undefined ? scenario.seed : undefined,
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
      await open(join(folder, runFiles.html));
      process.exitCode = interrupted ? INTERRUPTED : run.held ? 0 : 1;
    } finally {
      interrupt.release();
      // A limiter of the user's may hold connections open, and nothing says how to close them.
      if (args.adapter !== undefined) setTimeout(() => process.exit(), 500).unref();
    }
  },
});

/** What is simulated: a scenario's file, or a world of a swarm. */
async function scenarioNamed(
  { scenario, world }: Args,
  fault: ChosenFault | null,
  limiter: OpenedLimiter | null,
): Promise<{ file: string | null; scenario: Scenario; words: readonly string[] }> {
  if (world === undefined) {
    const file = requireScenario(scenario);
    const { loadScenarioFile } = await import("../load/scenario-file.ts");
    return { file, scenario: (await loadScenarioFile(file)).scenario, words: [file] };
  }
  const { worldNamed } = await import("../../sim/swarm/swarm.ts");
  const { scenarioOf } = await import("../../sim/swarm/world-recipe.ts");
  const recipe = worldNamed(world, { fault: fault ?? undefined, limiter: limiter ?? undefined });
  return { file: null, scenario: scenarioOf(recipe), words: ["--world", world] };
}

async function opened(file: string): Promise<OpenedLimiter> {
  return (await import("./simulated-limiter.ts")).openLimiter(file);
}

async function simulatedBy(
  { factory, clock }: OpenedLimiter,
  scenario: Scenario,
  options: Omit<SimulateLimiterOptions, "clock">,
) {
  const { limiterNotes } = await import("./simulated-limiter.ts");
  const { simulateLimiter } = await import("../../sim/adapter/simulate-limiter.ts");
  return {
    simulation: simulateLimiter(scenario, factory, { ...options, clock }),
    claims: claimsInTraces(factory),
    notes: limiterNotes(factory, scenario.rules),
  };
}

function requireScenario(scenario: string | undefined): string {
  if (scenario !== undefined) return scenario;
  throw new SpillwayError("USAGE", "name a scenario", {
    hint: "npx spillway simulate steady, ci-fleet or herd, a path to a .ts or .js file of your own, or --swarm 100",
  });
}
