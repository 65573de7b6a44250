// How commands speak: people's text on standard output, or on standard error where `--json` claims standard
// output for the result alone; progress on standard error, and only where a person looks at it.
import pc from "picocolors";
import type { Problem, SpillwayError } from "../rules/errors.ts";

export interface Terminal {
  /** A line for people. */
  say(text: string): void;
  /** The command's result for machines; printed under `--json` alone. */
  result(value: unknown): void;
  /** Replaces the current progress line; `null` clears it. Rewritten at most ten times a second. */
  progress(text: string | null): void;
}

export function openTerminal(json: boolean): Terminal {
  const people = json ? process.stderr : process.stdout;
  const live = process.stderr.isTTY === true;
  let shown = false;
  let lastMs = 0;
  const clear = (): void => {
    if (shown) process.stderr.write("\r\u001b[2K");
    shown = false;
  };
  return {
    say(text) {
      clear();
      people.write(`${text}\n`);
    },
    result(value) {
      if (json) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    progress(text) {
      if (!live) return;
      if (text === null) return clear();
      if (Date.now() - lastMs < 100) return;
      lastMs = Date.now();
      process.stderr.write(`\r\u001b[2K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`);
      shown = true;
    },
  };
}

/** A coded error as people read it: what is wrong, each problem on a line, the next step. */
export function describeError(error: SpillwayError): string {
  const [summary] = error.message.split("\n");
  const problem = ({ path, got, allowed }: Problem): string =>
    `  ${pc.bold(path)}: got ${got}, allowed: ${allowed}`;
  const lines = [`${pc.red("error")} ${pc.dim(error.code)} ${summary}`, ...error.problems.map(problem)];
  if (error.hint !== undefined) lines.push(`${pc.cyan("next")} ${error.hint}`);
  return lines.join("\n");
}
