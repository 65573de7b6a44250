// Runs a command as the program does: reports its error, and sets the exit status.
import { systemNeeds } from "../files/unwritable.ts";
import { SpillwayError } from "../rules/errors.ts";
import { askedColor } from "./colors.ts";
import { describeError, describeThrown, describeUnexpected, endProgress, UNEXPECTED } from "./terminal.ts";

const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** Tells whether a command has the switch `--NAME`, also where its words cannot be parsed. */
export const isOn = (words: readonly string[], name: string): boolean =>
  words.includes(`--${name}`) || words.includes(`--${name}=true`);

/** Passes the choice of colour on to threads and programs, which do not see the command's words. */
function passOnColor(words: readonly string[]): void {
  const asked = askedColor(words);
  if (asked === false) {
    delete process.env["FORCE_COLOR"];
    process.env["NO_COLOR"] = "1";
  } else if (asked === true) {
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
  if (isOn(words, "debug")) say(describeThrown(thrown));
  const json = isOn(words, "json");
  if (thrown instanceof SpillwayError) {
    process.exitCode = thrown.exitCode;
    say(describeError(thrown, json));
  } else {
    process.exitCode = UNEXPECTED;
    say(describeUnexpected(thrown, json));
  }
}

// Errors of the operating system as coded errors: a full disk, too many open files. They are no bugs of spillway.

/** Resources that the system refused, by its error code. */
const refusals: Readonly<Record<string, string>> = {
  ...systemNeeds,
  EACCES: "permission",
  EAGAIN: "room for one more process",
  ENOMEM: "free memory",
  ENOSPC: "free space on the disk (TMPDIR names the folder of temporary files)",
  EPERM: "permission",
};

/** Returns the operating system's error as a coded error; `null` for any other error. */
function systemError(thrown: unknown): SpillwayError | null {
  const { code, syscall, path, message } = thrown as Partial<NodeJS.ErrnoException>;
  if (syscall === "uv_cwd")
    return refused("the working folder", "a folder that was deleted", "one that is there", thrown);
  const found = codeOf(code, message ?? "");
  const allowed = refusals[found ?? ""];
  if (found === undefined || allowed === undefined) return null;
  return refused(path ?? syscall ?? "a thread", found, allowed, thrown);
}

const refused = (path: string, got: string, allowed: string, cause: unknown): SpillwayError =>
  new SpillwayError("SYSTEM_REFUSED", "the operating system refused what is needed", {
    problem: { path, got, allowed },
    cause,
  });

/** Returns the system's code. Errors of starting threads, reading modules and allocating buffers have it only in the message. */
function codeOf(code: string | undefined, message: string): string | undefined {
  if (/^array buffer allocation failed$/i.test(message)) return "ENOMEM";
  if (/too many open files/i.test(message)) return "EMFILE";
  return code === "ERR_WORKER_INIT_FAILED" ? /\bE[A-Z]+\b/.exec(message)?.[0] : code;
}
