// The output of commands. Text for people goes to standard output, or to standard error if `--json` claims standard
// output for the result alone. Progress goes to standard error. A terminal gets only the control characters of this
// file and of `colors.ts`, whatever names contain.
import { inspect } from "node:util";

import type { Problem, SpillwayError } from "../rules/errors.ts";
import { printableJson, printableLines } from "../rules/printable.ts";
import { pc, printedLine } from "./colors.ts";

export interface Terminal {
  say(...lines: readonly string[]): void;
  /** Prints lines for people in place of the lines that `redraw` printed last. */
  redraw(lines: readonly string[]): void;
  /** Prints the command's result for machines, under `--json` alone. */
  result(value: unknown): void;
  /** Prints one of many results as a line, under `--json` alone. */
  resultLine(value: unknown): void;
  /** Prints a document on standard output. */
  document(text: string): void;
  /**
   * Shows how far a command is, until the next output, or its end. A terminal shows one line, replaced at most ten times
   * a second. Elsewhere a line is printed every five seconds, the first after two. Callers report news at once: all
   * timing is here.
   * @param text words, or a function that makes the words each time they are shown
   */
  progress(text: string | (() => string)): void;
}

const redrawMs = 100;
/** Time before the first line of progress elsewhere than on a terminal, ms. */
const quietMs = 2_000;
const lineEveryMs = 5_000;
/** Time after which the last words are shown again without news, if a line is due, ms. */
const againMs = 1_000;

let clearShown = (): void => undefined;

/** Clears the progress that is shown, if any: a command that ends leaves neither its line nor its timer. */
export const endProgress = (): void => clearShown();

/** Opens the terminal's output. @param nowMs a clock */
export function openTerminal(json: boolean | undefined, nowMs: () => number = Date.now): Terminal {
  const people = json ? process.stderr : process.stdout;
  const live = process.stderr.isTTY;
  let shown = false;
  let nextMs = live ? 0 : nowMs() + quietMs;
  let drawn = 0;
  let latest: (() => string) | null = null;
  let again: NodeJS.Timeout | null = null;
  const clear = (): void => {
    latest = null;
    if (again !== null) clearInterval(again);
    again = null;
    if (shown) process.stderr.write("\r\u001b[2K");
    shown = false;
  };
  const draw = (): void => {
    if (latest === null || nowMs() < nextMs) return;
    nextMs = nowMs() + (live ? redrawMs : lineEveryMs);
    const text = printedLine(latest());
    process.stderr.write(
      live ? `\r\u001b[2K${text.slice(0, (process.stderr.columns ?? 80) - 1)}` : `${text}\n`,
    );
    shown = live;
  };
  return {
    say(...lines) {
      clear();
      people.write(`${printed(lines)}\n`);
    },
    redraw(lines) {
      people.write(`${drawn > 0 ? `\u001b[${drawn}A` : ""}\r\u001b[0J${printed(lines)}\n`);
      drawn = lines.length;
    },
    result(value) {
      clear();
      if (json) process.stdout.write(`${printableJson(value, 2)}\n`);
    },
    resultLine(value) {
      if (json) process.stdout.write(`${printableJson(value)}\n`);
    },
    document(text) {
      clear();
      process.stdout.write(printableLines(text));
    },
    progress(text) {
      clearShown = clear;
      latest = typeof text === "string" ? () => text : text;
      again ??= setInterval(draw, againMs).unref();
      draw();
    },
  };
}

const printed = (lines: readonly string[]): string => lines.map((line) => printedLine(line)).join("\n");

/** Prints a warning for people on standard error. */
export const warn = (line: string): void => {
  process.stderr.write(`${printedLine(line)}\n`);
};

/** Exit status of a bug in spillway. */
export const UNEXPECTED = 70;

/** Most problems of one error that people see. */
const problemsMost = 20;

/**
 * Returns a coded error as text: the summary, each problem on a line, the next step.
 * @param json true for one line of JSON; `path`, `got` and `allowed` are those of the first problem
 */
export function describeError(error: SpillwayError, json: boolean): string {
  const { code, problems, hint } = error;
  const [summary = ""] = error.message.split("\n");
  if (json) return errorLine(code, summary, problems, hint);
  const problem = ({ path, got, allowed }: Problem): string =>
    `  ${pc.bold(path)}: got ${got}, allowed: ${allowed}`;
  const more = problems.length - problemsMost;
  return printed([
    `${pc.red("error")} ${pc.dim(code)} ${summary}`,
    ...problems.slice(0, problemsMost).map(problem),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(hint === undefined ? [] : [`${pc.cyan("next")} ${hint}`]),
  ]);
}

/** Returns the text of an unforeseen error. @param json true for one line of JSON, shaped like a coded error's */
export function describeUnexpected(thrown: unknown, json: boolean): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const next = "this is a bug in spillway; --debug shows where";
  return json
    ? errorLine("UNEXPECTED", text, [], next)
    : printed([`unexpected error: ${text}`, `${pc.cyan("next")} ${next}`]);
}

/** Returns an error with its stack and its causes. */
export const describeThrown = (thrown: unknown): string => printableLines(inspect(thrown));

function errorLine(
  code: string,
  message: string,
  problems: readonly Problem[],
  next: string | undefined,
): string {
  const { path = null, got = null, allowed = null } = problems[0] ?? {};
  return printableJson({ code, message, path, got, allowed, problems, next: next ?? null });
}
