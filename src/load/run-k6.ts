// Runs k6 over a bundle as a child process, and tells truly how it ended. k6's exit status is only one witness among
// several: k6 ends with 0 even if the disk was full or a script threw.

import { type ChildProcess, spawn } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unwritable } from "../files/unwritable.ts";
import { makeOwnFolder } from "../files/whole-file.ts";
import { SpillwayError } from "../rules/errors.ts";
import { RawProgress, type RunProgress } from "./raw-progress.ts";

export interface RunK6Options {
  readonly k6: string;
  /** Path of the bundle. */
  readonly script: string;
  /** Folder of k6's files; made if need be. */
  readonly folder: string;
  /** The script's `__ENV`. It goes through the environment, so no process list shows it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Signal that asks k6 to end. k6 writes its summary first. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

/** Names of the files in k6's folder. */
export const k6Files = {
  /** Lines that the clients wrote; deleted once the trace is made of them. */
  raw: "raw.ndjson",
  summary: "summary.json",
  dashboard: "dashboard.html",
  stderr: "stderr.txt",
} as const;

/** k6's exit statuses that are no failures of its own (its package `errext/exitcodes` has all). */
export const k6Exit = { thresholds: 99, interrupted: 105 } as const;

export interface K6Outcome {
  /** `null` if a signal ended k6. */
  readonly exitCode: number | null;
  readonly killedBy: NodeJS.Signals | null;
  /** True if `signal` told k6 to stop. */
  readonly interrupted: boolean;
  /** Number of lines that k6 could not write. */
  readonly linesFailed: number;
  /** First hundred kinds of k6's complaints, each with its count. */
  readonly complaints: readonly string[];
  /** k6's own figures (its `handleSummary` data); `null` if k6 ended before it wrote them. */
  readonly summary: K6Summary | null;
}

/** Part of k6's summary that is read here. */
export interface K6Summary {
  readonly root_group?: { readonly checks: readonly { readonly name: string; readonly fails: number }[] };
  readonly metrics: Readonly<
    Record<
      string,
      {
        readonly values: Readonly<Record<string, number>>;
        readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
      }
    >
  >;
}

/**
 * Returns k6's environment: the user's without proxies (a run names its own) and `K6_*` (`K6_ITERATIONS` turned four
 * clients into two). The dashboard needs a period of 1 s, or short runs are "not enough data", and no port.
 */
function k6Environment(
  env: NodeJS.ProcessEnv,
  variables: Readonly<Record<string, string>>,
  folder: string,
): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^(?:K6_|(?:https?|no)_proxy$)/i.test(name));
  return {
    ...Object.fromEntries(kept),
    ...variables,
    K6_WEB_DASHBOARD: "true",
    K6_WEB_DASHBOARD_PERIOD: "1s",
    K6_WEB_DASHBOARD_PORT: "-1",
    K6_WEB_DASHBOARD_EXPORT: join(folder, k6Files.dashboard),
  };
}

/**
 * Returns flags that 1.x and 2.x both have. Without `--address ""`, 1.x opens port 6565, and a second k6 dies of it.
 * Without `--config`, the user's own defaults (`rps`, `hosts`, ...) would change the run.
 */
function k6Words({ script, folder }: RunK6Options, config: string): string[] {
  const raw = ["--log-format", "raw", "--console-output", join(folder, k6Files.raw)];
  return [
    "run",
    "--quiet",
    "--no-color",
    "--address",
    "",
    "--no-usage-report",
    "--config",
    config,
    ...raw,
    script,
  ];
}

/**
 * Runs k6 to its end, and keeps what was written, however k6 ends.
 * @throws SpillwayError `FILE_UNWRITABLE` if the folder cannot be made, `K6_FAILED` if k6 cannot be started
 */
export async function runK6(options: RunK6Options): Promise<K6Outcome> {
  const { folder } = options;
  const config = join(folder, "config.json");
  await prepare(folder, config);
  const progress = new RawProgress(join(folder, k6Files.raw), options.onProgress);
  const errors = new ErrorLines();
  try {
    const ended = await runChild(options, config, errors);
    return {
      ...ended,
      interrupted: options.signal?.aborted === true,
      linesFailed: errors.linesFailed,
      complaints: errors.complaints(),
      summary: await readSummary(join(folder, k6Files.summary)),
    };
  } finally {
    await progress.end();
    await rm(config, { force: true });
    if (errors.count > 0) await writeFile(join(folder, k6Files.stderr), errors.text());
  }
}

async function prepare(folder: string, config: string): Promise<void> {
  await makeOwnFolder(folder);
  try {
    // k6 appends to files that are there.
    for (const name of Object.values(k6Files)) await rm(join(folder, name), { force: true });
    await writeFile(join(folder, k6Files.raw), "");
    await writeFile(config, "{}\n");
  } catch (cause) {
    const { path = folder } = cause as NodeJS.ErrnoException;
    throw unwritable("the run folder", path, cause);
  }
}

/**
 * Runs k6 in a process group of its own. A terminal sends Ctrl-C to its whole group. k6 would get it twice, from the
 * terminal and from us. The second one makes k6 quit without a summary.
 */
function runChild(
  options: RunK6Options,
  config: string,
  errors: ErrorLines,
): Promise<{ exitCode: number | null; killedBy: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(options.k6, k6Words(options, config), {
      detached: process.platform !== "win32",
      env: k6Environment(process.env, options.variables, options.folder),
      stdio: ["ignore", "ignore", "pipe"],
    });
    const stop = (): void => void child.kill("SIGINT");
    const kill = (): void => void child.kill("SIGKILL");
    options.signal?.addEventListener("abort", stop);
    process.once("exit", kill);
    child.once("spawn", () => options.signal?.aborted === true && stop());
    child.stderr?.setEncoding("utf8").on("data", (text: string) => errors.add(text));
    const release = (): void => {
      options.signal?.removeEventListener("abort", stop);
      process.off("exit", kill);
    };
    child.once("error", (cause) => {
      release();
      reject(new SpillwayError("K6_FAILED", `${options.k6} cannot be started: ${cause.message}`, { cause }));
    });
    child.once("close", (exitCode, killedBy) => {
      release();
      resolve({ exitCode, killedBy });
    });
  });
}

async function readSummary(path: string): Promise<K6Summary | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as K6Summary;
  } catch {
    // The file is missing or cut off: k6 was killed, or the disk was full.
    return null;
  }
}

// k6's lines on standard error, in bounded memory: a full disk gives one line for each lost record, and each client
// that is cut off gives one.
const distinctMost = 100;
const lineMost = 1_000;

/** Lines that are no complaints: the run accounts for each elsewhere. */
const expected: readonly RegExp[] = [
  /^$/,
  // Time-outs and broken connections: the trace has a line for each.
  /^Request Failed$/,
  // Clients that were cut off have no end line.
  /^setTimeout \d+ was stopped because the VU iteration was interrupted$/,
  /^thresholds on metrics? .* (?:has|have) been crossed$/,
  /^test run was aborted because k6 received/,
  /^No script iterations fully finished/,
  // A run of two or three seconds has no dashboard.
  /^The test run was short, report generation was skipped/,
];

/** Counts equal lines, and keeps the first hundred kinds. */
export class ErrorLines {
  /** Number of lines that k6 could not write to the raw file. */
  linesFailed = 0;
  count = 0;
  readonly #kinds = new Map<string, number>();
  #rest = "";

  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = (lines.pop() ?? "").slice(0, lineMost);
    for (const line of lines) this.#addLine(line.trimEnd());
  }

  /** Returns all kinds, one line for each, with its count. */
  text(): string {
    return [...this.#all()].map(([line, times]) => `${times} x ${line}\n`).join("");
  }

  /** Returns the lines that the run does not account for elsewhere. */
  complaints(): string[] {
    return [...this.#all()]
      .filter(([line]) => !expected.some((pattern) => pattern.test(line)))
      .map(([line, times]) => (times === 1 ? line : `${line} (${times} times)`));
  }

  #all(): Map<string, number> {
    if (this.#rest !== "") this.#addLine(this.#rest);
    this.#rest = "";
    return this.#kinds;
  }

  #addLine(line: string): void {
    this.count += 1;
    // k6's logger writes this for each line that it cannot write, and goes on.
    if (line.startsWith("Failed to write to log")) this.linesFailed += 1;
    const kind = line.slice(0, lineMost);
    const times = this.#kinds.get(kind);
    if (times !== undefined || this.#kinds.size < distinctMost) this.#kinds.set(kind, (times ?? 0) + 1);
  }
}
