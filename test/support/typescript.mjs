// Loads TypeScript in the oldest supported Node, for scripts that no test runner starts.
import { mkdirSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const caches = join(root, "node_modules/.cache");

/** Leaves the package's modules out of a bundle, for the built ones: bundles make other code of them, and slower. */
export const asBuilt = {
  name: "as-built",
  setup({ onResolve }) {
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
      const [, module] =
        /^((?:src|sim)\/.*)\.ts$/.exec(relative(root, join(resolveDir, path)).replaceAll(sep, "/")) ?? [];
      if (module === undefined) return null;
      return { path: pathToFileURL(join(root, "dist", `${module}.js`)).href, external: true };
    });
  },
};

/** Bundles a file into a folder of the cache, and loads it. */
export async function load(file, folder, plugins = []) {
  const out = join(caches, folder);
  mkdirSync(out, { recursive: true });
  const outfile = join(out, `${basename(file, ".ts")}.mjs`);
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "warning",
    plugins,
  });
  return import(pathToFileURL(outfile).href);
}
