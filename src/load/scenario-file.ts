// A scenario's file → a scenario. Files are TypeScript or JavaScript, bundled by esbuild so that they may import
// whatever they like; whatever is wrong with one is said with file, line and reason.
import { createHash } from "node:crypto";
import { mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildFailure, build } from "esbuild";
import { closest } from "../rules/closest.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";

export interface LoadedScenario {
  readonly scenario: Scenario;
  /** The file, absolute. */
  readonly path: string;
  /** SHA-256 of the scenario's code with all that it imports, in hex: another one is another scenario. */
  readonly digest: string;
}

// The same code runs from `src` (tests) and from `dist/src` (installed).
const fromSource = import.meta.url.endsWith(".ts");
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const scenariosFolder = here(fromSource ? "../../scenarios/" : "../../../scenarios/");
const scenarioRoom = here("../scenario/");

/** What `spillway/scenario` is in a bundle: this very package's own entry, wherever the scenario's file stands. */
export const scenarioAliases: Readonly<Record<string, string>> = {
  "spillway/scenario": here(fromSource ? "../scenario/index.ts" : "../scenario/index.js"),
};

/** The names of the scenarios that come with spillway. */
export async function builtInScenarios(): Promise<string[]> {
  const files = await readdir(scenariosFolder);
  return files
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -3))
    .sort();
}

/**
 * Finds a scenario's file.
 * @param nameOrPath a built-in scenario's name, or a path to a `.ts` or `.js` file
 * @returns the file, absolute
 * @throws SpillwayError `USAGE` for a name that is none, with a suggestion; `FILE_UNREADABLE` for a path
 */
async function scenarioPath(nameOrPath: string): Promise<string> {
  const isPath = /[\\/]/.test(nameOrPath) || /^\.[cm]?[jt]s$/.test(extname(nameOrPath));
  if (!isPath) {
    const names = await builtInScenarios();
    if (names.includes(nameOrPath)) return join(scenariosFolder, `${nameOrPath}.ts`);
    const meant = closest(nameOrPath, names);
    throw new SpillwayError("USAGE", `there is no scenario ${quote(nameOrPath)}`, {
      problems: [
        {
          path: "SCENARIO",
          got: quote(nameOrPath),
          allowed: `${names.join(", ")}, or a path to a .ts or .js file`,
        },
      ],
      hint:
        meant === null ? "npx spillway init writes a first scenario of your own" : `did you mean ${meant}?`,
    });
  }
  const found = await stat(nameOrPath).catch((cause: NodeJS.ErrnoException) => cause.code ?? "unknown");
  if (typeof found !== "string" && found.isFile()) return resolve(nameOrPath);
  const got =
    typeof found !== "string" ? (found.isDirectory() ? "a directory" : "no regular file") : missing(found);
  throw new SpillwayError("FILE_UNREADABLE", "the scenario file cannot be read", {
    problems: [{ path: nameOrPath, got, allowed: "a .ts or .js file with a scenario" }],
  });
}

const missing = (code: string): string => (code === "ENOENT" ? "no such file" : code);

/**
 * Loads a scenario. The file's code is run, in this process.
 * @param nameOrPath a built-in scenario's name, or a path to a `.ts` or `.js` file
 * @throws SpillwayError as `scenarioPath` does, and `SCENARIO_INVALID` with file, line and reason where the file
 *   does not parse, cannot be bundled, throws, or has no scenario as its default export
 */
export async function loadScenarioFile(nameOrPath: string): Promise<LoadedScenario> {
  const path = await scenarioPath(nameOrPath);
  const { code, map } = await bundled(path);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-scenario-")));
  try {
    const module = join(folder, "scenario.mjs");
    await writeFile(module, code, { mode: 0o600 });
    const loaded = (await imported(module, map, path)) as { default?: unknown };
    const digest = createHash("sha256").update(code).digest("hex");
    return { scenario: defaultExport(loaded, path), path, digest };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How the file is called in messages: as short as one would type it. */
function shortName(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}

async function bundled(path: string): Promise<{ code: string; map: SourceMapPayload }> {
  try {
    const { outputFiles } = await build({
      entryPoints: [path],
      outfile: "scenario.mjs",
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "external",
      absWorkingDir: dirname(path),
      alias: { ...scenarioAliases },
      // A second population of the same name would silently take the place of the first.
      logOverride: { "duplicate-object-key": "error" },
      logLevel: "silent",
    });
    const [map, code] = outputFiles;
    return { code: code?.text ?? "", map: JSON.parse(map?.text ?? "{}") };
  } catch (error) {
    throw notBundled(error, path);
  }
}

function notBundled(error: unknown, path: string): unknown {
  const { errors } = error as Partial<BuildFailure>;
  if (!Array.isArray(errors) || errors.length === 0) return error;
  const problems: Problem[] = (errors as BuildFailure["errors"]).map(({ text, location }) => {
    const file = shortName(location === null ? path : resolve(dirname(path), location.file));
    return {
      path: location === null ? file : `${file}:${location.line}`,
      got: location?.lineText.trim() ? `${text} in: ${location.lineText.trim().slice(0, 80)}` : text,
      allowed: "TypeScript or JavaScript that can be bundled",
    };
  });
  return new SpillwayError("SCENARIO_INVALID", "the scenario file cannot be understood", { problems });
}

async function imported(module: string, map: SourceMapPayload, path: string): Promise<unknown> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(module).href);
  } catch (thrown) {
    throw notLoaded(thrown, module, map, path);
  }
}

/** The bundle has classes of its own, so a coded error of it is known by its shape. */
function notLoaded(thrown: unknown, module: string, map: SourceMapPayload, path: string): SpillwayError {
  const error = thrown as Partial<SpillwayError> | null | undefined;
  const where = placeOf(error?.stack ?? "", module, map, path);
  if (error?.name === "SpillwayError" && error.code !== undefined && Array.isArray(error.problems)) {
    const summary = `${where}: ${String(error.message).split("\n")[0]}`;
    const hint = error.hint === undefined ? {} : { hint: error.hint };
    return new SpillwayError(error.code, summary, { problems: error.problems, ...hint, cause: thrown });
  }
  const got = typeof error?.message === "string" ? `${error.name}: ${error.message}` : quote(thrown);
  return new SpillwayError("SCENARIO_INVALID", "the scenario file throws while it is loaded", {
    problems: [{ path: where, got, allowed: "a module that loads without an exception" }],
    cause: thrown,
  });
}

/** `FILE:LINE` of the innermost frame that is the user's and not spillway's, or the file alone. */
function placeOf(stack: string, module: string, map: SourceMapPayload, path: string): string {
  const sources = new SourceMap(map);
  const base = dirname(path);
  for (const [, line, column] of stack.matchAll(/scenario\.mjs:(\d+):(\d+)/g)) {
    const entry = sources.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry) || !stack.includes(module)) continue;
    const file = resolve(base, entry.originalSource);
    if (file.startsWith(scenarioRoom) || file.includes("node_modules")) continue;
    return `${shortName(file)}:${entry.originalLine + 1}`;
  }
  return shortName(path);
}

function defaultExport(loaded: { default?: unknown }, path: string): Scenario {
  const scenario = loaded.default as Partial<Scenario> | undefined;
  if (typeof scenario === "object" && scenario?.format === "spillway-scenario") return scenario as Scenario;
  const got =
    scenario === undefined ? "no default export" : `a default export that is ${described(scenario)}`;
  throw new SpillwayError("SCENARIO_INVALID", "the scenario file has no scenario", {
    problems: [{ path: shortName(path), got, allowed: "export default defineScenario({ ... })" }],
    hint: 'import { defineScenario } from "spillway/scenario"',
  });
}

function described(value: unknown): string {
  return typeof value === "object" && value !== null
    ? `an object of ${Object.keys(value).join(", ").slice(0, 60)} that defineScenario did not make`
    : typeof value === "function"
      ? "a function"
      : quote(value);
}
