#!/usr/bin/env node
// The program: runs the command, reports its error and sets the exit status.
import { errorCodes, SpillwayError } from "../rules/errors.ts";
import { endIfStuck } from "./interrupt.ts";
import { systemError } from "./system-error.ts";
import { describeError, describeThrown, describeUnexpected, UNEXPECTED } from "./terminal.ts";

/** Tells threads and programs that are started, which do not see the command's words. */
function passOnColor(words: readonly string[]): void {
  if (words.includes("--no-color")) {
    delete process.env["FORCE_COLOR"];
    process.env["NO_COLOR"] = "1";
  } else if (words.includes("--color")) {
    delete process.env["NO_COLOR"];
    process.env["FORCE_COLOR"] = "1";
  }
}

async function main(words: readonly string[]): Promise<void> {
  passOnColor(words);
  try {
    // Where files cannot be opened any more, this is where it shows first.
    const { runCommand } = await import("./command-line.ts");
    await runCommand(words);
  } catch (error) {
    const thrown = systemError(error) ?? error;
    if (words.includes("--debug")) console.error(describeThrown(thrown));
    const json = words.includes("--json");
    if (thrown instanceof SpillwayError) {
      process.exitCode = thrown.exitCode;
      console.error(describeError(thrown, json));
    } else {
      process.exitCode = UNEXPECTED;
      console.error(describeUnexpected(thrown, json));
    }
  }
}

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

await main(process.argv.slice(2));
endIfStuck();
