// `spillway simulate --swarm N`: whole worlds, every law judged in each; of one that breaks a law, a scenario's file
// that shows it, and the command that repeats it.
import { join } from "node:path";
import { type StateName, stateNames, stateWords } from "../../sim/swarm/states.ts";
import type { FailingWorld, SwarmProgress, SwarmResult } from "../../sim/swarm/swarm.ts";
import { SpillwayError } from "../rules/errors.ts";
import { count, counted } from "../rules/words.ts";
import { pc } from "./colors.ts";
import type { FaultWords } from "./fault-list.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { resultOf } from "./job-events.ts";
import { startJobs } from "./job-thread.ts";
import { Pace, paceText } from "./pace.ts";
import { shellCommand } from "./run-place.ts";
import type { Terminal } from "./terminal.ts";

export interface SwarmArgs {
  readonly swarm: number;
  readonly seed: number;
  readonly out?: string | undefined;
  readonly force?: boolean | undefined;
  readonly adapter?: string | undefined;
  readonly requireStates?: boolean | undefined;
  /** Time that importing the adapter may take, ms. */
  readonly importMs: number;
}

/** Runs a swarm and says what it came to. Nothing is written where no world fails, but into `--out`. */
export async function simulateSwarm(
  args: SwarmArgs,
  words: FaultWords | null,
  terminal: Terminal,
): Promise<void> {
  const worlds = requireWorlds(args.swarm);
  const { seed, adapter, importMs } = args;
  const target = shellCommand([
    ...(words === null ? [] : ["--fault", words.text]),
    ...(adapter === undefined ? [] : ["--adapter", adapter]),
  ]);
  const interrupt = onInterrupt();
  const { signal } = interrupt;
  try {
    const threads = await startJobs({ adapter }, { importMs, signal });
    try {
      const startedMs = Date.now();
      const events = threads.thread.run("swarm", { worlds, seed, fault: words?.text });
      const result = await resultOf(events, progressOf(worlds, terminal));
      terminal.progress(null);
      const files = await write(result, args);
      say(terminal, result, { seconds: (Date.now() - startedMs) / 1000, files, target });
      terminal.result({ ...result, files });
      const missed = args.requireStates === true && result.unreached.length > 0;
      const isOver = result.failures.length > 0 || (missed && !result.interrupted);
      process.exitCode = isOver ? 1 : result.interrupted ? INTERRUPTED : 0;
    } finally {
      await threads.close();
    }
  } finally {
    interrupt.release();
  }
}

function requireWorlds(worlds: number): number {
  if (Number.isSafeInteger(worlds) && worlds >= 1 && worlds <= 10_000_000) return worlds;
  throw new SpillwayError("USAGE", "the swarm cannot be simulated", {
    problems: [{ path: "--swarm", got: String(worlds), allowed: "a number of worlds, from 1 to 10,000,000" }],
  });
}

/** Shows the worlds that are done, worlds a second and the time left. */
function progressOf(worlds: number, terminal: Terminal): (progress: SwarmProgress) => void {
  const pace = new Pace(Date.now);
  return ({ worlds: done, calls, shrinking }) => {
    if (shrinking !== null) return terminal.progress(`world ${shrinking} fails: making it smaller`);
    const speed = paceText(pace.at(done / worlds, done), "world");
    terminal.progress(`${count(done)} of ${counted(worlds, "world")}, ${counted(calls, "call")}${speed}`);
  };
}

/** @returns the files of the worlds that fail, in their order */
async function write(result: SwarmResult, { out, force }: SwarmArgs): Promise<string[]> {
  if (out === undefined && result.failures.length === 0) return [];
  const { openPlace } = await import("./open-place.ts");
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
  /** The options that name what was simulated. */
  readonly target: string;
}

function say(terminal: Terminal, result: SwarmResult, { seconds, files, target }: Said): void {
  const { seed, worlds, calls, windows, failures, interrupted, unreached } = result;
  const speed = `${(worlds / Math.max(0.001, seconds)).toFixed(1)} worlds/s`;
  terminal.say(
    `${pc.bold("swarm")}: ${counted(worlds, "world")} of seed ${seed}, ${counted(calls, "call")}, ${counted(windows, "window")} judged, ${seconds.toFixed(1)} s (${speed})`,
  );
  for (const [index, failure] of failures.entries())
    sayFailure(terminal, failure, files[index] ?? "", target);
  if (failures.length === 0) terminal.say(`  ${pc.green("No law is broken")} in any of them.`);
  sayStates(terminal, result);
  // A swarm that ended at a world that fails was not to reach them all.
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
  const widest = Math.max(0, ...reached.map((name) => count(states[name]).length));
  const line = (name: StateName): string => `    ${count(states[name]).padStart(widest)} ${stateWords[name]}`;
  if (reached.length > 0) terminal.say("  reached, so many times:");
  for (const name of reached) terminal.say(line(name));
}
