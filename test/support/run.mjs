// `node test/support/run.mjs FILE [ARGUMENT ...]`: runs the function `run(arguments)` of a TypeScript file on the
// oldest Node that is supported. What it returns is the exit status; nothing means 0.
import { mkdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const out = fileURLToPath(new URL("../../node_modules/.cache/spillway-run/", import.meta.url));
const [file = "", ...wanted] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const outfile = `${out}${basename(file, ".ts")}.mjs`;
await build({
  entryPoints: [file],
  outfile,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  logLevel: "warning",
});
const { run } = await import(pathToFileURL(outfile).href);
process.exitCode = (await run(wanted)) ?? 0;
