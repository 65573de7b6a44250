// Values of options that verbs with a run have in common.
import { parseDuration } from "../rules/duration.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import { longestMs } from "../scenario/mistakes.ts";

/** @throws SpillwayError `USAGE` */
export function requireSeed(seed: number): number {
  if (Number.isSafeInteger(seed) && seed >= 0) return seed;
  throw new SpillwayError("USAGE", "the seed cannot be used", {
    problems: [{ path: "--seed", got: String(seed), allowed: "a whole number from 0 to 2^53 - 1" }],
  });
}

/** @returns whole milliseconds, at least 1. @throws SpillwayError `USAGE` naming `option` */
export function requireDuration(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && Number.isSafeInteger(ms) && ms >= 1 && ms <= longestMs) return ms;
  throw new SpillwayError("USAGE", `the ${option.replace(/^-+/, "")} cannot be used`, {
    problems: [{ path: option, got: quote(text), allowed: '"90s", "5m", "1m30s", at most a year' }],
  });
}
