// Loads TypeScript in the oldest supported Node, for scripts that no test runner starts.
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const caches = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url));

/** Bundles a file into a folder of the cache, and loads it. */
export async function load(file, folder) {
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
  });
  return import(pathToFileURL(outfile).href);
}
