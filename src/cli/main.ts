#!/usr/bin/env node
// The program: runs the command, reports its error and sets the exit status.
import { hideBin } from "yargs/helpers";
import { SpillwayError } from "../rules/errors.ts";
import { runCommand } from "./command-line.ts";
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
    await runCommand(words);
  } catch (thrown) {
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

// A reader that has seen enough (`| head`) closes the pipe: that ends the command, and is no error of its own.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    throw error;
  });

await main(hideBin(process.argv));
