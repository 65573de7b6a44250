// Refusals of the operating system, as a user meets them: a coded error or Ctrl-C, never a bug or a
// hang. It takes long: what the system refuses, it refuses to a process.
// @module-tag long
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ended, main, spillway, spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-system-")));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The program under a shell's limits or redirections: `$@` stands for its words. */
async function shell(script: string): Promise<Pick<Ended, "code" | "stdout" | "stderr">> {
  const program = `run() { ${JSON.stringify(process.execPath)} ${JSON.stringify(main)} "$@"; }; ${script}`;
  const run = promisify(execFile)("sh", ["-c", program], { cwd: folder });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
}

const needsUtilities = { tags: ["coreutils"] };

const isLinux = process.platform === "linux";

describe("demo checks its options first", () => {
  test.each([
    [["--runs", "0"], "--runs: got 0"],
    [["--duration", "soon"], '--duration: got "soon"'],
    [["--seed", "-1"], "--seed: got -1"],
  ])("%j", async (words, said) => {
    const { code, stdout, stderr } = await spillwayHere(["demo", ...words]);
    expect(stderr).toMatch(/^error USAGE /);
    expect(stderr).toContain(said);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

test("work that needs more memory than there is: no mistake of the scenario's code, 2", async () => {
  const clients = 'clients: 1000000, behaviour: poller({ every: "1s", call: rest("/v2/user") })';
  await writeFile(
    join(folder, "crowd.mjs"),
    `import { defineScenario, poller, rest } from "spillway/scenario";
    export default defineScenario({ name: "crowd", duration: "60s", populations: { crowd: { ${clients} } } });`,
  );
  const env = { ...process.env, NODE_OPTIONS: "--max-old-space-size=64" };
  const { code, stderr } = await spillway(["simulate", join(folder, "crowd.mjs"), "--out", "crowd"], {
    env,
    cwd: folder,
  });
  expect(stderr).toMatch(/^error SYSTEM_REFUSED this takes more memory than there is$/m);
  expect(code).toBe(2);
});

test("an error that nobody waits for is told, and ends the program, whatever it has open: 70", async () => {
  // Thrown once the program has said something, so that it surely runs by then.
  const late = `const { stdout } = process; const { write } = stdout;
    stdout.write = (...words) => {
      stdout.write = write;
      setTimeout(() => { throw Error("late"); });
      return stdout.write(...words);
    };`;
  const module = `data:text/javascript,${encodeURIComponent(late).replaceAll("'", "%27")}`;
  const env = { ...process.env, NODE_OPTIONS: `--import=${module}` };
  const { code, stderr } = await spillway(["serve", "--port", "0"], { env });
  expect(stderr).toMatch(/^unexpected error: late$/m);
  expect(code).toBe(70);
});

describe.runIf(isLinux).concurrent("on Linux", () => {
  test("standard output that cannot be written: one line, and 2", async () => {
    const { code, stderr } = await shell("run check --runs 1 --law bounded > /dev/full");
    // Its progress may come first, on a slow machine.
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      "error FILE_UNWRITABLE standard output cannot be written: ENOSPC",
    );
    expect(code).toBe(2);
  });

  test("standard error that cannot be written, too", async () => {
    expect((await shell("run check --runs 0 2> /dev/full")).code).toBe(2);
  });

  test("a reader that closes the pipe ends the command quietly", needsUtilities, async () => {
    const { code, stderr } = await shell("(run scenarios; echo $? > status) | true; cat status");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test(
    "one that closes the pipe of errors leaves a failed command its exit code",
    needsUtilities,
    async () => {
      const { stdout } = await shell(
        "(run check --runs 0; echo $? > failed) 2>&1 > /dev/null | true; cat failed",
      );
      expect(stdout).toBe("2\n");
    },
  );

  test.each([
    ["verify", "interrupted before the end of the trace: no verdict"],
    ["replay", "Interrupted before the end of the logs: nothing was replayed."],
    ["fit", "interrupted before the end of the recording: nothing was fitted"],
  ])("%s of a pipe that stalls ends by Ctrl-C: 130", { tags: ["coreutils", "ps"] }, async (verb, said) => {
    const pipe = `stalls-${verb}`;
    // The pipe's other end says that the command reads: opening it waits for that.
    const script = `mkfifo ${pipe}; run ${verb} ${pipe} > out-${verb} 2>&1 & pid=$!; exec 3> ${pipe}; kill -INT $(ps -o pid= --ppid $pid || echo $pid) 2> /dev/null; wait $pid; code=$?; cat out-${verb}; exit $code`;
    const { code, stdout } = await shell(script);
    expect(stdout).toContain(said);
    expect(code).toBe(130);
  });

  test("a pipe is read to its end", needsUtilities, async () => {
    const { code, stdout } = await shell(
      `mkfifo whole; cat ${JSON.stringify(join(import.meta.dirname, "../golden/documented-ok.trace.ndjson"))} > whole & run verify whole`,
    );
    expect(stdout).toMatch(/^ok whole: 24 calls/);
    expect(code).toBe(0);
  });

  test("a working folder that was deleted: 2", needsUtilities, async () => {
    const { code, stderr } = await shell("mkdir none; cd none; rmdir ../none; run simulate steady");
    expect(stderr).toContain("the working folder: got a folder that was deleted");
    expect(code).toBe(2);
  });

  test.each([
    ["load", "steady --driver node --duration 3s", ".unfinished-*/trace.ndjson"],
    ["plan", "steady --vary readers.clients=1..9", "points.ndjson"],
  ])("%s: a working folder that is deleted meanwhile: 2", needsUtilities, async (verb, words, written) => {
    const remove = `(until ls run/${written} 2> /dev/null; do sleep 0.1; done; rm -rf ../${verb}) &`;
    const script = `mkdir -p gone/${verb}; cd gone/${verb}; ${remove} run ${verb} ${words} --out run`;
    const { code, stderr } = await shell(script);
    expect(stderr).toMatch(/^error (FILE_UNREADABLE|FILE_UNWRITABLE|SYSTEM_REFUSED) /m);
    expect(code).toBe(2);
  });

  test("init leaves nothing behind where a file cannot be written, so that it can be tried again", async () => {
    await mkdir(join(folder, "mine"));
    const full = await shell("ulimit -f 0; run init mine");
    expect(full.stderr).toContain("error FILE_UNWRITABLE a file cannot be written");
    expect(full.stderr).toContain("mine/agents.ts: got EFBIG");
    expect(full.code).toBe(2);
    expect(await readdir(join(folder, "mine"))).toEqual([]);
    expect((await shell("run init mine")).code).toBe(0);
  });

  test("where open files are too few, that is said: 2", async () => {
    // The number that it takes differs from version to version of Node.
    const limits = [27, 30, 45];
    const all = await Promise.all(
      limits.map((limit) => shell(`ulimit -n ${limit}; run bundle steady -o ${limit}.js`)),
    );
    expect(all.map(({ code }) => code)).toContain(2);
    for (const { code, stderr } of all)
      if (code !== 0)
        expect(stderr).toMatch(/^error SYSTEM_REFUSED .*\n.*: got EMFILE, allowed: .*ulimit -n/m);
    for (const { code, stderr } of all) expect([0, 2], stderr).toContain(code);
  });

  test("no room for temporary files: 2", async () => {
    const { code, stderr } = await shell("ulimit -f 0; run bundle steady");
    expect(stderr).toMatch(/^error SYSTEM_REFUSED .*\n.*: got EFBIG/);
    expect(code).toBe(2);
  });
});

// On a busy machine a line of progress may come first.
describe.runIf(isLinux)("on Linux, in this process", () => {
  test.each(["rules", "tokens"])("--%s /dev/zero is too large: 2", async (option) => {
    const { code, stderr } = await spillwayHere(["simulate", "steady", `--${option}`, "/dev/zero"]);
    expect(stderr).toMatch(
      /^error FILE_UNREADABLE the .* is too large\n {2}\/dev\/zero: got more than 64 MiB/m,
    );
    expect(code).toBe(2);
  });

  test.each([
    ["simulate", "steady", "--out", "/proc/nobody/run"],
    ["plan", "steady", "--vary", "readers.clients=1..2", "--out", "/proc/nobody"],
    ["init", "/proc/nobody"],
  ])("%s: a folder that nobody can make: 2", async (...words) => {
    const { code, stderr } = await spillwayHere(words, { cwd: folder });
    expect(stderr).toMatch(/^error FILE_UNWRITABLE .*\n {2}\/proc\/nobody(\/run)?: got ENOENT/m);
    expect(code).toBe(2);
  });

  test("doctor where no folder can be made says so: 3", async () => {
    const { code, stdout } = await spillwayHere(["doctor"], { cwd: "/proc" });
    expect(stdout).toContain("/proc/reports cannot be written (ENOENT)");
    expect(code).toBe(3);
  });
});
