// Command lines run by a child of bounded memory and time, and what must hold of each, whatever it was given.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { main } from "../support/command.ts";

const runner = fileURLToPath(new URL("runner.mjs", import.meta.url));
/** Of the child's heap, MB: no document of the tests has a twentieth of it. */
const heapMost = 256;
/** V8's flags of the process that runs the tests: a child runs as much code, and saves as much by them. */
const tuned = process.execArgv.filter((flag) =>
  /^--(?:interrupt-budget|always-sparkplug|single-threaded-gc|m(?:in|ax)-semi-space-size)\b/.test(flag),
);
/** Of the child's computing, s, however busy the machine is: a command line takes some hundredths. */
const secondsMost = 120;

interface Said {
  /** Its beginning. */
  readonly text: string;
  readonly length: number;
}

export interface Outcome {
  readonly code: number;
  readonly stdout: Said;
  readonly stderr: Said;
}

/** A program of Node's in bounded memory and computing. */
export function bounded(...words: readonly string[]): { readonly program: string; readonly words: string[] } {
  const script = `ulimit -t ${secondsMost}; exec "$0" "$@"`;
  return {
    program: "sh",
    words: ["-c", script, process.execPath, ...tuned, `--max-old-space-size=${heapMost}`, ...words],
  };
}

function start(env: NodeJS.ProcessEnv): ChildProcess {
  const { program, words } = bounded(runner, main);
  return spawn(program, words, {
    env: { ...process.env, NO_COLOR: "1", SPILLWAY_TOKEN: "", ...env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}

/** A child that runs command lines. */
export class CommandLines {
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;

  /** @param env variables beside those of this process */
  constructor(env: NodeJS.ProcessEnv = {}) {
    this.#env = env;
  }

  /** Runs one to its end. @throws where it takes more memory or time than the child has */
  run(words: readonly string[], cwd: string): Promise<Outcome> {
    this.#child ??= start(this.#env);
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const lost = (code: number | null, signal: string | null): void => {
        this.#child = null;
        reject(new Error(`${words.join(" ")}: more memory or time than there is (${signal ?? code})`));
      };
      child.once("exit", lost);
      child.once("message", (outcome: Outcome) => {
        child.off("exit", lost);
        resolve(outcome);
      });
      child.send({ words, cwd });
    });
  }

  end(): void {
    this.#child?.kill("SIGKILL");
  }
}

/** The documented exit statuses; 70 is a bug. */
const exitCodes = [0, 1, 2, 3, 130];
/** Of what is printed for people, characters. */
const printedMost = 150_000;
/** Control characters but for tabs and the ends of lines; what turns the order of reading round; a line of a name. */
const raw = /(?!\t|\r?\n)[\p{Cc}\p{Bidi_Control}]|(?:^|[\n\u2028])FORGED/u;

/** Holds of text for people, of a document and of what is printed. */
export function expectNothingRaw(text: string, what: string): void {
  const [found] = raw.exec(text) ?? [];
  expect(found, `${what}: a raw character in\n${JSON.stringify(text.slice(0, 4000))}`).toBeUndefined();
}

/** Expects of a command line what holds of all. */
export function judge(words: readonly string[], { code, stdout, stderr }: Outcome): void {
  const what = words.join(" ");
  const said = stdout.text + stderr.text;
  expect(exitCodes, `${what}\n${said}`).toContain(code);
  expect(said, what).not.toMatch(/^\s+at .*:\d+:\d+|unexpected error|^uncaught/m);
  expect(stdout.length + stderr.length, `${what}: characters printed`).toBeLessThan(printedMost);
  expectNothingRaw(said, what);
  // A check that judged nothing ends with 2, but there is no error to tell.
  const isSilent = code === 2 && /^nothing was judged/m.test(stdout.text);
  if ((code === 2 || code === 3) && !isSilent) expect(stderr.text, what).toMatch(/^error [A-Z0-9_]+ /m);
}
