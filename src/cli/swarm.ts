// `spillway swarm`: draws whole worlds, and judges every law in each. For a world that breaks a law it writes a
// scenario file that shows the violation. It also prints the command that repeats the world.
import { join } from "node:path";
import { type StateName, stateNames, stateWords } from "../../sim/swarm/states.ts";
import type { FailingWorld, SwarmProgress, SwarmResult } from "../../sim/swarm/swarm.ts";
import { count, counted } from "../rules/words.ts";
import { INTERRUPTED } from "../runs/interrupt.ts";
import { resultOf } from "../runs/job-events.ts";
import { startJobs } from "../runs/job-thread.ts";
import { Pace, paceText } from "../runs/pace.ts";
import { shellCommand } from "../runs/run-place.ts";
import { pc } from "./colors.ts";
import { chooseFault, type FaultWords, faultOption, faultWords } from "./fault-list.ts";
import {
  adapterOption,
  codeNote,
  importMsOf,
  importTimeout,
  requireSeed,
  requireWhole,
  runOptions,
} from "./run-options.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { type ArgsOf, defineVerb, type Operand, option, type VerbOptions } from "./verb.ts";

const worldsMost = 10_000_000;

const operands = [
  { name: "worlds", required: false, describe: "number of worlds to draw [default: 100]" },
] as const satisfies readonly Operand[];

const options = {
  seed: option.number("N", "draw the worlds from seed N", { default: 1 }),
  fault: faultOption,
  adapter: adapterOption,
  "require-states": option.flag("end with exit code 1 if an interesting state was never reached"),
  out: option.text("DIR", "write the result to DIR [default: reports/swarm-SEED-TIME, if a world fails]"),
  force: runOptions.force,
  "import-timeout": importTimeout,
} as const satisfies VerbOptions;

type Args = ArgsOf<typeof options, typeof operands>;

export const verb = defineVerb({
  name: "swarm",
  summary: "draw whole worlds at random, judge every law in each; make one that breaks a law smaller",
  notes: [codeNote],
  operands,
  options,
  examples: {
    "$0 swarm 1000 --seed 7": "draw a thousand worlds",
    "$0 swarm --fault one-extra": "look for a known bug; print the commands that repeat it",
    "$0 swarm 200 --adapter my-limiter.ts": "put your own limiter into every world",
    "$0 simulate --world 7/13": "run the world of number 13 once more, with a run folder",
  },
  handler: async (args) => {
    const terminal = openTerminal(args.json);
    const fault = await chooseFault(args.fault, terminal);
    if (fault === "list") return;
    const words = fault === null ? null : await faultWords(fault, "simulate");
    const seed = requireSeed(args.seed ?? 1);
    await untilInterrupted(terminal, (signal) => runSwarm({ ...args, seed }, words, terminal, signal));
  },
});

/** Runs a swarm, and says the result. If no world fails, it writes only into `--out`. */
async function runSwarm(
  args: Args & { readonly seed: number },
  words: FaultWords | null,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  const worlds = requireWhole("WORLDS", args.worlds ?? 100, 1, worldsMost);
  const { seed, adapter } = args;
  const target = shellCommand([
    ...(words === null ? [] : ["--fault", words.text]),
    ...(adapter === undefined ? [] : ["--adapter", adapter]),
  ]);
  const threads = await startJobs({ adapter }, { importMs: importMsOf(args), signal });
  try {
    const startedMs = Date.now();
    const events = threads.thread.run("swarm", { worlds, seed, fault: words?.text });
    const result = await resultOf(events, progressOf(worlds, terminal));
    const files = await write(result, args);
    saySwarm(terminal, result, { seconds: (Date.now() - startedMs) / 1000, files, target });
    terminal.result({ ...result, files });
    process.exitCode = exitOf(result, args.requireStates === true);
  } finally {
    await threads.close();
  }
}

/**
 * Returns the exit status: 1 for a world that fails, or a state that a swarm missed to its end; 130 interrupted.
 * @param needsStates true if every state must be reached
 */
export function exitOf({ failures, unreached, interrupted }: SwarmResult, needsStates: boolean): number {
  if (failures.length > 0) return 1;
  if (interrupted) return INTERRUPTED;
  return needsStates && unreached.length > 0 ? 1 : 0;
}

/** Shows the number of worlds done, worlds a second and the time left. */
export function progressOf(
  worlds: number,
  terminal: Terminal,
  nowMs: () => number = Date.now,
): (progress: SwarmProgress) => void {
  const pace = new Pace(nowMs);
  return ({ worlds: done, calls, shrinking }) => {
    if (shrinking !== null) return terminal.progress(`world ${shrinking} fails: making it smaller`);
    const speed = paceText(pace.at(done / worlds, done), "world");
    terminal.progress(`${count(done)} of ${counted(worlds, "world")}, ${counted(calls, "call")}${speed}`);
  };
}

/** Writes the result. @returns the files of the failing worlds, in their order */
export async function write(
  result: SwarmResult,
  { out, force }: Pick<Args, "out" | "force">,
): Promise<string[]> {
  if (out === undefined && result.failures.length === 0) return [];
  const { openPlace } = await import("../runs/open-place.ts");
  const { json, placeResult, resultFiles } = await import("../report/result-writer.ts");
  const writer = await openPlace({ out, name: `swarm-${result.seed}`, force }, "swarm");
  try {
    const names = result.failures.map(({ world }) => `world-${world.replace("/", "-")}.ts`);
    for (const [index, { shrunk }] of result.failures.entries())
      await writer.write(names[index] ?? "", shrunk.source);
    await writer.write(resultFiles.swarm, json(result));
    await placeResult(writer);
    return names.map((name) => join(writer.folder, name));
  } finally {
    await writer.close();
  }
}

interface Said {
  readonly seconds: number;
  readonly files: readonly string[];
  /** Options that name the simulated deployment. */
  readonly target: string;
}

export function saySwarm(terminal: Terminal, result: SwarmResult, { seconds, files, target }: Said): void {
  const { seed, worlds, calls, windows, failures, interrupted, unreached } = result;
  const speed = `${(worlds / Math.max(0.001, seconds)).toFixed(1)} worlds/s`;
  terminal.say(
    `${pc.bold("swarm")}: ${counted(worlds, "world")} of seed ${seed}, ${counted(calls, "call")}, ${counted(windows, "window")} judged, ${seconds.toFixed(1)} s (${speed})`,
  );
  for (const [index, failure] of failures.entries())
    sayFailure(terminal, failure, files[index] ?? "", target);
  if (failures.length === 0) terminal.say(`  ${pc.green("No law is broken")} in any of them.`);
  sayStates(terminal, result);
  // A swarm that ended at a failing world could not reach every state.
  if (unreached.length > 0 && failures.length === 0)
    terminal.say(
      `  ${pc.yellow("never reached")}: ${unreached.map((name) => stateWords[name]).join("; ")}. More worlds may.`,
    );
  if (interrupted) terminal.say(`  ${pc.yellow("Interrupted")}: what was done is kept.`);
}

function sayFailure(
  terminal: Terminal,
  { world, law, suspects, explanation, calls, populations, shrunk }: FailingWorld,
  file: string,
  target: string,
): void {
  const repeat = (words: readonly string[]): string =>
    [shellCommand(["npx", "spillway", "simulate", ...words]), target].join(" ").trimEnd();
  const what = law === null ? "the limiter fails" : `${law} is broken`;
  const lines = [
    `${pc.red(`World ${world}: ${what}`)}: ${explanation}`,
    ...(suspects.length === 0 ? [] : [`suspects: ${suspects.slice(0, 3).join(", ")}`]),
    `repeat it: ${repeat(["--world", world])}`,
    `made smaller in ${counted(shrunk.tried, "try")}: from ${counted(populations, "population")} and ${counted(calls, "call")} to ${count(shrunk.populations)} and ${count(shrunk.calls)}`,
    `  ${shrunk.explanation}`,
    `repeat that: ${repeat([file])}`,
  ];
  for (const line of lines) terminal.say(`  ${line}`);
}

function sayStates(terminal: Terminal, { states }: SwarmResult): void {
  const reached = stateNames.filter((name) => states[name] > 0);
  const widest = Math.max(...reached.map((name) => count(states[name]).length));
  const line = (name: StateName): string => `    ${count(states[name]).padStart(widest)} ${stateWords[name]}`;
  if (reached.length > 0) terminal.say("  reached, so many times:");
  for (const name of reached) terminal.say(line(name));
}
