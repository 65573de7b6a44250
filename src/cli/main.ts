#!/usr/bin/env node
// The program: runs the command that its arguments name, also with a pipe or a file as standard output.
import { errorCodes, SpillwayError } from "../rules/errors.ts";
import { endIfStuck } from "../runs/interrupt.ts";
import { isOn, runProgram, tellError } from "./program.ts";
import { describeError } from "./terminal.ts";

const words = process.argv.slice(2);

/** Tells whether the terminal was closed. Nobody is left to read errors, but results must still be kept. */
const isClosed = (stream: NodeJS.WriteStream, code: string | undefined): boolean =>
  stream.isTTY && code === "EIO";

// A reader that has seen enough (`| head`) closes the pipe. This ends the command, and is no error.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (isClosed(process.stdout, code)) return;
  if (code === "EPIPE") process.exit();
  const error = new SpillwayError("FILE_UNWRITABLE", `standard output cannot be written: ${code}`);
  console.error(describeError(error, isOn(words, "json")));
  process.exit(error.exitCode);
});
// No stream is left for the error's text.
process.stderr.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (isClosed(process.stderr, code)) return;
  if (code !== "EPIPE") process.exitCode = errorCodes.FILE_UNWRITABLE;
  process.exit();
});

// Node reports a program that cannot start by an event, for which nobody may be waiting.
process.on("uncaughtException", (error) => {
  tellError(error, words);
  process.exit();
});

await runProgram(words);
endIfStuck();
