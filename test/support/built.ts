// Leads imports of sources to the modules built from them, which users run and Node itself loads. Modules that vitest
// transforms take twice the time, because each use of an import is a look-up there.
import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Plugin } from "vite";

/** Pattern of modules that are loaded as they are. */
export const builtModules = /\/dist\/(src|sim)\//;

const rooms = /^(src|sim)\/.*(?<!\.d)\.ts$/;

/** Returns the built module of a source; `null` for another file. @param path relative to the root, which ends in `/` */
export const builtOf = (root: string, path: string): string | null =>
  rooms.test(path) ? `${root}dist/${path.replace(/\.ts$/, ".js")}` : null;

/** Returns the built module that an import leads to; `null` for what is not built. @param root of the project, ending in `/` */
export function builtFor(root: string, source: string, importer: string | undefined): string | null {
  const [, entry] = /^spillway(\/\w+)?$/.exec(source) ?? [];
  if (source === "spillway" || entry !== undefined) return `${root}dist/src${entry ?? ""}/index.js`;
  if (importer === undefined || !source.startsWith(".")) return null;
  const path = relative(root, resolve(dirname(importer), source)).replaceAll("\\", "/");
  const module = builtOf(root, path);
  return module !== null && existsSync(module) ? module : null;
}

/** Returns a plugin that leads imports of the rooms to built modules. @param root of the project, ending in `/` */
export const built = (root: string): Plugin => ({
  name: "spillway-built",
  enforce: "pre",
  resolveId: (source, importer) => builtFor(root, source, importer),
});
