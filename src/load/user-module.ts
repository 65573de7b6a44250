// A module of the user's (a scenario, a limiter), bundled by esbuild, so that it may be TypeScript and import anything.
// Bundling runs none of its code: one thread may bundle it and another one import it.
import { rmSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BuildFailure, BuildOptions } from "esbuild";
import { type ErrorCode, type Problem, quote, SpillwayError } from "../rules/errors.ts";

/** A kind of module, in the words of messages. */
export interface ModuleKind {
  /** Word before "file": `scenario`, `adapter`. */
  readonly name: string;
  /** Code of errors while the module is bundled or imported. */
  readonly invalid: ErrorCode;
  /** Code of errors while its functions run. */
  readonly failed: ErrorCode;
  /** Next step after an error of `invalid`. */
  readonly hint?: string;
  /** Limits that an adapter's limiter is made by. Default: `rules`. */
  readonly limits?: "policy";
}

/** A module, bundled with all its imports. Plain data. */
export interface BundledModule {
  readonly kind: ModuleKind;
  /** Absolute path of the user's file. */
  readonly path: string;
  /** True if it came with spillway, and is not the user's. */
  readonly isBuiltIn: boolean;
  readonly code: string;
  readonly map: SourceMapPayload;
}

/** A bundled module as a file that can be imported. Plain data. */
export interface PlacedModule extends Omit<BundledModule, "code"> {
  /** Absolute path of the bundle. */
  readonly file: string;
}

/**
 * Bundles a module. None of its code is run.
 * @throws SpillwayError `kind.invalid`, with file, line and reason, if it cannot be parsed or bundled
 */
export async function bundleModule(
  kind: ModuleKind,
  path: string,
  options: Pick<BuildOptions, "alias" | "banner" | "logOverride" | "plugins" | "supported">,
): Promise<Omit<BundledModule, "isBuiltIn">> {
  // Threads that only import modules do not need esbuild.
  const { build } = await import("esbuild");
  try {
    const { outputFiles } = await build({
      ...options,
      entryPoints: [path],
      // The bundle lies elsewhere. Files that the module looks up beside itself are still found.
      define: { "import.meta.url": JSON.stringify(pathToFileURL(path).href) },
      outfile: `${kind.name}.mjs`,
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "external",
      absWorkingDir: dirname(path),
      logLevel: "silent",
    });
    const [map, code] = outputFiles;
    return { kind, path, code: code?.text ?? "", map: JSON.parse(map?.text ?? "{}") };
  } catch (error) {
    throw notBundled(error, kind, path);
  }
}

/**
 * Writes bundles into a temporary folder that only this user can read, for import by any number of threads.
 * @returns the modules in their order, and a function that removes the folder
 */
export async function placeModules(
  modules: readonly BundledModule[],
): Promise<{ readonly placed: readonly PlacedModule[]; remove(): Promise<void> }> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-module-")));
  const removeNow = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeNow);
  const remove = async (): Promise<void> => {
    process.off("exit", removeNow);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const placed: PlacedModule[] = [];
    for (const { code, ...module } of modules) {
      const file = join(folder, `${module.kind.name}.mjs`);
      await writeFile(file, code, { mode: 0o600 });
      placed.push({ ...module, file });
    }
    return { placed, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Imports a module: its code is run, in this thread.
 * @param during runs the code that imports it
 * @throws SpillwayError `kind.invalid`, with file and line, if it throws
 */
export async function importModule(
  module: PlacedModule,
  during: <T>(run: () => T) => T = (run) => run(),
): Promise<{ readonly default?: unknown }> {
  try {
    return await during(() => import(/* @vite-ignore */ pathToFileURL(module.file).href));
  } catch (thrown) {
    throw notImported(thrown, module);
  }
}

/** Returns the error of a module that cannot be used. */
export function invalidModule(
  { name, invalid, hint }: ModuleKind,
  what: string,
  problems: readonly Problem[],
  cause?: unknown,
): SpillwayError {
  return new SpillwayError(invalid, `the ${name} file ${what}`, { problems, hint, cause });
}

/** Returns a file's name for messages, relative to the working folder if it lies below that. */
export function shortName(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}

function notBundled(error: unknown, kind: ModuleKind, path: string): unknown {
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
  return invalidModule(kind, "cannot be understood", problems, error);
}

/** Returns the error of a module that throws. A bundle has its own SpillwayError class, so its shape is checked. */
function notImported(thrown: unknown, module: PlacedModule): SpillwayError {
  const error = thrown as Partial<SpillwayError> | null | undefined;
  const where = placeIn(error?.stack ?? "", module) ?? shortName(module.path);
  if (error?.name === "SpillwayError" && error.code !== undefined && Array.isArray(error.problems)) {
    const summary = `${where}: ${String(error.message).split("\n")[0]}`;
    const { code, problems, hint } = error;
    return new SpillwayError(code, summary, { problems, hint, cause: thrown });
  }
  const got = typeof error?.message === "string" ? `${error.name}: ${error.message}` : quote(thrown);
  const allowed = "a module that loads without an exception";
  // The form of an export is no help to code that never came so far.
  const { hint: _, ...kind } = module.kind;
  return invalidModule(kind, "throws while it is loaded", [{ path: where, got, allowed }], thrown);
}

/** Source folder of this package, parts of which are in the user's bundle. */
const ownSource = fileURLToPath(new URL("../", import.meta.url));

/** Returns `FILE:LINE` of a stack's innermost frame in the user's code, not spillway's; `null` if there is none. */
export function placeIn(stack: string, { file, map, path }: PlacedModule): string | null {
  if (!stack.includes(file)) return null;
  const sources = new SourceMap(map);
  const frame = new RegExp(`${basename(file).replace(".", "\\.")}:(\\d+):(\\d+)`, "g");
  for (const [, line, column] of stack.matchAll(frame)) {
    const entry = sources.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in entry)) continue;
    const source = resolve(dirname(path), entry.originalSource);
    if (source.startsWith(ownSource) || source.includes("node_modules")) continue;
    return `${shortName(source)}:${entry.originalLine + 1}`;
  }
  return null;
}
