// A user's limiter for `check --adapter FILE`: a module whose default export is a LimiterFactory, bundled by
// esbuild so that it may be TypeScript and import what it likes.
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type BuildFailure, build } from "esbuild";
import type { LimiterFactory } from "../engine/adapter.ts";
import { algorithmHint, promiseProblems } from "../rules/algorithms.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { requireFile } from "./files.ts";

// The same code runs from `src` (tests) and from `dist/src` (installed).
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const entry = (room: string): string =>
  fileURLToPath(new URL(`../${room}/index.${extension}`, import.meta.url));
const aliases = { "spillway/engine": entry("engine"), "spillway/laws": entry("laws") };

/**
 * Loads a limiter. The file's code is run, in this process.
 * @param during runs the code that loads the module: under a clock that some read when they are loaded
 * @throws SpillwayError `FILE_UNREADABLE`, or `ADAPTER_INVALID` with file, line and reason where the module does
 *   not parse, throws, or has no LimiterFactory as its default export
 */
export async function loadLimiterFactory(
  file: string,
  during: <T>(run: () => T) => T = (run) => run(),
): Promise<LimiterFactory> {
  await requireFile(file, "adapter file");
  const code = await bundled(file);
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-adapter-")));
  try {
    const module = join(folder, "adapter.mjs");
    await writeFile(module, code, { mode: 0o600 });
    const loading = during(
      (): Promise<{ default?: unknown }> => import(/* @vite-ignore */ pathToFileURL(module).href),
    );
    const loaded = await loading.catch((cause: unknown) => {
      if (isKitError(cause)) {
        const { message, problems, hint = shape } = cause;
        throw new SpillwayError("ADAPTER_INVALID", `${file}: ${message.split("\n")[0]}`, {
          problems,
          hint,
          cause,
        });
      }
      const got = cause instanceof Error ? `${cause.name}: ${cause.message}` : quote(cause);
      throw invalid(
        "throws while it is loaded",
        [{ path: file, got, allowed: "a module that loads" }],
        cause,
      );
    });
    return factoryOf(loaded.default, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whether the kit that was bundled with the file refused what it was given: its class is not ours. */
const isKitError = (cause: unknown): cause is SpillwayError =>
  cause instanceof Error &&
  cause.name === "SpillwayError" &&
  Array.isArray((cause as SpillwayError).problems);

const shape =
  'export default { name, algorithm: "fixed-window", claims: "all", create(rules) { return { decide(call, nowMs) { ... } } } }';

const invalid = (what: string, problems: readonly Problem[], cause?: unknown): SpillwayError => {
  const hint = problems.some(({ path }) => path === "algorithm") ? algorithmHint : shape;
  return new SpillwayError("ADAPTER_INVALID", `the adapter file ${what}`, { problems, hint, cause });
};

async function bundled(file: string): Promise<string> {
  // CommonJS packages that are bundled here still find `require`, as seen from the user's file.
  const require = `import { createRequire as requireFrom } from "node:module"; const require = requireFrom(${JSON.stringify(pathToFileURL(resolve(file)).href)});`;
  try {
    const { outputFiles } = await build({
      entryPoints: [resolve(file)],
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      banner: { js: require },
      alias: aliases,
      logLevel: "silent",
    });
    return outputFiles[0]?.text ?? "";
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    if (!Array.isArray(errors) || errors.length === 0) throw error;
    const problems = (errors as BuildFailure["errors"]).map(({ text, location }) => ({
      path: location === null ? file : `${location.file}:${location.line}`,
      got: text,
      allowed: "TypeScript or JavaScript that can be bundled",
    }));
    throw invalid("cannot be understood", problems, error);
  }
}

/** Checks what a module exports before anything is asked of it. */
function factoryOf(exported: unknown, file: string): LimiterFactory {
  if (typeof exported !== "object" || exported === null) {
    const got = exported === undefined ? "nothing" : typeof exported;
    throw invalid("has no limiter", [{ path: "default export", got, allowed: "a LimiterFactory" }]);
  }
  const { name, create, restore } = exported as Partial<Record<keyof LimiterFactory, unknown>>;
  const problems: Problem[] = [];
  if (name !== undefined && typeof name !== "string")
    problems.push({ path: "name", got: quote(name), allowed: "a string" });
  if (typeof create !== "function")
    problems.push({ path: "create", got: quote(create), allowed: "a function of the rules" });
  if (restore !== undefined && typeof restore !== "function")
    problems.push({ path: "restore", got: quote(restore), allowed: "a function, or nothing" });
  problems.push(...promiseProblems(exported));
  if (problems.length > 0) throw invalid("has no limiter", problems);
  const factory = exported as LimiterFactory;
  return name === undefined ? Object.assign(Object.create(factory), { name: basename(file) }) : factory;
}
