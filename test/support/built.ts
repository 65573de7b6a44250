// Tests import sources by their names and are given the modules built of them: what users run, loaded by Node itself.
// Modules that vitest transforms take twice the time, since each use of an import is a look-up there.
import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Plugin } from "vite";

/** Modules that are loaded as they are. */
export const builtModules = /\/dist\/(src|sim)\//;

/** Leads imports from the rooms of the product to their built modules. @param root of the project, ending in `/` */
export function built(root: string): Plugin {
  const rooms = /^(src|sim)\/.*(?<!\.d)\.ts$/;
  return {
    name: "spillway-built",
    enforce: "pre",
    resolveId(source, importer) {
      const [, entry] = /^spillway(\/\w+)?$/.exec(source) ?? [];
      if (source === "spillway" || entry !== undefined) return `${root}dist/src${entry ?? ""}/index.js`;
      if (importer === undefined || !source.startsWith(".")) return null;
      const path = relative(root, resolve(dirname(importer), source)).replaceAll("\\", "/");
      const module = `${root}dist/${path.replace(/\.ts$/, ".js")}`;
      return rooms.test(path) && existsSync(module) ? module : null;
    },
  };
}
