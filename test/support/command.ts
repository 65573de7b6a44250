// Runs the command line: the built program in a child process, as a user does, or faster in this process.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
// Loaded now: esbuild keeps the working folder of that moment, and a command's may be gone when another file bundles.
import "esbuild";
import { vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { runJobsHere } from "./job-thread-here.mjs";

export const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Signal that ended the command; `null` if it ended by itself. */
  readonly killedBy: NodeJS.Signals | null;
}

/** Signals to send as soon as standard error contains the word. */
export interface SignalsAfter {
  readonly after: string;
  readonly send: readonly NodeJS.Signals[];
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** A program that starts the command, and its words before Node's. */
  readonly program?: readonly string[];
  readonly signals?: SignalsAfter;
}

/** Runs `spillway` with these words to its end. */
export function spillway(
  words: readonly string[],
  { program = [], signals, ...options }: RunOptions = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const [first = "", ...rest] = [...program, process.execPath, main, ...words];
    const child = spawn(first, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      ...options,
    });
    let stdout = "";
    let stderr = "";
    let isSent = signals === undefined;
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
      if (isSent || signals === undefined || !stderr.includes(signals.after)) return;
      isSent = true;
      for (const signal of signals.send) child.kill(signal);
    });
    child.on("error", reject);
    child.on("close", (code, killedBy) => resolve({ code, stdout, stderr, killedBy }));
  });
}

let last: Promise<unknown> = Promise.resolve();

export interface HereOptions {
  readonly cwd?: string;
  /** Environment variables, in addition to this process's, while the command runs. */
  readonly env?: NodeJS.ProcessEnv;
  /** True if jobs run in threads, as users' do: for misbehaving code, and for what is said of threads. Default: `false`. */
  readonly threads?: boolean;
}

/**
 * Runs a command in this process, as its program does. Commands begun together run one after the other: a process has
 * one working folder, one standard output and one exit status.
 */
export function spillwayHere(words: readonly string[], options: HereOptions = {}): Promise<Ended> {
  const ended = last.then(() => runHere(words, options));
  last = ended.catch(() => undefined);
  return ended;
}

async function runHere(
  words: readonly string[],
  { cwd = process.cwd(), env = {}, threads = false }: HereOptions,
): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const before = { cwd: process.cwd(), code: process.exitCode, env: { ...process.env } };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      said[name] += text;
      return true;
    }),
  );
  process.chdir(cwd);
  process.exitCode = 0;
  Object.assign(process.env, env);
  const backToThreads = threads ? () => undefined : runJobsHere();
  try {
    await runProgram(words);
    return { ...said, code: Number(process.exitCode), killedBy: null };
  } finally {
    process.chdir(before.cwd);
    process.exitCode = before.code;
    for (const name of Object.keys(env)) delete process.env[name];
    Object.assign(process.env, before.env);
    for (const spy of spies) spy.mockRestore();
    backToThreads();
  }
}
