// `spillway load SCENARIO`: a scenario for real, by k6, judged, with a run folder.
import type { CommandModule } from "yargs";
import type { LoadOptions } from "../load/load.ts";
import { SpillwayError } from "../rules/errors.ts";
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
      .positional("scenario", scenarioPositional)
      .options({
        ...runOptions,
        rules: {
          ...runOptions.rules,
          describe: `what the target claims to follow: ${runOptions.rules.describe}`,
        },
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
      .option("timeout", {
        type: "string",
        requiresArg: true,
        describe: "how long to wait for an answer [default: the scenario's network.timeout, 30s]",
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
      .option("compare", {
        type: "string",
        requiresArg: true,
        describe: "another run's folder, shown beside this one: the simulator's",
      })
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
        command: repeatCommand("load", args.scenario, {
          seed: args.seed ?? scenario.scenario.seed,
          target: args.target,
          "allow-host": args.allowHost,
          tokens: args.tokens,
          "graphql-url": args.graphqlUrl,
          rules: args.rules,
          duration: args.duration,
          timeout: args.timeout,
          "keep-alive": args.keepAlive,
          shared: args.shared,
        }),
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
  if (url !== undefined) {
    if (tokens !== undefined) return { url, allowHost, graphqlUrl, tokens: await readTokens(tokens) };
    throw new SpillwayError("USAGE", "--target needs --tokens", {
      hint: "spillway serve says where it wrote its own; a tokens file names a token for each user",
    });
  }
  const ofTargets = { "--tokens": tokens, "--allow-host": allowHost, "--graphql-url": graphqlUrl };
  for (const [option, value] of Object.entries(ofTargets))
    if (value !== undefined)
      throw new SpillwayError("USAGE", `${option} needs --target`, {
        hint: "without a target the reference deployment is started, with tokens of its own",
      });
  const { serve } = await import("../service/serve.ts");
  return { start: ({ rules, tokens: made }) => serve({ rules, tokens: made, port: 0 }) };
}
