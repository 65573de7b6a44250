// `spillway swarm`, and `simulate --world`, as a user runs them.
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { main, spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-swarm-cli-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const simulate = (...words: string[]) => spillwayHere(["simulate", ...words], { cwd: folder });
const swarm = (...words: string[]) => spillwayHere(["swarm", ...words], { cwd: folder });

describe("swarm", () => {
  test("with the right deployment: 0, what was reached, nothing written", async () => {
    const { code, stdout } = await swarm("20", "--seed", "7");
    expect(stdout).toMatch(/^swarm: 20 worlds of seed 7, [\d,]+ calls, [\d,]+ windows judged/);
    expect(stdout).toContain("No law is broken in any of them.");
    expect(stdout).toMatch(/\d a refusal where the user's window alone lacked room/);
    expect(stdout).toContain("never reached: ");
    expect(code).toBe(0);
    expect(await readdir(folder)).toEqual([]);
  });

  test("--require-states makes a state that was never reached status 1", async () => {
    expect((await swarm("2", "--require-states")).code).toBe(1);
  });

  test("with a fault: 1, and both commands that it prints break the law again", async () => {
    const { code, stdout } = await swarm("30", "--seed", "7", "--fault", "one-extra", "--out", "found");
    expect(code).toBe(1);
    const law = /World 7\/\d+: ([\w-]+) is broken/.exec(stdout)?.[1];
    const repeats = [...stdout.matchAll(/repeat (?:it|that): npx spillway simulate (.*)$/gm)].map(
      ([, words]) => words ?? "",
    );
    expect(repeats).toEqual([
      expect.stringMatching(/^--world 7\/\d+ --fault one-extra$/),
      expect.stringMatching(/^found\/world-7-\d+\.ts --fault one-extra$/),
    ]);
    for (const [index, words] of repeats.entries()) {
      const again = await simulate(...words.split(" "), "--out", `again-${index}`, "--json");
      expect(again.code).toBe(1);
      expect(JSON.parse(again.stdout).verdict.laws[law ?? ""]).toBe("violated");
    }
    const run = JSON.parse(await readFile(join(folder, "again-0/run.json"), "utf8"));
    expect(run.command).toBe(`npx spillway simulate ${repeats[0]}`);
    expect(JSON.parse(await readFile(join(folder, "found/swarm.json"), "utf8"))).toMatchObject({
      format: "spillway-swarm",
      seed: 7,
      failures: [{ law }],
    });
  });

  test("with a limiter of one's own, under its clock; --json prints the result alone", async () => {
    const limiter = `
      import { keyedLimiter } from "spillway/laws";
      export default keyedLimiter({
        name: "one too many", algorithm: "fixed-window",
        create({ limit, windowMs }) {
          const windows = new Map();
          return {
            consume(key) {
              const now = Date.now();
              const known = windows.get(key);
              const window = known && known.resetAt > now ? known : { count: 0, resetAt: now + windowMs };
              windows.set(key, window);
              if (window.count > limit) return { allowed: false, limit, current: window.count, resetAt: window.resetAt };
              window.count += 1;
              return { allowed: true, limit, current: window.count, resetAt: window.resetAt };
            },
          };
        },
      });`;
    await writeFile(join(folder, "limiter.ts"), limiter);
    const { code, stdout } = await swarm("10", "--adapter", "limiter.ts", "--json", "--out", "own");
    const { failures, files } = JSON.parse(stdout);
    expect(failures).toEqual([
      expect.objectContaining({ law: expect.any(String), world: expect.stringMatching(/^1\//) }),
    ]);
    expect(code).toBe(1);
    const again = await simulate(files[0], "--adapter", "limiter.ts", "--out", "own-again", "--json");
    expect(JSON.parse(again.stdout).verdict.laws[failures[0].law]).toBe("violated");
  });

  test("Ctrl-C keeps what is done: 130", async () => {
    // It leaves a file when it is first made, so that the swarm is known to have begun.
    const limiter = `
      import { writeFileSync } from "node:fs";
      export default {
        name: "begun", algorithm: "fixed-window",
        claims: [],
        create() {
          writeFileSync("begun", "");
          return { decide: () => ({ admitted: true }) };
        },
      };`;
    await writeFile(join(folder, "begun.ts"), limiter);
    const words = ["swarm", "10000000", "--adapter", "begun.ts", "--json", "--out", "cut"];
    const child = spawn(process.execPath, [main, ...words], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    while (!(await readdir(folder)).includes("begun"))
      await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    const result = JSON.parse(said);
    expect(result).toMatchObject({ interrupted: true, failures: [] });
    expect(result.worlds).toBeLessThan(10_000_000);
    expect(JSON.parse(await readFile(join(folder, "cut/swarm.json"), "utf8"))).toMatchObject({
      interrupted: true,
    });
  });

  test.each([
    [["swarm", "0"], "WORLDS cannot be used"],
    [["swarm", "1.5"], "a whole number from 1 to 10000000"],
    [["swarm", "many"], 'WORLDS: got "many", allowed: a whole number from 1 to 10000000'],
    [["swarm", "3", "--seed", "-1"], "--seed cannot be used"],
    [["swarm", "3", "--adapter", "none.ts"], "no such file"],
    [["swarm", "3", "--adapter", "none.ts", "--fault", "one-extra"], "exclude each other"],
    [["swarm", "3", "--fault", "one-extre"], "did you mean one-extra?"],
    [["simulate", "--world", "7/1", "--seed", "3"], "exclude each other"],
    [["simulate", "--world", "7"], "SEED/NUMBER"],
  ])("%j is bad usage", async (words, said) => {
    const { code, stderr } = await spillwayHere(words, { cwd: folder });
    expect(stderr).toContain(said);
    expect(code).toBe(2);
  });
});
