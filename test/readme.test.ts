// Every command block of the README runs as it stands there (the two commands for a fresh machine, which CI runs
// itself, aside). It takes long: the commands are run in full, with their searches, storms and fits. Lines that need a
// shell, and loads, are run by one, as a user's; the others are run in this process.
// @module-tag long
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spillwayHere } from "./support/command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const readme = await readFile(join(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```(sh|ts|js)\n([\s\S]*?)^```/gm)].map(
  ([, language = "", text = ""]) => ({ language, text }),
);
const forFreshMachines = ["npm ci && npm start\n", "npm cit\n"];
const commands = blocks.filter(({ language, text }) => language === "sh" && !forFreshMachines.includes(text));
const scripts = blocks.filter(({ language }) => language === "js");
let folder = "";
let path = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-readme-"));
  // `npx spillway` of a project that has installed the package.
  const bin = join(folder, "node_modules", ".bin");
  await mkdir(bin, { recursive: true });
  const main = join(root, "dist", "src", "cli", "main.js");
  await writeFile(join(bin, "spillway"), `#!/bin/sh\nexec node ${JSON.stringify(main)} "$@"\n`);
  // npm's own takes longer than most commands; `package.test.ts` starts it.
  await writeFile(join(bin, "npx"), '#!/bin/sh\nexec "$@"\n');
  for (const program of ["spillway", "npx"]) await chmod(join(bin, program), 0o755);
  // `import ... from "spillway/laws"`, as there.
  await symlink(root, join(folder, "node_modules", "spillway"));
  await writeFile(
    join(folder, "package.json"),
    // As `npm init -y` makes it, since npm 11.
    JSON.stringify({ name: "readme", private: true, type: "commonjs" }),
  );
  // Scripts by the names that they begin with: commands use them, too.
  for (const { text } of scripts)
    await writeFile(join(folder, /^\/\/ (\S+\.m?js)\n/.exec(text)?.[1] ?? ""), text);
  path = `${bin}:${process.env["PATH"] ?? ""}`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The words of a command that asks nothing of a shell but quotes; `null` for others, and for loads, whose time is real. */
function wordsOf(command: string): string[] | null {
  const [, words = ""] = /^npx spillway (?!load )(.*)$/.exec(command) ?? [];
  if (words === "" || /[|&;<>$()"\\*\n]/.test(words.replaceAll(/'[^']*'/g, ""))) return null;
  return [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = ""]) => quoted ?? plain);
}

async function shell(command: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = { cwd: folder, env: { ...process.env, PATH: path } };
  const { stdout, stderr } = await run("sh", ["-eu", "-c", command], options);
  return { code: 0, stdout, stderr };
}

/** The commands of a block, each by itself, and the lines of a shell's own between them. */
const partsOf = (text: string): string[] =>
  text.match(/^npx spillway .*$|(?:^(?!npx spillway ).+\n?)+/gm) ?? [];

type Ended = Awaited<ReturnType<typeof shell>>;

/** Runs commands that `&&` and `||` join, as a shell does. @returns how the last of them ended */
async function joined(part: string): Promise<Ended> {
  const [first = part, ...others] = part.startsWith("npx spillway ") ? part.split(/ (&&|\|\|) /) : [part];
  let ended = await one(first);
  for (let at = 0; at < others.length; at += 2)
    if ((others[at] === "&&") === (ended.code === 0)) ended = await one(others[at + 1] ?? "");
  return ended;
}

async function one(command: string): Promise<Ended> {
  const words = wordsOf(command);
  if (words === null) return shell(command);
  const { code, stdout, stderr } = await spillwayHere(words, { cwd: folder });
  return { code: code ?? 1, stdout, stderr };
}

describe("README", () => {
  test("has the two commands and command blocks", () => {
    for (const command of forFreshMachines) expect(blocks.map(({ text }) => text)).toContain(command);
    expect(commands.length).toBeGreaterThanOrEqual(6);
    expect(scripts.length).toBeGreaterThanOrEqual(1);
  });

  test.each(commands)("$text", async ({ text }) => {
    for (const part of partsOf(text)) {
      const { code, stdout, stderr } = await joined(part);
      expect(code, stderr).toBe(0);
      if (part.startsWith("npx spillway ")) expect(`${stdout}${stderr}`).not.toBe("");
    }
  });

  test.each(scripts.filter(({ text }) => /^\/\/ \S+\.test\.mjs\n/.test(text)))("$text", async ({ text }) => {
    const [, name = ""] = /^\/\/ (\S+)\n/.exec(text) ?? [];
    // By name: which reporter is the default, depends on the version of Node.
    const words = ["--test", "--test-reporter=tap", name];
    const { stdout } = await run(process.execPath, words, { cwd: folder });
    expect(stdout).toMatch(/^# pass [1-9]\d*$/m);
    expect(stdout).toMatch(/^# fail 0$/m);
  });
});
