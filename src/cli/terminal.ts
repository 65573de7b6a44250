// How commands speak: people's text on standard output, or on standard error where `--json` claims standard
// output for the result alone; progress on standard error.
import pc from "picocolors";
import type { Problem, SpillwayError } from "../rules/errors.ts";

export interface Terminal {
  /** A line for people. */
  say(text: string): void;
  /** The command's result for machines; printed under `--json` alone. */
  result(value: unknown): void;
  /**
   * Shows how far a command is. On a terminal replaces the line, at most ten times a second; `null` clears it. Elsewhere
   * prints a line every five seconds, the first after two.
   */
  progress(text: string | null): void;
}

const redrawMs = 100;
/** Elsewhere than on a terminal, what takes less time goes without progress. */
const quietMs = 2_000;
const lineEveryMs = 5_000;

/** @param nowMs a clock */
export function openTerminal(json: boolean, nowMs: () => number = Date.now): Terminal {
  const people = json ? process.stderr : process.stdout;
  const live = process.stderr.isTTY === true;
  let shown = false;
  let nextMs = live ? 0 : nowMs() + quietMs;
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
      if (text === null) return clear();
      if (nowMs() < nextMs) return;
      nextMs = nowMs() + (live ? redrawMs : lineEveryMs);
      process.stderr.write(
        live ? `\r\u001b[2K${text.slice(0, (process.stderr.columns ?? 80) - 1)}` : `${text}\n`,
      );
      shown = live;
    },
  };
}

/** Exit status of a bug in spillway. */
export const UNEXPECTED = 70;

/**
 * A coded error: what is wrong, each problem on a line, the next step.
 * @param json one line of JSON instead; `path`, `got` and `allowed` are those of the first problem
 */
export function describeError(error: SpillwayError, json: boolean): string {
  const { code, problems, hint } = error;
  const [summary = ""] = error.message.split("\n");
  if (json) return errorLine(code, summary, problems, hint);
  const problem = ({ path, got, allowed }: Problem): string =>
    `  ${pc.bold(path)}: got ${got}, allowed: ${allowed}`;
  const lines = [`${pc.red("error")} ${pc.dim(code)} ${summary}`, ...problems.map(problem)];
  if (hint !== undefined) lines.push(`${pc.cyan("next")} ${hint}`);
  return lines.join("\n");
}

/** An error that spillway did not foresee. @param json one line of JSON instead, of the same shape as a coded error's */
export function describeUnexpected(thrown: unknown, json: boolean): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const next = "this is a bug in spillway; --debug shows where";
  return json
    ? errorLine("UNEXPECTED", text, [], next)
    : `unexpected error: ${text}\n${pc.cyan("next")} ${next}`;
}

function errorLine(
  code: string,
  message: string,
  problems: readonly Problem[],
  next: string | undefined,
): string {
  const { path = null, got = null, allowed = null } = problems[0] ?? {};
  return JSON.stringify({ code, message, path, got, allowed, problems, next: next ?? null });
}
