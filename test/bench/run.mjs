// `npm run bench [-- NAME ...] [--quick] [--publish]`: every figure as a ratio against a named peer in the same run,
// since machines are noisy. `--quick` runs a little of everything, and holds nothing to a time: it shows that the benches
// work. `--publish` puts what was measured into reports/bench. Benches are TypeScript; esbuild makes them runnable on the
// oldest Node that is supported. They measure the package as it is built.
import { readdirSync } from "node:fs";
import { cpus } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { asBuilt, load } from "../support/typescript.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const flags = ["--quick", "--publish"];
const shared = ["row", "page"];
const all = readdirSync(here)
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts") && !name.endsWith(".test.ts"))
  .map((name) => basename(name, ".ts"))
  .filter((name) => !shared.includes(name));
const words = process.argv.slice(2);
const wanted = words.filter((word) => !flags.includes(word));
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(", ")}; there are ${all.join(", ")}`);
  process.exit(2);
}
const isQuick = words.includes("--quick");
// Benches start programs of their own, which are to know it, too.
if (isQuick) process.env.SPILLWAY_BENCH_QUICK = "1";
const { told } = await load(`${here}row.ts`, "spillway-bench");
const { machine, publish } = await load(`${here}page.ts`, "spillway-bench");
console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}\n`);
if (isQuick) console.log("quick: these figures show that the benches work, and nothing else\n");
for (const name of wanted.length > 0 ? wanted : all) {
  const { run } = await load(`${here}${name}.ts`, "spillway-bench", [asBuilt]);
  console.log(`## ${name}`);
  const begin = machine();
  const rows = await run();
  for (const row of rows) {
    const { figure, compared } = told(row);
    const bar = row.bar === undefined ? "" : `bar ${row.bar}`;
    console.log(`${row.name.padEnd(52)} ${figure.padStart(24)}  ${compared.padEnd(36)} ${bar}`.trimEnd());
  }
  if (rows.some(({ value }) => !Number.isFinite(value)))
    throw new Error(`${name} has a row without a figure`);
  if (words.includes("--publish") && !isQuick) publish(name, { ...begin, rows });
  console.log();
}
