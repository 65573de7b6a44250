// Other programs, by a shell: their lines, their end, and their end at a limit or a signal, with all that they started.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { programInPath, programName, runProgram } from "../../src/load/program.ts";
import { testFolder } from "./folder.ts";
import { program } from "./k6-programs.ts";

const folder = testFolder();
const sh = (script: string, options: Parameters<typeof runProgram>[2] = {}) =>
  runProgram("/bin/sh", ["-c", script], options);
/** Waits until a process has ended, whether somebody has taken note of that or not. */
async function gone(pid: number): Promise<void> {
  const state = (): string => {
    try {
      return /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? "";
    } catch {
      return "Z";
    }
  };
  while (!/[ZX]/.test(state())) await new Promise(setImmediate);
}

test.each([
  ["linux", "k6"],
  ["win32", "k6.exe"],
] as const)("on %s it is called %s", (platform, name) => {
  expect(programName("k6", platform)).toBe(name);
});

describe.skipIf(process.platform === "win32")("a program", () => {
  test("tells its lines from both outputs as they come, but for empty ones, and its status", async () => {
    const before = process.listenerCount("exit");
    const lines: string[] = [];
    const ended = await sh("printf 'one\\n\\ntwo\\n'; echo three >&2; exit 3", {
      onLine: (line) => lines.push(line),
    });
    expect(lines.sort()).toEqual(["one", "three", "two"]);
    expect({ ...ended, output: ended.output.length }).toEqual({ code: 3, output: 15, timedOut: false });
    expect(process.listenerCount("exit")).toBe(before);
  });

  test("keeps the last 20,000 characters", async () => {
    const { output } = await sh("i=0; while [ $i -lt 3000 ]; do echo 12345678$i; i=$((i+1)); done");
    expect(output).toHaveLength(20_000);
    expect(output.endsWith("123456782999\n")).toBe(true);
  });

  test("has the environment and the folder that it is given", async () => {
    const { output } = await sh('echo "$ONLY $HOME"; pwd', { env: { ONLY: "this" }, cwd: folder.path });
    expect(output).toBe(`this \n${folder.path}\n`);
    expect((await sh("echo $PATH")).output.trim()).toBe(process.env["PATH"]);
  });

  test.skipIf(process.platform !== "linux")("ends with all that it started at its limit", async () => {
    let pid = 0;
    const { code, timedOut, output } = await sh("node -e 'setTimeout(() => {}, 60_000)' & echo $!; wait", {
      limitMs: 300,
      onLine: (line) => {
        pid = Number(line);
      },
    });
    expect([code, timedOut, output]).toEqual([null, true, `${pid}\n`]);
    await gone(pid);
  });

  test.skipIf(process.platform !== "linux")(
    "ends with all that it started at a signal, whose reason it has",
    async () => {
      const control = new AbortController();
      const before = process.listenerCount("exit");
      let pid = 0;
      const running = sh("node -e 'setTimeout(() => {}, 60_000)' & echo $!; wait", {
        signal: control.signal,
        onLine: (line) => {
          pid = Number(line);
          control.abort(new RangeError("enough"));
        },
      });
      await expect(running).rejects.toThrow(new RangeError("enough"));
      await gone(pid);
      expect(process.listenerCount("exit")).toBe(before);
      await expect(sh("exit 0", { signal: control.signal })).rejects.toThrow("enough");
    },
  );

  test("that is not there is an error", async () => {
    const before = process.listenerCount("exit");
    await expect(runProgram(`${folder.path}/none`, [], {})).rejects.toMatchObject({ code: "ENOENT" });
    expect(process.listenerCount("exit")).toBe(before);
  });

  test("is found by its name in the first folder that has it", async () => {
    const [first, second] = [`${folder.path}/one`, `${folder.path}/two`];
    const path = await program(folder.path, "two/tool", "exit 0");
    expect(await programInPath("tool", { PATH: `:${first}:${second}` })).toBe(path);
    expect(await programInPath("tool", { PATH: first })).toBeNull();
    expect(await programInPath("tool", {})).toBeNull();
  });
});
