// Leads imports of sources to the modules built from them, which users run and Node itself loads. Modules that vitest
// transforms take twice the time, because each use of an import is a look-up there.
import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { Plugin } from "vite";

/** Pattern of modules that are loaded as they are. */
export const builtModules = /\/dist\/(src|sim)\//;

/** Returns a plugin that leads imports of the rooms to built modules. @param root of the project, ending in `/` */
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
