// Builds the package into dist: modules and types by tsc, then three packages bundled into modules of ours, each with
// its licence beside it. Node alone runs it, on every system. Where dist is what these sources gave, it does nothing.
// Numbers stand in the place of constants that modules import: compilers fold a module's own constants, not those.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

/** The digest of what the last build read and wrote. */
const stamp = "node_modules/.cache/spillway-built";

/** Digests all files that a build reads and writes, with their paths. */
async function digest() {
  const hash = createHash("sha256");
  const add = async (path) => hash.update(JSON.stringify([path, await readFile(path, "latin1")]));
  for (const name of [
    ".build.mjs",
    ".tsconfig.build.json",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
  ])
    await add(name);
  for (const folder of ["src", "sim", "dist"]) {
    const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    for (const path of files.sort()) await add(path);
  }
  return hash.digest("hex");
}

if ((await digest()) === (await readFile(stamp, "utf8").catch(() => ""))) process.exit();

const tsc = ["node_modules/typescript/bin/tsc", "-p", ".tsconfig.build.json"];
const { status, error } = spawnSync(process.execPath, tsc, { stdio: "inherit" });
if (error !== undefined) throw error;
if (status !== 0) process.exit(status ?? 1);
// `npx spillway` runs it in a clone, too.
await chmod("dist/src/cli/main.js", 0o755);

const modules = new Map();

/** Returns the whole numbers that a built module exports as constants, by name. Each module is read once. */
async function constantsOf(file) {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = await readFile(file, "utf8");
  const found = [...text.matchAll(/^export const ([A-Z_]+) = (-?\d+);$/gm)].map(([, ...one]) => one);
  const constants = new Map(found);
  modules.set(file, constants);
  return constants;
}

/** Puts numbers in the place of imported constants. Those imported by name become constants of the module itself. */
async function inlineConstants(file) {
  const text = await readFile(file, "utf8");
  const [spaces, names] = [/^import \* as (\w+) from "(\..+)";$/gm, /^import \{(.*)\} from "(\..+)";$/gm];
  let inlined = text;
  for (const [, space, path] of text.matchAll(spaces)) {
    const constants = await constantsOf(join(dirname(file), path));
    inlined = inlined.replaceAll(
      new RegExp(`\\b${space}\\.([A-Z_]+)\\b`, "g"),
      (whole, name) => constants.get(name) ?? whole,
    );
  }
  for (const [line, imported, path] of text.matchAll(names)) {
    const constants = await constantsOf(join(dirname(file), path));
    const all = imported.split(",").map((name) => name.trim());
    const own = all.filter((name) => constants.has(name));
    if (own.length === 0) continue;
    const rest = all.filter((name) => !constants.has(name)).join(", ");
    const added = own.map((name) => `const ${name} = ${constants.get(name)};`);
    inlined = inlined.replace(line, [`import { ${rest} } from "${path}";`, ...added].join(" "));
  }
  if (inlined !== text) await writeFile(file, inlined);
}

for (const folder of ["src", "sim"])
  for (const name of await readdir(join("dist", folder), { recursive: true }))
    if (name.endsWith(".js")) await inlineConstants(join("dist", folder, name));

/** Bundles what a built module imports into that module. */
const bundleInPlace = (file, options) =>
  build({
    entryPoints: [file],
    outfile: file,
    allowOverwrite: true,
    bundle: true,
    format: "esm",
    minify: true,
    logLevel: "warning",
    ...options,
  });

/** Writes texts of packages into one file. */
async function writeLicence(file, paths) {
  const texts = await Promise.all(paths.map((path) => readFile(`node_modules/${path}`, "utf8")));
  await writeFile(file, texts.join(""));
}

await bundleInPlace("dist/src/report/echarts.js", { platform: "node", legalComments: "inline" });
await writeLicence("dist/src/report/echarts.LICENSE.txt", [
  "echarts/LICENSE",
  "echarts/NOTICE",
  "zrender/LICENSE",
]);
await bundleInPlace("dist/src/scenario/elementary.js", {
  platform: "neutral",
  mainFields: ["main"],
  legalComments: "none",
});
await writeLicence("dist/src/scenario/elementary.LICENSE.txt", [
  "@stdlib/math-base-special-exp/LICENSE",
  "@stdlib/math-base-special-exp/NOTICE",
]);
await bundleInPlace("dist/src/cli/yargs.js", { platform: "node", legalComments: "none" });
await writeLicence("dist/src/cli/yargs.LICENSE.txt", [
  "yargs/LICENSE",
  "yargs-parser/LICENSE.txt",
  "y18n/LICENSE",
  "escalade/license",
  "get-caller-file/LICENSE.md",
  "cliui/LICENSE.txt",
  "wrap-ansi/license",
  "string-width/license",
  "strip-ansi/license",
  "ansi-regex/license",
  "ansi-styles/license",
  "emoji-regex/LICENSE-MIT.txt",
  "get-east-asian-width/license",
]);

await mkdir("node_modules/.cache", { recursive: true });
await writeFile(stamp, await digest());
