// The meaning of all found columns together: units, the event of a row's time, and the owner of rows without an
// organization.
import type { DurationUnit } from "./choices.ts";
import { type ColumnUse, type NamedRole, plainName, unitInName, valuesOf } from "./column-guesses.ts";
import type { LogSample } from "./sniff.ts";

/** Names of a request's duration in nginx and in AWS's load balancers: in seconds, and known when the request ends. */
const endedDuration = /^(?:requesttime|rt|upstreamresponsetime|urt|targetprocessingtime)$/;

const find = (uses: readonly ColumnUse[], role: NamedRole): ColumnUse | undefined =>
  uses.find((use) => use.role === role);

const lastKey = (use: ColumnUse | undefined): string => use?.path.at(-1) ?? use?.column ?? "";

/** Returns the only organization that the first rows name in their paths; `null` if none or several. */
export function loneOrganization(sample: LogSample, uses: readonly ColumnUse[]): string | null {
  const named = new Set<string>();
  for (const value of sample.columns[find(uses, "path")?.index ?? -1]?.values ?? []) {
    const [, slug] = /\/v2\/organizations\/([^/?#\s]+)/.exec(value ?? "") ?? [];
    if (slug !== undefined) named.add(slug);
  }
  const [only = null] = named;
  return named.size === 1 ? only : null;
}

/** Returns the unit of durations, by the column's name, or by its values. */
export function durationUnitOf(sample: LogSample, uses: readonly ColumnUse[]): DurationUnit {
  const use = find(uses, "duration");
  if (use === undefined || sample.format === "k6") return "ms";
  // The Elastic Common Schema counts in nanoseconds.
  if (use.path.slice(-2).join(".") === "event.duration") return "ns";
  const written = unitInName(lastKey(use));
  if (written !== null) return written;
  if (endedDuration.test(plainName(lastKey(use)))) return "s";
  const column = sample.columns[use.index];
  const values = column === undefined ? [] : valuesOf(column);
  const hasFraction = values.some((value) => value.includes("."));
  if (sample.format === "access-log") return hasFraction ? "s" : "us";
  const areSeconds =
    hasFraction && values.every((value) => Number(value) <= 60) && values.some((value) => Number(value) < 1);
  return areSeconds ? "s" : "ms";
}

/**
 * Returns which instant of a request its time is. nginx writes a line, with its time, when a request ends. Apache's
 * time is that of the request's arrival; its `%D` is in microseconds, which tells the two apart.
 */
export function meaningOfTime(
  sample: LogSample,
  uses: readonly ColumnUse[],
  unit: DurationUnit,
): "start" | "end" {
  if (sample.format === "k6" || sample.layout?.isW3c === true) return "end";
  if (/^(?:end|ended|finished|completed|received)/.test(plainName(lastKey(find(uses, "time"))))) return "end";
  if (endedDuration.test(plainName(lastKey(find(uses, "duration"))))) return "end";
  return sample.format === "access-log" && unit === "s" ? "end" : "start";
}
