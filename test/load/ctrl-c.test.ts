// A load by k6 that is interrupted, in each of the ways in which a command can be.
// @module-tag long
// @module-tag real-time
import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hiddenFolders } from "../../src/files/folder-writer.ts";
import { type Ended, main, spillway } from "../support/command.ts";
import { k6, newFolder, removed, scenarioFile, wideRules, wrapper } from "./support.ts";

let folder = "";
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  folder = await newFolder();
  const program = await k6().catch(() => null);
  env = { ...process.env, K6_PATH: program?.path ?? "" };
  await writeFile(join(folder, "wide.json"), JSON.stringify(wideRules));
});
afterAll(() => removed(folder));

const typed = (words: readonly string[]): Promise<Ended> => spillway(words, { cwd: folder, env });
const json = async (...path: string[]) =>
  JSON.parse(await readFile(join(folder, ...path), "utf8")) as Record<string, unknown>;

const busy =
  'duration: "60s", populations: { four: { clients: 4, behaviour: worker({ calls: [{ call: user }], think: "20ms" }) } }, expect: {}';

describe("Ctrl-C", { tags: ["k6"] }, () => {
  /** Starts a long load, waits for its first lines, and returns the command and k6's process id. */
  async function started(name: string) {
    const path = await scenarioFile(folder, name, busy);
    const pidFile = join(folder, `${name}.pid`);
    const k6Path = await wrapper(folder, `${name}-k6`, `echo $$ > '${pidFile}'; exec "$REAL" "$@"`);
    const child = spawn(process.execPath, [main, "load", path, "--rules", "wide.json", "--out", name], {
      cwd: folder,
      env: { ...env, K6_PATH: k6Path },
      stdio: ["ignore", "pipe", "pipe"],
      // A terminal sends Ctrl-C to the whole group of the command that stands in front.
      detached: true,
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
      child.on("close", (code, killedBy) => resolve(code ?? killedBy)),
    );
    await until(async () => {
      const [hidden = ""] = await hiddenFolders(join(folder, name));
      return (await readFile(join(hidden, "k6", "raw.ndjson"), "utf8")).split("\n").length > 100;
    });
    const k6Pid = Number(await readFile(pidFile, "utf8"));
    const interrupt = (signal: NodeJS.Signals = "SIGINT"): void =>
      void process.kill(-Number(child.pid), signal);
    return { ended, k6Pid, interrupt, pid: Number(child.pid), stdout: () => stdout };
  }

  test("once: k6 ends by itself, and all until then is kept and judged", async () => {
    const { ended, interrupt, stdout } = await started("once");
    interrupt();
    expect(await ended).toBe(130);
    expect(stdout()).toContain("Interrupted");
    expect(await json("once", "run.json")).toMatchObject({ interrupted: true });
    expect(await json("once", "verdict.json")).toMatchObject({ verdict: "ok" });
    expect(await readdir(join(folder, "once", "k6"))).toContain("summary.json");
  });

  test("a terminal that is closed leaves no k6 behind", async () => {
    const { ended, k6Pid, pid } = await started("closed");
    process.kill(pid, "SIGHUP");
    expect(await ended).toBe(130);
    expect(isAlive(k6Pid)).toBe(false);
    expect(await json("closed", "run.json")).toMatchObject({ interrupted: true });
  });

  test("no more, but kill -9: what was measured until then is judged", async () => {
    const { ended, k6Pid, pid } = await started("killed");
    process.kill(pid, "SIGKILL");
    await ended;
    process.kill(k6Pid, "SIGKILL");
    const report = await typed(["report", "killed"]);
    expect(report.stderr).toContain("verify still reads its trace");
    const { code, stderr, stdout } = await typed(["verify", "killed", "--json"]);
    expect(stderr.split("\n")[0]).toContain("this run did not end");
    const verdict = JSON.parse(stdout) as { verdict: string; records: number };
    expect([code, verdict.verdict]).toEqual([0, "ok"]);
    expect(verdict.records).toBeGreaterThan(50);
  });

  test("twice: everything ends at once, k6 too", async () => {
    const { ended, k6Pid, interrupt } = await started("twice");
    // Two of one kind may reach the command as one.
    interrupt("SIGINT");
    interrupt("SIGTERM");
    expect(["SIGINT", "SIGTERM"]).toContain(await ended);
    await until(async () => !isAlive(k6Pid));
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await wait(20);
}
