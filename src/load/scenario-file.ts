// A scenario's file → a scenario. Errors name file, line and reason.
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { Scenario } from "../scenario/scenario.ts";
import {
  type BundledModule,
  bundleModule,
  importModule,
  invalidModule,
  type ModuleKind,
  type PlacedModule,
  placeModules,
  shortName,
} from "./user-module.ts";

export interface LoadedScenario {
  readonly scenario: Scenario;
  /** Absolute path of the file. */
  readonly path: string;
  /** SHA-256 of the scenario's code with all its imports, in hex. Another digest means another scenario. */
  readonly digest: string;
}

// The same code runs from `src` (tests) and from `dist/src` (installed).
const fromSource = import.meta.url.endsWith(".ts");
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const scenariosFolder = here(fromSource ? "../../scenarios/" : "../../../scenarios/");

/** Aliases of a bundle: `spillway/scenario` is this package's own entry, wherever the scenario's file lies. */
export const scenarioAliases: Readonly<Record<string, string>> = {
  "spillway/scenario": here(fromSource ? "../scenario/index.ts" : "../scenario/index.js"),
};

/** Returns the names of the scenarios that come with spillway. */
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
 * @returns the file's absolute path
 * @throws SpillwayError `USAGE` for an unknown name, with a suggestion; `FILE_UNREADABLE` for a path
 */
async function scenarioPath(nameOrPath: string): Promise<string> {
  const isPath = /[\\/]/.test(nameOrPath) || /^\.[cm]?[jt]s$/.test(extname(nameOrPath));
  if (!isPath) {
    const names = await builtInScenarios();
    if (names.includes(nameOrPath)) return join(scenariosFolder, `${nameOrPath}.ts`);
    const meant = closest(nameOrPath, names);
    throw new SpillwayError("USAGE", `there is no scenario ${quote(nameOrPath)}`, {
      problem: {
        path: "SCENARIO",
        got: quote(nameOrPath),
        allowed: `${names.join(", ")}, or a path to a .ts or .js file`,
      },
      hint:
        meant === null ? "npx spillway init writes a first scenario of your own" : `did you mean ${meant}?`,
    });
  }
  const found = await stat(nameOrPath).catch((cause: NodeJS.ErrnoException) => cause.code ?? "unknown");
  if (typeof found !== "string" && found.isFile()) return resolve(nameOrPath);
  const got =
    typeof found !== "string" ? (found.isDirectory() ? "a directory" : "no regular file") : missing(found);
  throw new SpillwayError("FILE_UNREADABLE", "the scenario file cannot be read", {
    problem: { path: nameOrPath, got, allowed: "a .ts or .js file with a scenario" },
  });
}

const missing = (code: string): string => (code === "ENOENT" ? "no such file" : code);

const kind: ModuleKind = { name: "scenario", invalid: "SCENARIO_INVALID", failed: "SCENARIO_FAILED" };

/**
 * Loads a scenario. It runs the file's code in this thread.
 * @param nameOrPath a built-in scenario's name, or a path to a `.ts` or `.js` file
 * @throws SpillwayError as `scenarioPath` does; `SCENARIO_INVALID`, with file, line and reason, if the file cannot be
 *   parsed or bundled, throws, or exports no scenario as its default
 */
export async function loadScenarioFile(nameOrPath: string): Promise<LoadedScenario> {
  const bundle = await bundleScenarioFile(nameOrPath);
  const { placed, remove } = await placeModules([bundle]);
  try {
    const [module] = placed as [PlacedModule];
    return { scenario: await importScenario(module), path: bundle.path, digest: digestOf(bundle) };
  } finally {
    await remove();
  }
}

/**
 * Bundles a scenario's file without running its code.
 * @throws SpillwayError as `loadScenarioFile` does
 */
export async function bundleScenarioFile(nameOrPath: string): Promise<BundledModule> {
  const path = await scenarioPath(nameOrPath);
  // A second population of the same name would silently replace the first.
  const logOverride = { "duplicate-object-key": "error" } as const;
  const bundle = await bundleModule(kind, path, { alias: { ...scenarioAliases }, logOverride });
  return { ...bundle, isBuiltIn: path.startsWith(scenariosFolder) };
}

/** Returns the SHA-256 of a scenario's code, in hex. */
export const digestOf = ({ code }: BundledModule): string => createHash("sha256").update(code).digest("hex");

/**
 * Imports a scenario. It runs the file's code in this thread.
 * @throws SpillwayError `SCENARIO_INVALID`
 */
export async function importScenario(module: PlacedModule): Promise<Scenario> {
  const loaded = await importModule(module);
  const scenario = loaded.default as Partial<Scenario> | undefined;
  if (typeof scenario === "object" && scenario?.format === "spillway-scenario") return scenario as Scenario;
  const got =
    scenario === undefined ? "no default export" : `a default export that is ${described(scenario)}`;
  const problem = { path: shortName(module.path), got, allowed: "export default defineScenario({ ... })" };
  const hint = 'import { defineScenario } from "spillway/scenario"';
  throw invalidModule({ ...kind, hint }, "has no scenario", [problem]);
}

function described(value: unknown): string {
  return typeof value === "object" && value !== null
    ? value instanceof Promise
      ? "a promise: await it"
      : Object.keys(value).length === 0
        ? "an empty object"
        : `an object of ${Object.keys(value).join(", ").slice(0, 60)} that defineScenario did not make`
    : typeof value === "function"
      ? "a function"
      : quote(value);
}
