// `--open`: shows a report in the browser, by the platform's own program.
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { type Environment, programInPath } from "../load/program.ts";
import { SpillwayError } from "../rules/errors.ts";
import { option } from "./verb.ts";

export const openOption = option.flag("open the report in the browser once it is written");

/** Programs by platform. All other platforms have those of freedesktop.org, and of Linux inside Windows. */
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
 * Looks for the opener before a run, so that a long run does not end without one.
 * @param isWanted true if `--open` was given
 * @returns the function that opens a report; it does nothing if `--open` was not given
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
    problem: { path: "--open", got, allowed },
    hint: "leave --open out: the path of the report is printed",
    cause,
  });

/** Starts the program detached: some stay for as long as the browser is open. */
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
