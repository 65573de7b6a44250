// `spillway load SCENARIO`: runs a scenario for real, by k6 or by Node, judges it, and keeps a run folder.

import { join } from "node:path";
import type { LoadOptions } from "../load/load.ts";
import type { LoadedScenario } from "../load/scenario-file.ts";
import type { Policy } from "../policy/policy.ts";
import { runFiles } from "../report/run.ts";
import { SpillwayError } from "../rules/errors.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import type { JobThreads } from "../runs/job-thread.ts";
import type { Verdict } from "../verify/verdict.ts";
import { asWindowOption, commandWords, limitsOf } from "./as-window.ts";
import { connectionOptions, readConnection } from "./connection-options.ts";
import { readLimits, readPolicyTokens, readTokens } from "./files.ts";
import { openOption, reportOpener } from "./open-report.ts";
import {
  codeNote,
  driverOption,
  importMsOf,
  importTimeout,
  repeatCommand,
  requireDuration,
  requireSeed,
  rulesOption,
  runOptions,
  scenarioOperand,
  tokensFormat,
} from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, type Operand, option, type VerbOptions } from "./verb.ts";
import { verdictStatus } from "./verdict-status.ts";

const UNREACHED = 3;

const operands = [scenarioOperand] as const satisfies readonly Operand[];

const options = {
  target: option.text(
    "URL",
    "load the deployment at URL [default: the reference deployment, started for this run]",
  ),
  "allow-host": option.text("HOST", "allow load on HOST, the target's host, if it is not this machine"),
  tokens: option.text("FILE", `call with the tokens in FILE: ${tokensFormat}`),
  "graphql-url": option.text("URL", "send GraphQL calls to URL [default: TARGET/v1/graphql]"),
  ...connectionOptions,
  driver: driverOption,
  ...runOptions,
  rules: rulesOption("judge by", "the scenario's"),
  "as-window": asWindowOption,
  timeout: option.text(
    "TIME",
    "wait at most TIME for an answer [default: the scenario's network.timeout, 30s]",
  ),
  "keep-alive": option.flag(
    "let k6 reuse connections: faster, but it may send a call twice, and the judge must allow for it; Node always reuses them, and sends nothing twice",
    { default: false },
  ),
  shared: option.flag(
    "state that others use the same quotas meanwhile, so that the judge allows for their calls",
    { default: false },
  ),
  open: openOption,
  compare: option.text("DIR", "show the run in DIR, such as a simulation, beside this one"),
  "import-timeout": importTimeout,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "load",
  summary: "load a deployment with a scenario's clients in real time, and judge the answers",
  notes: [codeNote],
  operands,
  options,
  examples: {
    "$0 load herd": "load the reference deployment, started for this run",
    "$0 load mine.ts --duration 30s --rules documented": "load with your own clients, under other rules",
    "$0 load herd --target http://127.0.0.1:4100 --tokens tokens.json":
      "load a deployment that already runs on this machine",
    "$0 load steady --target https://api.example.com --allow-host api.example.com --tokens tokens.json --shared":
      "load one elsewhere; its host is named twice, so that nobody loads the wrong one",
    "$0 load github --policy github": "load a stand-in of another API, started for this run",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const { startJobs } = await import("../runs/job-thread.ts");
    const options = await loadOptions(args);
    const importMs = importMsOf(args);
    const load = async (signal: AbortSignal): Promise<void> => {
      const threads = await startJobs({ scenario: args.scenario }, { importMs, signal });
      const asked = { ...options, ...threads, signal };
      await loadOne(args, asked, terminal).finally(() => threads.close());
    };
    await untilInterrupted(terminal, load, "Interrupted before anything was sent.");
  },
});

type Asked = Awaited<ReturnType<typeof loadOptions>> &
  Pick<JobThreads<LoadedScenario>, "scenario" | "thread"> & { readonly signal: AbortSignal };

async function loadOne(
  args: Args,
  { scenario, thread, signal, ...options }: Asked,
  terminal: Terminal,
): Promise<void> {
  const open = await reportOpener(args.open);
  const { chooseDriver } = await import("../load/driver.ts");
  const { driverLine, loadInto } = await import("../runs/load-into.ts");
  const { sayLoad } = await import("./say-run.ts");
  const by = await chooseDriver(args.driver, { signal });
  terminal.say(driverLine(by));
  const place = { out: args.out, name: scenario.scenario.name, force: args.force };
  const run = await loadInto(place, {
    ...options,
    scenario,
    file: args.scenario,
    command: repeatLoad(args, scenario.scenario.seed),
    by,
    drive: (task, stop) => thread.run("load", task, stop),
    signal,
    onProgress: terminal.progress,
  });
  sayLoad(terminal, run);
  const { folder, summary, verdict, expectations, notes, load } = run;
  const { driver, checks, crossed, failure } = load;
  const lateness = load.driver === "node" ? load.lateness : null;
  const result = { folder, driver, summary, verdict, expectations, checks, crossed, failure, lateness };
  terminal.result({ ...result, notes });
  await open(join(folder, runFiles.html));
  process.exitCode = exitOf(load, run.held, verdict.verdict);
}

/** Returns the exit status: an interruption goes before a failure, and that before what did not hold or was not judged. */
export function exitOf(
  { interrupted, failure }: { readonly interrupted: boolean; readonly failure: string | null },
  isHeld: boolean,
  verdict: Verdict["verdict"],
): number {
  if (interrupted) return INTERRUPTED;
  if (failure !== null) return UNREACHED;
  return isHeld ? verdictStatus[verdict] : 1;
}

/** Reads everything that the command line names, before the run starts anything. */
export async function loadOptions(args: Args) {
  const { seed, duration, timeout, keepAlive, shared, compare } = args;
  const limits = await limitsOfLoad(args);
  return {
    ...(await readConnection(args, args.target)),
    adjustments: {
      seed: seed === undefined ? undefined : requireSeed(seed),
      durationMs: duration === undefined ? undefined : requireDuration("--duration", duration),
      ...limits,
    },
    target: await targetOf(args, limits.policy),
    timeoutMs: timeout === undefined ? undefined : requireDuration("--timeout", timeout),
    keepAlive,
    shared,
    compare,
  };
}

export function repeatLoad(args: Args, seed: number): string {
  return repeatCommand("load", args.scenario, {
    seed: args.seed ?? seed,
    target: args.target,
    "allow-host": args.allowHost,
    tokens: args.tokens,
    "graphql-url": args.graphqlUrl,
    ca: args.ca,
    cert: args.cert,
    key: args.key,
    driver: args.driver,
    rules: args.rules,
    "as-window": args.asWindow,
    duration: args.duration,
    timeout: args.timeout,
    "keep-alive": args.keepAlive,
    shared: args.shared,
  });
}

/** Reads limits. A started deployment enforces only what the engine can; a given target enforces its own limits. */
async function limitsOfLoad(args: Args): Promise<Awaited<ReturnType<typeof limitsOf>>> {
  if (args.target === undefined || args.rules === undefined)
    return limitsOf(args, commandWords("load", args.scenario));
  return readLimits(args.rules);
}

async function targetOf(args: Args, policy: Policy | undefined): Promise<LoadOptions["target"]> {
  const { target: url, tokens, allowHost, graphqlUrl } = args;
  if (url !== undefined) {
    const to = { url, allowHost, graphqlUrl };
    if (tokens !== undefined && policy !== undefined)
      return { ...to, tokens: await readPolicyTokens(tokens, policy.auth.attributes) };
    if (tokens !== undefined) return { ...to, tokens: await readTokens(tokens) };
    throw new SpillwayError("USAGE", "--target needs --tokens", {
      hint: "npx spillway serve says where it wrote its own; a tokens file names a token for each user",
    });
  }
  const ofTargets = { "--tokens": tokens, "--allow-host": allowHost, "--graphql-url": graphqlUrl };
  for (const [option, value] of Object.entries(ofTargets))
    if (value !== undefined)
      throw new SpillwayError("USAGE", `${option} needs --target`, {
        hint: "without a target the reference deployment is started, with tokens of its own",
      });
  const { serve, servePolicy } = await import("../service/serve.ts");
  return {
    start: ({ rules, tokens: made, policy: own }) =>
      own === undefined ? serve({ rules, tokens: made, port: 0 }) : servePolicy({ ...own, port: 0 }),
  };
}
