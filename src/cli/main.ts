#!/usr/bin/env node
// The program: runs the command of its arguments, with a pipe or a file at its standard output.
import { errorCodes, SpillwayError } from "../rules/errors.ts";
import { endIfStuck } from "../runs/interrupt.ts";
import { runProgram, tellError } from "./program.ts";
import { describeError } from "./terminal.ts";

/** A terminal that was closed: nobody is left to be told, and what was done is still to be kept. */
const isClosed = (stream: NodeJS.WriteStream, code: string | undefined): boolean =>
  stream.isTTY && code === "EIO";

// A reader that has seen enough (`| head`) closes the pipe: that ends the command, and is no error of its own.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (isClosed(process.stdout, code)) return;
  if (code === "EPIPE") process.exit();
  const error = new SpillwayError("FILE_UNWRITABLE", `standard output cannot be written: ${code}`);
  console.error(describeError(error, process.argv.includes("--json")));
  process.exit(error.exitCode);
});
// There is nowhere left to say it.
process.stderr.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (isClosed(process.stderr, code)) return;
  process.exit(code === "EPIPE" ? undefined : errorCodes.FILE_UNWRITABLE);
});

const words = process.argv.slice(2);
// Programs that cannot be started are told of by an event that nobody may wait for.
process.on("uncaughtException", (error) => {
  tellError(error, words);
  process.exit();
});

await runProgram(words);
endIfStuck();
