// Finds k6, or builds it: `K6_PATH`, `PATH`, the tool's own cache, and where Go is there, `go install` into
// that cache. The first one found decides: an unusable one is an error rather than a reason to look further,
// or a run would use another k6 than the one the user meant.
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { SpillwayError } from "../rules/errors.ts";

/** What is built where there is none. */
export const k6Built = "v1.8.1";
/** The oldest major version that works: native modules, `k6/timers`' globals, `--console-output`. */
const k6MajorLeast = 1;
const goLeast = { major: 1, minor: 25 };

type Environment = Readonly<Record<string, string | undefined>>;

/** A k6 that can be run. */
export interface K6Binary {
  readonly path: string;
  /** `1.8.1`. */
  readonly version: string;
  /** Where it was found. */
  readonly origin: "K6_PATH" | "PATH" | "cache" | "built";
}

export interface FindK6Options {
  readonly env?: Environment;
  /** A line for people while k6 is being built, some times a second. */
  readonly onProgress?: (text: string) => void;
  readonly signal?: AbortSignal;
}

const executable = process.platform === "win32" ? "k6.exe" : "k6";

/** The folder that spillway keeps programs in: `XDG_CACHE_HOME/spillway/bin`, or the one under `~/.cache`. */
export function cacheFolder(env: Environment = process.env): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "spillway", "bin");
}

/** How to get k6 on this machine, a line each; what `doctor` says and every `K6_MISSING` ends with. */
export function k6Advice(platform: NodeJS.Platform = process.platform): readonly string[] {
  const packages: Partial<Record<NodeJS.Platform, string>> = {
    darwin: "brew install k6",
    win32: "winget install GrafanaLabs.k6",
  };
  return [
    `package manager: ${packages[platform] ?? "https://grafana.com/docs/k6/latest/set-up/install-k6/ (apt, dnf, snap)"}`,
    `Go ${goLeast.major}.${goLeast.minor} or newer: install it from https://go.dev/dl/, and spillway builds k6 itself`,
    'container: spillway bundle SCENARIO -o run.js, then docker run --rm --network host -v "$PWD:/w" grafana/k6 run -e TARGET=URL /w/run.js',
    "or name the program: K6_PATH=/path/to/k6",
  ];
}

const missing = (summary: string, cause?: unknown): SpillwayError =>
  new SpillwayError("K6_MISSING", summary, { hint: ["get k6 by", ...k6Advice()].join("\n  "), cause });

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The first program of that name in `PATH`, or `null`. */
async function whichProgram(name: string, env: Environment = process.env): Promise<string | null> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && (await isProgram(join(folder, name)))) return join(folder, name);
  }
  return null;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program to its end and keeps the last of what it said; a program that cannot be started throws. */
function run(
  path: string,
  words: readonly string[],
  options: {
    env?: NodeJS.ProcessEnv;
    cwd?: string;
    signal?: AbortSignal;
    timeoutMs?: number;
    onLine?: (line: string) => void;
  },
): Promise<Ended> {
  const keptMost = 20_000;
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(path, words, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    });
    let output = "";
    const listen = (text: string): void => {
      output = (output + text).slice(-keptMost);
      for (const line of text.split("\n")) if (line !== "") options.onLine?.(line);
    };
    child.stdout?.setEncoding("utf8").on("data", listen);
    child.stderr?.setEncoding("utf8").on("data", listen);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** Asks a k6 for its version; what cannot be run, is no k6 or is too old is a `K6_MISSING`. */
async function examine(path: string, origin: K6Binary["origin"], signal?: AbortSignal): Promise<K6Binary> {
  const asked = await run(path, ["version"], {
    timeoutMs: 20_000,
    ...(signal === undefined ? {} : { signal }),
  }).catch((cause: NodeJS.ErrnoException) => {
    throw missing(`${path} (from ${origin}) cannot be run: ${cause.code ?? cause.message}`, cause);
  });
  const found = /^k6(?:\.exe)? v(\d+)\.(\d+)\.(\d+)/m.exec(asked.output);
  if (found === null)
    throw missing(`${path} (from ${origin}) is no k6: "k6 version" ended with ${asked.code ?? "a signal"}`);
  const version = found.slice(1).join(".");
  if (Number(found[1]) < k6MajorLeast)
    throw missing(
      `${path} (from ${origin}) is k6 ${version}, which is too old: ${k6MajorLeast}.0 or newer is needed`,
    );
  return { path, version, origin };
}

/** What is installed already, or `null`; an unusable one that the user named or has in `PATH` throws. */
export async function installedK6(
  env: Environment = process.env,
  signal?: AbortSignal,
): Promise<K6Binary | null> {
  const named = env["K6_PATH"];
  if (named !== undefined && named !== "") return examine(named, "K6_PATH", signal);
  const inPath = await whichProgram(executable, env);
  if (inPath !== null) return examine(inPath, "PATH", signal);
  const cached = join(cacheFolder(env), executable);
  return (await isProgram(cached)) ? examine(cached, "cache", signal) : null;
}

/** The Go that could build k6: its path and version, or `null` where there is none or it is too old. */
export async function usableGo(
  env: Environment = process.env,
): Promise<{ readonly path: string; readonly version: string } | null> {
  const path = await whichProgram(process.platform === "win32" ? "go.exe" : "go", env);
  if (path === null) return null;
  const asked = await run(path, ["env", "GOVERSION"], { timeoutMs: 20_000 }).catch(() => null);
  const [, major = "0", minor = "0"] = /go(\d+)\.(\d+)/.exec(asked?.output ?? "") ?? [];
  const enough =
    Number(major) > goLeast.major || (Number(major) === goLeast.major && Number(minor) >= goLeast.minor);
  return enough ? { path, version: asked?.output.trim().replace(/^go/, "") ?? "" } : null;
}

/** Builds k6 beside its place and moves it there whole, so that a second build or a kill leaves no half one. */
async function buildK6(go: string, env: Environment, options: FindK6Options): Promise<K6Binary> {
  const folder = cacheFolder(env);
  await mkdir(folder, { recursive: true });
  const workshop = await mkdtemp(join(folder, ".build-"));
  let packages = 0;
  options.onProgress?.(`building k6 ${k6Built} with Go, about a minute, once`);
  try {
    const built = await run(go, ["install", "-v", `go.k6.io/k6@${k6Built}`], {
      env: { ...env, GOBIN: workshop },
      cwd: workshop,
      onLine: () => {
        packages += 1;
        options.onProgress?.(`building k6 ${k6Built} with Go, once: ${packages} steps done`);
      },
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (built.code !== 0) {
      const last = built.output.trim().split("\n").slice(-3).join("\n  ");
      throw missing(`k6 is not installed, and building it with Go failed:\n  ${last}`);
    }
    const made = await examine(join(workshop, executable), "built", options.signal);
    const path = join(folder, executable);
    await rename(made.path, path);
    return { ...made, path };
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

/**
 * A k6 that works: 1.x or 2.x.
 * @throws SpillwayError `K6_MISSING` (exit status 3): none and no Go, or one that is too old or cannot be run
 */
export async function findK6(options: FindK6Options = {}): Promise<K6Binary> {
  const env = options.env ?? process.env;
  const installed = await installedK6(env, options.signal);
  if (installed !== null) return installed;
  const go = await usableGo(env);
  if (go === null)
    throw missing(
      `k6 is not installed, and there is no Go ${goLeast.major}.${goLeast.minor} to build it with`,
    );
  return buildK6(go.path, env, options);
}
