// `npm run bench [NAME ...]`: every figure as a ratio against a named peer in the same run, since machines
// are noisy. Benches are TypeScript; esbuild makes them runnable on the oldest Node that is supported.
import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "../support/typescript.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const all = readdirSync(here)
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts") && name !== "row.ts")
  .map((name) => basename(name, ".ts"));
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(", ")}; there are ${all.join(", ")}`);
  process.exit(2);
}
console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}\n`);
for (const name of wanted.length > 0 ? wanted : all) {
  const { run } = await load(`${here}${name}.ts`, "spillway-bench");
  console.log(`## ${name}`);
  for (const { name: row, value, unit, ratio, against, bar } of await run()) {
    const figure = `${value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(1)} ${unit}`;
    const compared = ratio === undefined ? "" : `${ratio.toFixed(2)} x ${against ?? ""}`;
    console.log(
      `${row.padEnd(52)} ${figure.padStart(24)}  ${compared.padEnd(36)} ${bar === undefined ? "" : `bar ${bar}`}`.trimEnd(),
    );
  }
  console.log();
}
