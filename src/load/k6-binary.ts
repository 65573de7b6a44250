// Looks k6 up: `K6_PATH`, `PATH`, the tool's own cache. It builds and downloads nothing (`get-k6.ts` does). The first
// k6 found decides. If that one is unusable, the look-up fails: otherwise a run could use another k6 than the user
// meant.
import { homedir } from "node:os";
import { join } from "node:path";
import { SpillwayError } from "../rules/errors.ts";
import { type Environment, isProgram, programInPath, programName, runProgram } from "./program.ts";

/** Oldest major version that works: it has native modules, the globals of `k6/timers`, and `--console-output`. */
const k6MajorLeast = 1;
/** Time in ms that `k6 version` may take. It takes a tenth of a second, more while a virus scanner reads it. */
const limitDefaultMs = 10_000;

export interface K6Binary {
  readonly path: string;
  /** `1.8.1`. */
  readonly version: string;
  readonly origin: "K6_PATH" | "PATH" | "cache";
}

export interface LookUpOptions {
  readonly env?: Environment | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Longest time that a k6 may take to tell its version, ms. Default: 10,000. */
  readonly limitMs?: number | undefined;
}

/** Returns the folder that spillway keeps programs in: `XDG_CACHE_HOME/spillway/bin`, or the one under `~/.cache`. */
export function cacheFolder(env: Environment = process.env): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "spillway", "bin");
}

/** Returns the ways to get k6 on this machine, one line each, as `doctor` shows them. */
export function k6Advice(platform: NodeJS.Platform = process.platform): readonly string[] {
  const packages: Partial<Record<NodeJS.Platform, string>> = {
    darwin: "brew install k6",
    win32: "winget install GrafanaLabs.k6",
  };
  return [
    "spillway: npx spillway doctor --get-k6",
    `package manager: ${packages[platform] ?? "https://grafana.com/docs/k6/latest/set-up/install-k6/ (apt, dnf, snap)"}`,
    'container: npx spillway bundle SCENARIO -o run.js, then docker run --rm --network host -v "$PWD:/w" grafana/k6 run -e TARGET=URL /w/run.js',
    "or name the program: K6_PATH=/path/to/k6",
  ];
}

/** Returns a `K6_MISSING` that ends with the next step. */
export const k6Missing = (summary: string, cause?: unknown): SpillwayError =>
  new SpillwayError("K6_MISSING", summary, {
    hint: "npx spillway doctor --get-k6 gets k6; npx spillway doctor shows other ways; K6_PATH=/path/to/k6 names one",
    cause,
  });

/**
 * Asks a k6 for its version.
 * @param from words that say where the program comes from
 * @throws SpillwayError `K6_MISSING` if it cannot be run, does not answer, is no k6 or is too old
 */
export async function k6Version(
  path: string,
  from: string,
  { env, signal, limitMs = limitDefaultMs }: LookUpOptions,
): Promise<string> {
  const which = `${path} (from ${from})`;
  const asked = await runProgram(path, ["version"], { env, signal, limitMs }).catch(
    (cause: NodeJS.ErrnoException) => {
      signal?.throwIfAborted();
      throw k6Missing(`${which} cannot be run: ${cause.code ?? cause.message}`, cause);
    },
  );
  if (asked.timedOut)
    throw k6Missing(`${which} does not answer: "k6 version" took longer than ${limitMs} ms`);
  const found = /^k6(?:\.exe)? v(\d+)\.(\d+)\.(\d+)/m.exec(asked.output);
  if (found === null)
    throw k6Missing(`${which} is no k6: "k6 version" ended with ${asked.code ?? "a signal"}`);
  const version = found.slice(1).join(".");
  if (Number(found[1]) >= k6MajorLeast) return version;
  throw k6Missing(`${which} is k6 ${version}, which is too old: ${k6MajorLeast}.0 or newer is needed`);
}

type K6Place = Pick<K6Binary, "path" | "origin">;

/** Returns the path of the first k6, without running it; `null` if there is none. */
export async function placeOfK6(env: Environment): Promise<K6Place | null> {
  const named = env["K6_PATH"];
  if (named !== undefined && named !== "") return { path: named, origin: "K6_PATH" };
  const inPath = await programInPath("k6", env);
  if (inPath !== null) return { path: inPath, origin: "PATH" };
  const cached = join(cacheFolder(env), programName("k6"));
  return (await isProgram(cached)) ? { path: cached, origin: "cache" } : null;
}

/** @throws SpillwayError `K6_MISSING` if the k6 of that place cannot be used */
export async function foundK6({ path, origin }: K6Place, options: LookUpOptions): Promise<K6Binary> {
  return { path, version: await k6Version(path, origin, options), origin };
}

/**
 * Looks up the k6 that is installed: 1.x or 2.x. Builds and downloads nothing.
 * @returns `null` if there is none
 * @throws SpillwayError `K6_MISSING` if the first one found cannot be used
 */
export async function lookUpK6(options: LookUpOptions = {}): Promise<K6Binary | null> {
  const place = await placeOfK6(options.env ?? process.env);
  return place === null ? null : foundK6(place, options);
}

/**
 * Looks k6 up for a run that needs it.
 * @throws SpillwayError `K6_MISSING` (exit status 3) with the ways to get it
 */
export async function requireK6(options: LookUpOptions = {}): Promise<K6Binary> {
  const found = await lookUpK6(options);
  if (found !== null) return found;
  throw k6Missing("k6 is not installed");
}
