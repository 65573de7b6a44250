#!/usr/bin/env node
// The command line: one file a verb. This file parses, reports errors and sets the exit status; the verbs
// load what they need when they run, so that `--help` needs neither Fastify nor esbuild.
import yargs, { type Argv } from "yargs";
import { hideBin } from "yargs/helpers";
import { closest } from "../rules/closest.ts";
import { SpillwayError } from "../rules/errors.ts";
import { command as bundle } from "./bundle.ts";
import { command as check } from "./check.ts";
import { command as demo } from "./demo.ts";
import { command as doctor } from "./doctor.ts";
import { command as fit } from "./fit.ts";
import { command as init } from "./init.ts";
import { command as load } from "./load.ts";
import { command as plan } from "./plan.ts";
import { command as probe } from "./probe.ts";
import { command as replay } from "./replay.ts";
import { command as report } from "./report.ts";
import { command as serve } from "./serve.ts";
import { command as simulate } from "./simulate.ts";
import { command as status } from "./status.ts";
import { describeError } from "./terminal.ts";
import { command as verify } from "./verify.ts";
import { version } from "./version.ts";

const epilogue = `Exit status: 0 held, 1 a law or an expectation was violated, 2 usage or bad input,
3 the target or k6 could not be reached or run, 130 interrupted (what was done is kept), 70 a bug in spillway.`;

/** Options that may be given several times, of the verb before them. */
const repeatable = new Set([
  "check law",
  "fit files",
  "plan until",
  "plan vary",
  "replay expect",
  "replay files",
  "replay set",
  "verify out",
]);

function rejectOddValues(argv: Record<string, unknown> & { readonly _: readonly unknown[] }): void {
  const [verb] = argv._;
  for (const [name, value] of Object.entries(argv)) {
    if (value === "" && name !== "$0")
      throw new SpillwayError("USAGE", `--${name} needs a value`, {
        hint: "spillway VERB --help shows the options",
      });
    if (Array.isArray(value) && name !== "_" && !repeatable.has(`${verb} ${name}`))
      throw new SpillwayError("USAGE", `--${name} was given ${value.length} times; once is allowed`);
    if (typeof value === "number" && Number.isNaN(value))
      throw new SpillwayError("USAGE", `--${name} needs a number`);
  }
}

function parser(): Argv {
  return yargs()
    .scriptName("spillway")
    .usage("$0 VERB [options]\n\nChecks, simulates and load-tests API rate limits.")
    .command(demo)
    .command(check)
    .command(simulate)
    .command(plan)
    .command(replay)
    .command(fit)
    .command(serve)
    .command(load)
    .command(bundle)
    .command(verify)
    .command(probe)
    .command(status)
    .command(report)
    .command(init)
    .command(doctor)
    .option("json", {
      type: "boolean",
      global: true,
      describe: "print the result as JSON, and nothing else, on standard output",
    })
    .option("debug", { type: "boolean", global: true, describe: "print stack traces of errors" })
    .example("$0 demo", "the whole pipe on loopback, under a minute")
    .example("$0 check --runs 1000", "look for a counterexample to each law of the engine")
    .example("$0 simulate ci-fleet", "a scenario in virtual time, judged, with a report")
    .example("$0 load herd", "the same kind of clients for real, by k6, against a service started for it")
    .epilogue(epilogue)
    .strict()
    .recommendCommands()
    .demandCommand(1, "name a verb")
    .middleware(rejectOddValues)
    .version(version)
    .help()
    .alias("help", "h")
    .wrap(Math.min(110, process.stdout.columns ?? 100))
    .exitProcess(false)
    .fail((message, error?: Error) => {
      if (error !== undefined && error.name !== "YError") throw error;
      throw new SpillwayError("USAGE", message ?? error?.message ?? "these words cannot be used");
    });
}

/** What yargs complained of, with what it lacks: the option that was meant, from the help of the verb. */
async function withSuggestion(error: SpillwayError, words: readonly string[]): Promise<SpillwayError> {
  if (error.code !== "USAGE" || error.problems.length > 0 || error.hint !== undefined) return error;
  const unknown = /^Unknown arguments?: ([\w-]+)/.exec(error.message)?.[1];
  const verb = words.find((word) => !word.startsWith("-"));
  let known: readonly string[] = [];
  if (unknown !== undefined && verb !== undefined)
    await parser().parseAsync([verb, "--help"], {}, (_error, _argv, output) => {
      known = [...output.matchAll(/--([a-z][\w-]*)/g)].map(([, name]) => name ?? "");
    });
  const meant = unknown === undefined ? null : closest(unknown, known);
  const hint =
    meant === null
      ? "spillway --help shows the verbs, spillway VERB --help the options of one"
      : `did you mean --${meant}?`;
  return new SpillwayError("USAGE", error.message, { hint });
}

async function main(words: readonly string[]): Promise<void> {
  const debug = words.includes("--debug");
  try {
    await parser().parseAsync([...words]);
  } catch (thrown) {
    if (debug) console.error(thrown);
    if (!(thrown instanceof SpillwayError)) {
      process.exitCode = 70;
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      console.error(`unexpected error: ${text}\nThis is a bug in spillway; --debug shows where.`);
      return;
    }
    const error = await withSuggestion(thrown, words);
    process.exitCode = error.exitCode;
    console.error(describeError(error));
  }
}

// A reader that has seen enough (`| head`) closes the pipe: that ends the command, and is no error of its own.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    throw error;
  });

await main(hideBin(process.argv));
