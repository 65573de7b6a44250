// The package as a user gets it: packed, judged by publint and are-the-types-wrong, installed into an empty project,
// its command run and each entry imported there. It takes long: npm packs and installs, and both judges read all
// types.
// @module-tag long
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { minVersion, satisfies } from "semver";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const { exports, engines } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  exports: object;
  engines: { node: string };
};
const entries = Object.keys(exports)
  .filter((name) => !name.endsWith(".json"))
  .map((name) => name.replace(/^\./, "spillway"));
/** A program that npm has installed; `npx` looks long before it starts the same. */
const program = (name: string, project = root): string => join(project, "node_modules", ".bin", name);
let folder = "";
let tarball = "";
let files: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-package-"));
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: root,
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  files = packed.files.map(({ path }) => path);
  tarball = join(folder, packed.filename);
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "empty", private: true, type: "module" }),
  );
  await run("npm", ["install", "--no-audit", "--prefer-offline", tarball], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the tarball", () => {
  test("publint finds nothing", async () => {
    const { stdout } = await run(program("publint"), ["run", tarball, "--strict"], { cwd: root });
    expect(stdout).toContain("All good!");
  });

  test("are-the-types-wrong finds nothing", async () => {
    const words = [tarball, "--profile", "esm-only", "--format", "json"];
    const { stdout } = await run(program("attw"), words, { cwd: root });
    const { problems } = JSON.parse(stdout) as { problems: Record<string, { resolutionKind?: string }[]> };
    // An ESM-only package is seen neither by CommonJS nor by resolvers of before 2022; that is meant.
    const meant = ["node10", "node16-cjs"];
    const others = Object.values(problems)
      .flat()
      .filter(({ resolutionKind }) => resolutionKind === undefined || !meant.includes(resolutionKind));
    expect(others).toEqual([]);
  });

  test("holds what runs and what is read, and no source or test", () => {
    expect(files).toContain("dist/src/cli/main.js");
    expect(files).toContain("scenarios/steady.ts");
    for (const file of ["src/rules/SPEC.md", "src/policy/POLICY.md", "src/policy/policy.schema.json"])
      expect(files).toContain(file);
    expect(files.filter((file) => /^(test|sim|reports|src\/.*\.ts$)/.test(file))).toEqual([]);
  });

  test("holds each file that its pages link to, but for reports, which the repository alone has", async () => {
    const pages = files.filter((file) => file.endsWith(".md"));
    const links = await Promise.all(
      pages.map(async (page) => {
        const text = await readFile(join(root, page), "utf8");
        const targets = [...text.matchAll(/\]\(([^)#\s:]+)[)#]/g)].map(([, target = ""]) => target);
        return targets.map((target) => posix.join(posix.dirname(page), target));
      }),
    );
    const linked = links.flat();
    expect(linked).toContain("src/verify/README.md");
    expect(linked.filter((path) => !path.startsWith("reports/") && !files.includes(path))).toEqual([]);
    expect(linked.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

/** The packages of a lock file that ask for a newer Node than the oldest one that we claim: npm warns of each. */
async function tooNew(lockFile: string): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(lockFile, "utf8")) as {
    packages: Record<string, { version?: string; engines?: { node?: string } }>;
  };
  const oldest = minVersion(engines.node)?.version ?? "";
  expect(Object.keys(packages).length).toBeGreaterThan(20);
  return Object.entries(packages)
    .filter(([, { engines: asked }]) => asked?.node !== undefined && !satisfies(oldest, asked.node))
    .map(([path, { version, engines: asked }]) => `${path} ${version}: Node ${asked?.node}`);
}

// light-my-request 6.8, of fastify's range, needs a cookie that needs Node 22. An override would not reach those who
// install the tarball; a dependency of our own, which npm then uses for fastify, too, does.
describe("every package works on the oldest Node that we claim", () => {
  test("in a clone", async () => {
    expect(await tooNew(join(root, "package-lock.json"))).toEqual([]);
  });

  test("where the tarball is installed", async () => {
    expect(await tooNew(join(folder, "node_modules", ".package-lock.json"))).toEqual([]);
  });
});

describe("installed into an empty project", () => {
  test("npx spillway --help names every verb", async () => {
    const { stdout } = await run("npx", ["spillway", "--help"], { cwd: folder });
    for (const verb of [
      "demo",
      "check",
      "simulate",
      "serve",
      "load",
      "bundle",
      "verify",
      "report",
      "init",
      "doctor",
    ])
      expect(stdout).toMatch(new RegExp(`^  ${verb}\\b`, "m"));
  });

  test("every entry can be imported, and a module that exports what its functions take and give finds every type's name", async () => {
    const script = `for (const entry of ${JSON.stringify(entries)})
      console.log(Object.entries(await import(entry)).filter(([, value]) =>
        typeof value === "function" && !String(value).startsWith("class")).map(([name]) => name).join())`;
    const { stdout } = await run("node", ["--input-type=module", "-e", script], { cwd: folder });
    const functions = stdout.trim().split("\n");
    expect(functions).toHaveLength(entries.length);
    for (const [index, entry] of entries.entries()) {
      const names = functions[index]?.split(",") ?? [];
      expect(names.length).toBeGreaterThan(2);
      const lines = names.map((name) => `export const ${name} = partsOf(all.${name});`);
      const declared = "declare const partsOf: <A extends unknown[], R>(of: (...args: A) => R) => [A, R];";
      const text = [`import * as all from "${entry}";`, declared, ...lines].join("\n");
      await writeFile(join(folder, `types-${index}.mts`), text);
    }
    const files = entries.map((_, index) => `types-${index}.mts`);
    const words = [
      "--strict",
      // The libraries of TypeScript itself are not ours to check.
      "--skipDefaultLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--declaration",
      "--outDir",
      "out",
    ];
    const node = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
    await run(program("tsc"), [...words, ...node, ...files], { cwd: folder });
  });

  test("a scenario by name is simulated and judged", async () => {
    const words = ["simulate", "steady", "--duration", "10s", "--out", "run", "--json"];
    const { stdout } = await run(program("spillway", folder), words, { cwd: folder });
    expect(JSON.parse(stdout)).toMatchObject({ verdict: { verdict: "ok" } });
    expect(await readFile(join(folder, "run", "report.html"), "utf8")).toContain("<svg");
  });

  test("DuckDB is asked for where it is missing, and only where it is needed", async () => {
    await writeFile(join(folder, "calls.csv"), "time,user\n1767323045,alice\n");
    const replay = ["replay", "calls.csv", "--out", "replayed"];
    await expect(
      run(program("spillway", folder), [...replay, "--sql", "true"], { cwd: folder }),
    ).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/DUCKDB_MISSING[\s\S]*npm install @duckdb\/node-api/),
    });
    await run(program("spillway", folder), replay, { cwd: folder });
  });
});
