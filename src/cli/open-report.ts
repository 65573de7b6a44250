// `--open`: shows a report in the browser, by the program that the platform has for that.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { type Environment, programInPath } from "../load/program.ts";
import { SpillwayError } from "../rules/errors.ts";
import type { VerbOption } from "./verb.ts";

export const openOption = {
  type: "boolean",
  describe: "open the report in the browser once it is written",
} as const satisfies VerbOption;

/** By the names of platforms; all others have those of freedesktop.org, and of Linux inside Windows. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["explorer"],
};
const openersElsewhere = ["xdg-open", "wslview"];

export interface OpenerOptions {
  readonly env?: Environment;
  readonly platform?: NodeJS.Platform;
  /** Starts the program that was found. */
  readonly start?: (program: string, path: string) => Promise<void>;
}

/**
 * Looks the opener up before anything is run, so that a long run does not end with it missing.
 * @param isWanted whether `--open` was given
 * @returns what opens a report; it does nothing where it is not wanted
 * @throws SpillwayError `OPENER_MISSING`
 */
export async function reportOpener(
  isWanted: boolean | undefined,
  { env = process.env, platform = process.platform, start = startProgram }: OpenerOptions = {},
): Promise<(path: string) => Promise<void>> {
  if (isWanted !== true) return async () => {};
  const names = openers[platform] ?? openersElsewhere;
  for (const name of names) {
    const program = await programInPath(name, env);
    if (program !== null) return (path) => start(program, resolve(path));
  }
  throw openerMissing("nothing", `one of ${names.join(", ")} in PATH`);
}

const openerMissing = (got: string, allowed: string, cause?: unknown): SpillwayError =>
  new SpillwayError("OPENER_MISSING", "no program opens reports on this machine", {
    problems: [{ path: "--open", got, allowed }],
    hint: "leave --open out: the path of the report is printed",
    cause,
  });

/** The program goes on by itself: some stay for as long as the browser is open. */
function startProgram(program: string, path: string): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(program, [path], { detached: true, stdio: "ignore" });
    child.once("error", (cause) =>
      fail(openerMissing(`${program}, which cannot be run`, "a program", cause)),
    );
    child.once("spawn", () => {
      child.unref();
      done();
    });
  });
}
