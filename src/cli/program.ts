// Runs a command as the program does: reports its error, and sets the exit status.
import { SpillwayError } from "../rules/errors.ts";
import { systemError } from "./system-error.ts";
import { describeError, describeThrown, describeUnexpected, endProgress, UNEXPECTED } from "./terminal.ts";

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Passes the choice of colour on to threads and programs, which do not see the command's words. */
function passOnColor(words: readonly string[]): void {
  if (words.includes("--no-color")) {
    delete process.env["FORCE_COLOR"];
    process.env["NO_COLOR"] = "1";
  } else if (words.includes("--color")) {
    delete process.env["NO_COLOR"];
    process.env["FORCE_COLOR"] = "1";
  }
}

/**
 * Runs a command to its end; it throws nothing.
 * @param words the words after the program's name
 */
export async function runProgram(words: readonly string[]): Promise<void> {
  passOnColor(words);
  try {
    // A reached limit of open files shows here first.
    const { runCommand } = await import("./command-line.ts");
    await runCommand(words).finally(endProgress);
  } catch (error) {
    tellError(error, words);
  }
}

/** Says an error, and sets the exit status. @param words the words of the command that it ends */
export function tellError(error: unknown, words: readonly string[]): void {
  const thrown = systemError(error) ?? error;
  endProgress();
  if (words.includes("--debug")) say(describeThrown(thrown));
  const json = words.includes("--json");
  if (thrown instanceof SpillwayError) {
    process.exitCode = thrown.exitCode;
    say(describeError(thrown, json));
  } else {
    process.exitCode = UNEXPECTED;
    say(describeUnexpected(thrown, json));
  }
}
