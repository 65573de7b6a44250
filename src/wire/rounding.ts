// The precision with which resets tell windows, by a wire format's own words.
import type { Policy } from "../policy/policy.ts";
import { wireOf } from "../policy/presets.ts";
import {
  mayShow,
  type ResetMeaning,
  type WireData,
  type WireReading,
  type WireReset,
} from "../policy/wire-data.ts";
import { gridMsOf } from "./times.ts";

/** Returns the readings that may show a quota. */
export const readingsOf = ({ readings }: WireData, quota: string): readonly WireReading[] =>
  readings.filter((reading) => mayShow(reading, quota));

/** Returns the rounding that all resets have; `null` if one tells none, or if they differ. Defaults do not count. */
export function roundingOf(rows: readonly WireReading[]): NonNullable<WireReset["round"]> | null {
  const told = rows.flatMap(({ reset }) => (reset === undefined ? [] : [reset.round ?? null]));
  const [first = null] = told;
  return told.every((round) => round === first) ? first : null;
}

/** Returns a warning for each reset in whole seconds that windows are judged by and whose rounding is unknown. */
export function looseResets(policy: Policy): string[] {
  const wire = wireOf(policy);
  const loose = Object.entries(policy.quotas).flatMap(([name, { algorithm }]) => {
    const rows = readingsOf(wire, name);
    return algorithm.kind === "fixed-window" && roundingOf(rows) === null ? [{ name, rows }] : [];
  });
  return wire.readings.flatMap((row, index) => {
    const { reset } = row;
    if (reset?.means !== "window-end" || gridMsOf(reset) < 1000) return [];
    const names = loose.flatMap(({ name, rows }) => (rows.includes(row) ? [name] : []));
    if (names.length === 0) return [];
    const lacks = reset.round === undefined ? "no round" : "another round than others";
    const at = `${typeof policy.wire === "string" ? `${policy.wire}'s ` : ""}wire.readings.${index}.reset`;
    return [
      `${at} has ${lacks}: ends of windows are judged a unit more loosely (${names.join(", ")}). ` +
        'It is "ceil", "floor" or "round".',
    ];
  });
}

/** Tells whether answers show a fixed window's counts, but no reset that tells which window a count is of. */
export function isUntold(policy: Policy, name: string): boolean {
  const rows = readingsOf(wireOf(policy), name);
  const isCounted = rows.some((row) => /\{(?:remaining|used)\}/.test(JSON.stringify(row)));
  const isTold = rows.some(({ reset }) => reset !== undefined && tellingEnds.includes(reset.means));
  return policy.quotas[name]?.algorithm.kind === "fixed-window" && isCounted && !isTold;
}

/** Meanings of a reset that tell when a window ends. At that end a window is full again. */
export const tellingEnds: readonly ResetMeaning[] = ["window-end", "full"];

export const untoldWindow =
  "no reset tells which window a count is of: what is let through is judged, and counts are not";

/** Formats that read the same headers, and take resets for ends of windows. */
const withEnds: Readonly<Record<string, string>> = {
  "ietf-06": "express-rate-limit-6",
  "ietf-07": "express-rate-limit-7",
  "ietf-11": "express-rate-limit-8",
};

/** Returns how a policy says that windows end at their resets; nothing if no reset is shown. */
function endsSaid(policy: Policy, name: string): string {
  if (readingsOf(wireOf(policy), name).every(({ reset }) => reset === undefined)) return "";
  const other = typeof policy.wire === "string" ? withEnds[policy.wire] : undefined;
  const member = other === undefined ? '"means": "window-end" of the wire\'s reset' : `"wire": "${other}"`;
  return ` If windows end at the reset, ${member} says so.`;
}

/** Returns a warning for each window whose resets do not tell which window a count is of. */
export const untoldWindows = (policy: Policy): string[] =>
  Object.keys(policy.quotas).flatMap((name) =>
    isUntold(policy, name) ? [`quotas.${name}: ${untoldWindow}.${endsSaid(policy, name)}`] : [],
  );
