// Options that verbs which run a scenario have in common: how their values are read, and how the command that repeats a
// run is made of them.
import { driverNames } from "../load/driver.ts";
import { parseDuration } from "../rules/duration.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { shellCommand } from "../runs/run-place.ts";
import { longestMs } from "../scenario/mistakes.ts";
import { type Operand, option, type VerbOptions } from "./verb.ts";

export const scenarioOperand = {
  name: "scenario",
  required: true,
  describe: "steady, ci-fleet, herd, lone-client, github, or a path to a .ts or .js file",
} as const satisfies Operand;

/** Option that chooses the driver of a real run. */
export const driverOption = option.text(
  "NAME",
  "drive the load by NAME: k6, or node, which needs no other program [default: k6 if it is found]",
  { choices: driverNames },
);

/** Advice on which verb tests what. */
export const whichVerb =
  "probe infers limits that nobody has written down. audit holds a deployment to limits that are. check tests a limiter in your code, or by --target a deployment with drawn calls, which it shrinks. load and verify judge a load that is like yours.";

/** Format of a tokens file, for the help of every verb that takes one. */
export const tokensFormat = 'JSON, [{"token": "...", "user": "...", "organization": "..."}]';

/**
 * Returns the option of every verb that takes limits.
 * @param phrase the verb of its help: `follow`, `judge by`
 * @param otherwise the rules without this option; `null` if yargs has the default
 */
export const rulesOption = (phrase: string, otherwise: string | null) =>
  option.text(
    "RULES",
    `${phrase} the rules or policy file RULES, or a preset: default, documented, or one that 'policy list' names` +
      (otherwise === null ? "" : ` [default: ${otherwise}]`),
    { alias: "policy" },
  );

export const runOptions = {
  seed: option.number("N", "draw from seed N instead of the scenario's"),
  duration: option.text("TIME", "run for TIME instead of the scenario's duration (90s, 5m, 1m30s)"),
  rules: rulesOption("follow", "the scenario's"),
  out: option.text("DIR", "write the run to DIR [default: reports/SCENARIO-TIME]"),
  force: option.flag("replace files in DIR that no run of spillway wrote"),
} as const satisfies VerbOptions;

/** Option that puts a user's limiter in the place of the simulated deployment. */
export const adapterOption = option.text(
  "FILE",
  "replace the deployment by the limiter that the .ts or .js module FILE exports",
  { conflicts: "fault" },
);

/** Option of verbs that run a user's code. */
export const importTimeout = option.text(
  "TIME",
  "wait at most TIME for your file to be imported [default: 30s]",
);

/** Note in the help of the same verbs. */
export const codeNote =
  "The code of your file runs in a thread of its own. Ctrl-C ends it after 2 s; native code (an addon, execSync) cannot be stopped, and the whole process ends instead.";

/** Returns the value of `--import-timeout`, ms. @throws SpillwayError `USAGE` */
export const importMsOf = ({
  importTimeout: text = "30s",
}: {
  readonly importTimeout?: string | undefined;
}): number => requireDuration("--import-timeout", text);

/** Returns a seed that can be used. @throws SpillwayError `USAGE` */
export const requireSeed = (seed: number): number => requireWhole("--seed", seed, 0, Number.MAX_SAFE_INTEGER);

/** Makes the error of an option's value. */
export const unusable = (option: string, got: unknown, allowed: string, hint?: string): SpillwayError =>
  new SpillwayError("USAGE", `${option} cannot be used`, {
    problem: { path: option, got: quote(got), allowed },
    hint,
  });

/** Returns a whole number within bounds, given as a number or as text. @throws SpillwayError `USAGE` naming `option` */
export function requireWhole(option: string, value: number | string, least: number, most: number): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= least && number <= most) return number;
  const end = most === Number.MAX_SAFE_INTEGER ? "2^53 - 1" : most;
  throw unusable(option, Number.isNaN(number) ? value : number, `a whole number from ${least} to ${end}`);
}

/** Reads a duration. @returns whole milliseconds, at least 1. @throws SpillwayError `USAGE` naming `option` */
export function requireDuration(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && Number.isSafeInteger(ms) && ms >= 1 && ms <= longestMs) return ms;
  throw new SpillwayError("USAGE", `the ${option.replace(/^-+/, "")} cannot be used`, {
    problem: { path: option, got: quote(text), allowed: '"90s", "5m", "1m30s", at most a year' },
  });
}

type GivenOption = string | number | boolean | readonly string[] | undefined;

/** Returns the command that repeats a run: `spillway VERB`, the scenario, and the options that were given. */
export function repeatCommand(
  verb: string,
  scenario: string | readonly string[],
  options: Readonly<Record<string, GivenOption>>,
): string {
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return [value].flat().flatMap((one) => [`--${name}`, String(one)]);
  });
  return shellCommand(["npx", "spillway", verb, ...[scenario].flat(), ...words]);
}
