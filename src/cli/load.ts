// `spillway load SCENARIO`: a scenario for real, by k6, judged, with a run folder.
import type { CommandModule } from "yargs";
import type { LoadOptions } from "../load/load.ts";
import { SpillwayError } from "../rules/errors.ts";
import { readRules, readTokens } from "./files.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { defaultFolder, shellCommand } from "./run-place.ts";
import { requireDuration, requireSeed } from "./run-values.ts";
import { openTerminal } from "./terminal.ts";

interface Args {
  readonly scenario: string;
  readonly target?: string | undefined;
  readonly allowHost?: string | undefined;
  readonly tokens?: string | undefined;
  readonly graphqlUrl?: string | undefined;
  readonly rules?: string | undefined;
  readonly seed?: number | undefined;
  readonly duration?: string | undefined;
  readonly timeout?: string | undefined;
  readonly keepAlive?: boolean | undefined;
  readonly shared?: boolean | undefined;
  readonly out?: string | undefined;
  readonly compare?: string | undefined;
  readonly json?: boolean | undefined;
}

const UNREACHED = 3;

export const command: CommandModule<object, Args> = {
  command: "load <scenario>",
  describe: "run a scenario by k6 against a deployment, judge its trace, write a run folder",
  builder: (yargs) =>
    yargs
      .positional("scenario", {
        type: "string",
        demandOption: true,
        describe: "steady, ci-fleet, herd, or a path to a .ts or .js file",
      })
      .option("target", {
        type: "string",
        requiresArg: true,
        describe: "whom to load [default: the reference deployment, started for this run]",
      })
      .option("allow-host", {
        type: "string",
        requiresArg: true,
        describe: "the target's host, again, where it is not this machine",
      })
      .option("tokens", { type: "string", requiresArg: true, describe: "the target's tokens file" })
      .option("graphql-url", {
        type: "string",
        requiresArg: true,
        describe: "where the target's GraphQL is [default: TARGET/v1/graphql]",
      })
      .option("rules", {
        type: "string",
        requiresArg: true,
        describe: "what the target claims to follow: a rules file, or a preset [default: the scenario's]",
      })
      .option("seed", { type: "number", requiresArg: true, describe: "in place of the scenario's own" })
      .option("duration", {
        type: "string",
        requiresArg: true,
        describe: "in place of the scenario's own: 90s, 5m, 1m30s",
      })
      .option("timeout", {
        type: "string",
        requiresArg: true,
        describe: "how long to wait for an answer [default: 30s]",
      })
      .option("keep-alive", {
        type: "boolean",
        default: false,
        describe: "reuse connections: faster, but k6 may send a call twice, and the judge must allow for it",
      })
      .option("shared", {
        type: "boolean",
        default: false,
        describe: "others use the same quotas meanwhile: the judge must allow for it",
      })
      .option("out", {
        type: "string",
        requiresArg: true,
        describe: "the run folder [default: reports/SCENARIO-TIME]",
      })
      .option("compare", {
        type: "string",
        requiresArg: true,
        describe: "another run's folder, shown beside this one: the simulator's",
      })
      .implies("allow-host", "target")
      .implies("tokens", "target")
      .implies("graphql-url", "target")
      .implies("target", "tokens")
      .example("$0 load herd", "against the reference deployment, started for this run")
      .example(
        "$0 load mine.ts --duration 30s --rules documented",
        "your own clients, other rules, half a minute",
      )
      .example(
        "$0 load herd --target http://127.0.0.1:4100 --tokens tokens.json",
        "a deployment that is already running here",
      )
      .example(
        "$0 load steady --target https://api.example.com --allow-host api.example.com --tokens tokens.json --shared",
        "one elsewhere: its host twice, so that nobody loads the wrong one",
      ),
  handler: async (args) => {
    const terminal = openTerminal(args.json === true);
    const { loadScenarioFile } = await import("../load/scenario-file.ts");
    const { loadInto } = await import("./load-into.ts");
    const { sayLoad } = await import("./say-run.ts");
    const scenario = await loadScenarioFile(args.scenario);
    const interrupt = onInterrupt();
    try {
      const run = await loadInto(args.out ?? defaultFolder(scenario.scenario.name), {
        scenario,
        file: args.scenario,
        command: commandOf(args, args.seed ?? scenario.scenario.seed),
        adjustments: {
          seed: args.seed === undefined ? undefined : requireSeed(args.seed),
          durationMs: args.duration === undefined ? undefined : requireDuration("--duration", args.duration),
          rules: args.rules === undefined ? undefined : await readRules(args.rules),
        },
        target: await targetOf(args),
        timeoutMs: args.timeout === undefined ? undefined : requireDuration("--timeout", args.timeout),
        keepAlive: args.keepAlive,
        shared: args.shared,
        compare: args.compare,
        signal: interrupt.signal,
        onProgress: terminal.progress,
      });
      terminal.progress(null);
      sayLoad(terminal, run);
      const { folder, summary, verdict, expectations, notes, load } = run;
      const { crossed, failure, interrupted } = load;
      terminal.result({ folder, summary, verdict, expectations, crossed, failure, notes });
      process.exitCode = interrupted ? INTERRUPTED : failure !== null ? UNREACHED : run.held ? 0 : 1;
    } catch (error) {
      if (!interrupt.signal.aborted || error instanceof SpillwayError) throw error;
      terminal.say("Interrupted before anything was sent.");
      process.exitCode = INTERRUPTED;
    } finally {
      interrupt.release();
    }
  },
};

async function targetOf(args: Args): Promise<LoadOptions["target"]> {
  const { target: url, tokens, allowHost, graphqlUrl } = args;
  if (url !== undefined && tokens !== undefined)
    return { url, allowHost, graphqlUrl, tokens: await readTokens(tokens) };
  const { serve } = await import("../service/serve.ts");
  return { start: ({ rules, tokens: made }) => serve({ rules, tokens: made, port: 0 }) };
}

function commandOf(args: Args, seed: number): string {
  const option = (name: string, value: string | undefined): (string | undefined)[] =>
    value === undefined ? [] : [name, value];
  return shellCommand([
    ...["spillway", "load", args.scenario, "--seed", String(seed)],
    ...option("--target", args.target),
    ...option("--allow-host", args.allowHost),
    ...option("--tokens", args.tokens),
    ...option("--graphql-url", args.graphqlUrl),
    ...option("--rules", args.rules),
    ...option("--duration", args.duration),
    ...option("--timeout", args.timeout),
    args.keepAlive === true ? "--keep-alive" : undefined,
    args.shared === true ? "--shared" : undefined,
  ]);
}
