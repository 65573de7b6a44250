// A user's limiter for `--adapter FILE`: a module whose default export is a LimiterFactory, or under a policy a
// QuotaLimiterFactory.
import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import type { LimiterFactory } from "../engine/adapter.ts";
import { withMembers } from "../engine/frozen.ts";
import type { QuotaLimiterFactory } from "../engine/quota-limiter.ts";
import { requireFile } from "../files/read-file.ts";
import {
  type BundledModule,
  bundleModule,
  importModule,
  invalidModule,
  type ModuleKind,
  type PlacedModule,
} from "../load/user-module.ts";
import { algorithmHint, claimProblems, misspelt, promiseProblems } from "../rules/algorithms.ts";
import { type Problem, quote } from "../rules/errors.ts";

// The same code runs from `src` (tests) and from `dist/src` (installed).
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const entry = (room: string): string =>
  fileURLToPath(new URL(`../${room}/index.${extension}`, import.meta.url));
const aliases = { "spillway/engine": entry("engine"), "spillway/laws": entry("laws") };

const kind: ModuleKind = {
  name: "adapter",
  invalid: "ADAPTER_INVALID",
  failed: "ADAPTER_FAILED",
  hint: 'export default { name, algorithm: "fixed-window", claims: "all", create(rules) { return { decide(call, nowMs) { ... } } } }',
};

const policyKind: ModuleKind = {
  ...kind,
  limits: "policy",
  hint: 'export default { name, limits: "any", claims: "all", create(policy) { return { decide(call, nowMs) { ... } } } }',
};

/** Tells files of packages where they lie, since some read files beside them, such as a script in Lua. */
const placed: Plugin = {
  name: "placed",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const place = { url: pathToFileURL(path).href, filename: path, dirname: dirname(path) };
      const isModule = /\bimport\.meta\b/.test(text);
      const contents = isModule
        ? text.replace(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, member: keyof typeof place) =>
            JSON.stringify(place[member]),
          )
        : /\b__(dir|file)name\b/.test(text) && !/^#!|(const|let|var) __/.test(text)
          ? `var __filename = ${JSON.stringify(path)}, __dirname = ${JSON.stringify(dirname(path))}; ${text}`
          : text;
      return contents === text ? undefined : { contents, loader: "js" };
    });
  },
};

/**
 * Bundles a limiter's file without running its code.
 * @param byPolicy true if the limiter is made by a policy, not by rules
 * @throws SpillwayError `FILE_UNREADABLE`, or `ADAPTER_INVALID` with file, line and reason if it does not parse
 */
export async function bundleAdapterFile(file: string, byPolicy = false): Promise<BundledModule> {
  await requireFile(file, "adapter file", true);
  const path = resolve(file);
  // Bundled CommonJS packages still find `require`, relative to the user's file. No name of the user's may clash with
  // it: esbuild renames a `require` of the user's, and cannot know the banner's other name.
  const js = `import { createRequire as $spillwayRequireFrom } from "node:module"; const require = $spillwayRequireFrom(${JSON.stringify(pathToFileURL(path).href)});`;
  return {
    ...(await bundleModule(byPolicy ? policyKind : kind, path, {
      alias: aliases,
      banner: { js },
      // This `require` also makes an `import` of a computed name: beside the bundle itself there are no packages.
      supported: { "dynamic-import": false },
      plugins: [placed],
    })),
    isBuiltIn: false,
  };
}

/**
 * Imports a limiter. It runs the file's code in this thread.
 * @param during runs the code that imports the module, under a clock: some modules read the time when they are loaded
 * @throws SpillwayError `ADAPTER_INVALID` with file, line and reason if the module throws, or has no LimiterFactory as
 *   its default export
 */
export async function importAdapter(
  module: PlacedModule,
  during?: <T>(run: () => T) => T,
): Promise<LimiterFactory> {
  const loaded = await importModule(module, during);
  return factoryOf(loaded.default, module);
}

function noLimiter(made: ModuleKind, problems: readonly Problem[]): Error {
  const isAlgorithm = problems.some(({ path }) => path === "algorithm");
  return invalidModule({ ...made, ...(isAlgorithm && { hint: algorithmHint }) }, "has no limiter", problems);
}

/** Returns the mistakes in what a limiter by a policy says of itself. */
function quotaPromiseProblems({ limits, algorithm, claims, callers, operations }: Exported): Problem[] {
  const other = algorithm === undefined ? "" : "; a limiter by key or by rules is checked without --policy";
  const isList = (value: unknown): boolean => value === undefined || Array.isArray(value);
  return [
    ...(limits === "any" || limits === "given"
      ? []
      : [
          {
            path: "limits",
            got: quote(limits),
            allowed: `"any", or "given" where it has the policy's own alone${other}`,
          },
        ]),
    ...claimProblems(claims, undefined),
    ...Object.entries({ callers, operations }).flatMap(([path, value]) =>
      isList(value) ? [] : [{ path, got: quote(value), allowed: "a list, or nothing" }],
    ),
  ];
}

/** Members of a factory by rules or by a policy. */
const factoryMembers = [
  "name",
  "algorithm",
  "claims",
  "claimsAsShown",
  "semantics",
  "anchorUnsaid",
  "scopes",
  "keyed",
  "callers",
  "opensToMs",
  "endsLate",
  "fromStart",
  "setNow",
  "create",
  "restore",
  "limits",
  "isExact",
  "operations",
] as const satisfies readonly (keyof LimiterFactory | keyof QuotaLimiterFactory)[];

type Exported = Partial<Record<keyof LimiterFactory | keyof QuotaLimiterFactory, unknown>>;

/** Checks what a module exports before anything is asked of it. */
function factoryOf(exported: unknown, { path, kind: made }: PlacedModule): LimiterFactory {
  const byPolicy = made.limits === "policy";
  const isPromise = typeof (exported as { then?: unknown } | null | undefined)?.then === "function";
  if (typeof exported !== "object" || exported === null || isPromise) {
    const kind = isPromise ? "promise, which its file has to await" : typeof exported;
    const got = exported === undefined ? "nothing" : exported === null ? "null" : `a ${kind}`;
    const allowed = byPolicy ? "a QuotaLimiterFactory" : "a LimiterFactory";
    throw noLimiter(made, [{ path: "default export", got, allowed }]);
  }
  const { name, create, restore } = exported as Exported;
  const problems: Problem[] = [];
  if (name !== undefined && typeof name !== "string")
    problems.push({ path: "name", got: quote(name), allowed: "a string" });
  if (typeof create !== "function")
    problems.push({
      path: "create",
      got: quote(create),
      allowed: `a function of the ${byPolicy ? "policy" : "rules"}`,
    });
  if (restore !== undefined && typeof restore !== "function")
    problems.push({ path: "restore", got: quote(restore), allowed: "a function, or nothing" });
  problems.push(...(byPolicy ? quotaPromiseProblems(exported) : promiseProblems(exported)));
  problems.push(...misspelt(exported, factoryMembers));
  if (problems.length > 0) throw noLimiter(made, problems);
  const factory = exported as LimiterFactory;
  return name === undefined ? withMembers(factory, { name: basename(path) }) : factory;
}
