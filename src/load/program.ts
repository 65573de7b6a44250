// Other programs: where they lie, and bounded runs of them. If a program hangs, or its children hold its output open,
// the command that asked it must go on.
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a program's file name on this platform: `k6`, or `k6.exe` on Windows. */
export function programName(name: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "win32" ? `${name}.exe` : name;
}

export async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the first program of that name in `PATH`, or `null`. */
export async function programInPath(name: string, env: Environment): Promise<string | null> {
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, programName(name));
    if (folder !== "" && (await isProgram(path))) return path;
  }
  return null;
}

interface RunOptions {
  readonly env?: Environment | undefined;
  readonly cwd?: string | undefined;
  /** Signal that kills the program. `runProgram` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Longest time that the program may take before it is killed, ms. */
  readonly limitMs?: number | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

interface Ended {
  /** Exit status; `null` if a signal ended the program. */
  readonly code: number | null;
  /** Last 20,000 characters of the output. */
  readonly output: string;
  /** True if the limit ended the program. */
  readonly timedOut: boolean;
}

const keptMost = 20_000;

/**
 * Runs a program to its end. It has a process group of its own, so that its children are killed with it.
 * @throws the error of `spawn` if it cannot be started
 */
export function runProgram(path: string, words: readonly string[], options: RunOptions): Promise<Ended> {
  const { signal, limitMs, onLine } = options;
  const isGroup = process.platform !== "win32";
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn(path, words, {
      stdio: ["ignore", "pipe", "pipe"],
      detached: isGroup,
      env: { ...(options.env ?? process.env) },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    let output = "";
    const listen = (text: string): void => {
      output = (output + text).slice(-keptMost);
      for (const line of text.split("\n")) if (line !== "") onLine?.(line);
    };
    const kill = (): void => {
      try {
        if (isGroup && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
        else child.kill("SIGKILL");
      } catch {
        // The program has ended already.
      }
    };
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      process.off("exit", kill);
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const onAbort = (): void => {
      kill();
      end();
      reject(signal?.reason as Error);
    };
    const onLimit = (): void => {
      kill();
      end();
      resolve({ code: null, output, timedOut: true });
    };
    const timer = limitMs === undefined ? undefined : setTimeout(onLimit, limitMs);
    signal?.addEventListener("abort", onAbort);
    process.once("exit", kill);
    child.stdout.setEncoding("utf8").on("data", listen);
    child.stderr.setEncoding("utf8").on("data", listen);
    child.once("error", (error) => {
      end();
      reject(error);
    });
    child.once("close", (code) => {
      end();
      resolve({ code, output, timedOut: false });
    });
  });
}
