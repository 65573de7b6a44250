#!/usr/bin/env node
// The program: runs the command, reports its error and sets the exit status.
import { hideBin } from "yargs/helpers";
import { SpillwayError } from "../rules/errors.ts";
import { runCommand } from "./command-line.ts";
import { describeError, describeUnexpected, UNEXPECTED } from "./terminal.ts";

async function main(words: readonly string[]): Promise<void> {
  try {
    await runCommand(words);
  } catch (thrown) {
    if (words.includes("--debug")) console.error(thrown);
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
