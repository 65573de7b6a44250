// Completion by the Tab key: what bash and zsh themselves make of the scripts.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/command-line.ts";
import { allVerbs } from "../../src/cli/verbs.ts";

const run = promisify(execFile);
const verbs = await allVerbs();
let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-completion-")));
  await mkdir(join(folder, "here", "runs"), { recursive: true });
  await writeFile(join(folder, "here", "mine.json"), "{}");
  for (const shell of ["bash", "zsh"])
    await writeFile(join(folder, shell), await printed("completion", shell));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function printed(...words: string[]): Promise<string> {
  let text = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  await runCommand(words).finally(() => write.mockRestore());
  return text;
}

describe("the script", () => {
  test("is that of SHELL where none is named", async () => {
    vi.stubEnv("SHELL", "/usr/bin/zsh");
    expect(await printed("completion")).toBe(await printed("completion", "zsh"));
    vi.unstubAllEnvs();
  });

  test("of another shell is refused", async () => {
    await expect(runCommand(["completion", "fish"])).rejects.toMatchObject({
      code: "USAGE",
      problems: [{ path: "SHELL", got: '"fish"', allowed: "bash, zsh" }],
    });
  });

  test.each(["bash", "zsh"])("for %s names every verb and every option", async (shell) => {
    const [, , ...parts] = (await printed("completion", shell)).split(/\n {4}[a-z]+\)/);
    expect(parts).toHaveLength(verbs.length);
    for (const [index, { options }] of verbs.entries())
      for (const option of Object.keys(options)) expect(parts[index]).toContain(`--${option}`);
  });
});

describe("bash", { tags: ["bash"] }, () => {
  /** Returns the words that are offered for the last word of a line; none if bash offers files. */
  async function offered(...line: string[]): Promise<string[]> {
    const script = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _$COMPLETED; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, COMPLETED: line[0] === "npx" ? "spillway_npx" : "spillway" };
    const { stdout } = await run("bash", ["-c", script, join(folder, "bash"), ...line], { env });
    return stdout.split("\n").filter((word) => word !== "");
  }

  test.each<[string[], string[]]>([
    [["spillway", "simu"], ["simulate"]],
    [
      ["spillway", "s"],
      ["simulate", "swarm", "serve", "status", "scenarios"],
    ],
    [["spillway", "help", "veri"], ["verify"]],
    [["spillway", "simulate", "ci"], ["ci-fleet"]],
    [["spillway", "simulate", "steady", "--dur"], ["--duration"]],
    [["spillway", "simulate", "--fault", "reset-dis"], ["reset-disagrees"]],
    [["spillway", "check", "--law", "cons"], ["conserved"]],
    [["spillway", "simulate", "--rules", "=", "docu"], ["documented"]],
    [
      ["spillway", "plan", "herd", "--find", ""],
      ["largest", "smallest"],
    ],
    [["spillway", "plan", "herd", "--until", "refusedShare"], ["refusedShare"]],
    [["spillway", "simulate", "--seed", ""], []],
    [["spillway", "simulate", "--tokens", ""], []],
    [["spillway", "report", "--no-p"], ["--no-pictures"]],
    [["spillway", "fit", "x", "-"], expect.arrayContaining(["-o", "--no-color", "--json"])],
    [["npx", "spillway", "simulate", "her"], ["herd"]],
    [["npx", "other", "simulate", "her"], []],
  ])("%j: %j", async (line, words) => {
    expect(await offered(...line)).toEqual(words);
  });
});

test("zsh completes lines as they are typed", { tags: ["zsh"] }, async () => {
  const typed = [
    ["spillway simu", "simulate"],
    ["spillway simulate ci", "simulate ci-fleet"],
    ["spillway simulate steady --dur", "simulate steady --duration"],
    ["spillway simulate --fault reset-dis", "simulate --fault reset-disagrees"],
    ["spillway check --law cons", "check --law conserved"],
    ["spillway simulate --rules=docu", "simulate --rules=documented"],
    ["spillway simulate --rules mi", "simulate --rules mine.json"],
    ["spillway simulate --out ", "simulate --out runs"],
    ["spillway simulate --seed m", "simulate --seed m"],
    ["spillway plan herd --until refusedS", "plan herd --until refusedShare"],
    ["spillway report --no-p", "report --no-pictures"],
    ["spillway help veri", "help verify"],
    ["npx spillway verify mi", "npx spillway verify mine.json"],
  ] as const;
  const driver = fileURLToPath(new URL("completion.zsh", import.meta.url));
  const words = ["-f", driver, join(folder, "zsh"), join(folder, "here"), ...typed.map(([line]) => line)];
  const { stdout } = await run("zsh", words);
  expect([...stdout.matchAll(/^got <(.*)>/gm)].map(([, got]) => got)).toEqual(typed.map(([, got]) => got));
});
