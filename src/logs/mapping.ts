// Guesses what each column of a log means: by its name, then by its values. The guess is shown, and options correct it.
// A column that an option names is taken as it is.
import { closest } from "../rules/closest.ts";
import { quote, SpillwayError } from "../rules/errors.ts";
import type { DateOrder, DurationUnit, LogOptions } from "./choices.ts";
import {
  type ColumnUse,
  type GuessedRole,
  guesses,
  isMostly,
  isTokenColumn,
  type NamedRole,
  plainName,
  shareOf,
  timesOf,
  unitInName,
  unitless,
  valuesOf,
} from "./column-guesses.ts";
import { spanOf } from "./field-values.ts";
import { invalid } from "./log-blocks.ts";
import type { LogSample, SampledColumn } from "./sniff.ts";
import { dateOrderOf, instantOf, isClock, isDay, isTime, timeForms } from "./time-text.ts";

/** Choices of the options. */
export interface MappingFlags extends Pick<LogOptions, "tokenColumn" | "durationUnit" | "timeIs" | "dates"> {
  readonly columns?: Readonly<Partial<Record<NamedRole, string>>>;
}

export interface LogMapping {
  readonly uses: readonly ColumnUse[];
  /** True if callers are known by tokens, which are only shown as fingerprints. */
  readonly userIsToken: boolean;
  /** True if some column holds tokens, whether it is used or not. */
  readonly hasTokens: boolean;
  readonly durationUnit: DurationUnit;
  /** `end` if the log is written when a request ends: it began `duration` before. */
  readonly timeIs: "start" | "end";
  /** Order of day and month in dates that are numbers alone. */
  readonly dates: DateOrder;
  /** Step of the clock, ms: 1000 if the first times are whole seconds. */
  readonly clockMs: number;
  /** Only organization that the first rows name in their paths, and so that of rows that name none. */
  readonly organization: string | null;
}

/** Mapping of traces, in which nothing is guessed. */
export const noMapping: LogMapping = {
  uses: [],
  userIsToken: false,
  hasTokens: false,
  durationUnit: "ms",
  timeIs: "start",
  dates: "day-first",
  clockMs: 1,
  organization: null,
};

/**
 * Guesses the meaning of each column.
 * @param file name of the log, for errors
 * @throws SpillwayError `LOG_INVALID` if there is no time, or nothing else; `USAGE` if an option names a column that
 *   does not exist
 */
export function guessMapping(sample: LogSample, flags: MappingFlags, file: string): LogMapping {
  const uses: ColumnUse[] = sample.format === "k6" ? k6Uses(sample, flags) : [];
  const isTaken = (index: number): boolean => uses.some((use) => use.index === index && index !== -1);
  const named = { ...flags.columns };
  if (flags.tokenColumn !== undefined) named.user = flags.tokenColumn;
  for (const [role, name] of Object.entries(named) as [NamedRole, string][])
    uses.push(namedColumn(sample, role, name));
  uses.push(...dayAndHour(sample, uses));
  for (const guess of [byName, byValue])
    for (const role of Object.keys(guesses) as GuessedRole[]) {
      const found = find(uses, role) === undefined ? guess(sample, role, isTaken) : null;
      if (found !== null) uses.push(found);
    }
  requireEnough(uses, sample, file);
  const user = find(uses, "user");
  const userIsToken =
    user !== undefined &&
    (flags.tokenColumn !== undefined || isTokenColumn(sample.columns[user.index], user.path));
  const durationUnit = flags.durationUnit ?? durationUnitOf(sample, uses);
  const dates = flags.dates ?? dateOrderIn(sample, uses, file);
  return {
    uses,
    userIsToken,
    hasTokens: userIsToken || sample.columns.some((column) => isTokenColumn(column, column.path)),
    durationUnit,
    timeIs: flags.timeIs ?? meaningOfTime(sample, uses, durationUnit),
    dates,
    clockMs: clockOf(sample, uses, dates),
    organization: loneOrganization(sample, uses),
  };
}

/** Returns the columns of k6's `http_req_duration` points: when a request ended, and how long it took. */
function k6Uses(sample: LogSample, { columns = {} }: MappingFlags): ColumnUse[] {
  const fixed = { time: "data.time", duration: "data.value" } as const;
  return (["time", "duration"] as const)
    .filter((role) => columns[role] === undefined)
    .map((role) => {
      const path = fixed[role].split(".");
      const index = sample.columns.findIndex(({ name }) => name === fixed[role]);
      return { role, column: fixed[role], path, index, why: "where k6 writes it" };
    });
}

function namedColumn(sample: LogSample, role: NamedRole, name: string): ColumnUse {
  const index = sample.columns.findIndex((column) => column.name === name);
  const found = sample.columns[index];
  if (found !== undefined) return { role, column: name, path: found.path, index, why: "as told" };
  const names = sample.columns.map((column) => column.name);
  const meant = closest(name, names);
  // A member may be missing in the first rows; a column may not.
  if ((sample.format === "ndjson" || sample.format === "k6") && meant === null)
    return { role, column: name, path: name.split("."), index: -1, why: "as told; the first rows have none" };
  const option = `--${role}-column`;
  throw new SpillwayError("USAGE", "this log has no such column", {
    problem: { path: option, got: quote(name), allowed: names.join(", ") || "none: it has no columns" },
    hint: meant === null ? undefined : `did you mean ${option} ${quote(meant)}?`,
  });
}

/**
 * Returns the columns of days and hours, if times stand in two columns.
 * @param uses columns that options name
 */
function dayAndHour(sample: LogSample, uses: readonly ColumnUse[]): ColumnUse[] {
  const columns = sample.columns.map(({ name, path, values }, index) => ({ name, path, values, index }));
  const [told, toldDate] = [find(uses, "time"), find(uses, "date")];
  const isWhole = (column: SampledColumn): boolean =>
    guesses.time.names.some((name) => hasName(column, name, "time")) &&
    isMostly(column, isTime) &&
    !isMostly(column, isDay);
  if (told === undefined && columns.some(isWhole)) return [];
  const pick = (fits: (value: string) => boolean, named: ColumnUse | undefined, name: string) =>
    columns
      .filter(({ index }) =>
        named === undefined ? !uses.some((use) => use.index === index) : index === named.index,
      )
      .filter((column) => isMostly(column, fits))
      .sort((a, b) => Number(plainName(b.name) === name) - Number(plainName(a.name) === name))[0];
  const [hour, day] = [pick(isClock, told, "time"), pick(isDay, toldDate, "date")];
  if (hour === undefined || day === undefined) return [];
  const use = (role: NamedRole, { name: column, ...place }: typeof day, why: string): ColumnUse => ({
    ...place,
    ...{ role, column, why },
  });
  return [
    ...(told === undefined ? [use("time", hour, "the hours")] : []),
    ...(toldDate === undefined ? [use("date", day, "the days")] : []),
  ];
}

function byName(sample: LogSample, role: GuessedRole, isTaken: (index: number) => boolean): ColumnUse | null {
  const { names, fits } = guesses[role];
  // A column with few or no values is the last choice.
  let silent: ColumnUse | null = null;
  for (const wanted of names)
    for (const [index, column] of sample.columns.entries()) {
      if (isTaken(index) || !hasName(column, wanted, role) || shareOf(column, fits) < 0.5) continue;
      const use: ColumnUse = { role, column: column.name, path: column.path, index, why: "by its name" };
      if (2 * valuesOf(column).length > column.values.length) return use;
      silent ??= use;
    }
  return silent;
}

function hasName({ name, path }: SampledColumn, wanted: string, role: GuessedRole): boolean {
  const last = path.at(-1) ?? name;
  const forms = role === "duration" || role === "time" ? [unitless(last), last] : [last];
  return [name, ...forms].some((form) => plainName(form) === wanted);
}

/** Tells whether a value is a duration as nginx or Traefik writes it: the last field of many logs, without a name. */
const isSeconds = (value: string): boolean =>
  /^\d+\.\d{3}$/.test(value) || value === "-" || spanOf(value) >= 0;

function byValue(
  sample: LogSample,
  role: GuessedRole,
  isTaken: (index: number) => boolean,
): ColumnUse | null {
  const isExtra = role === "duration" && sample.format === "access-log";
  const fits = isExtra ? isSeconds : guesses[role].byValue;
  if (fits === undefined) return null;
  for (const [index, column] of sample.columns.entries()) {
    // Referers look like paths.
    if (isTaken(index) || /refer/i.test(column.name) || !isMostly(column, fits)) continue;
    return { role, column: column.name, path: column.path, index, why: "by what stands there" };
  }
  return null;
}

function requireEnough(uses: readonly ColumnUse[], sample: LogSample, file: string): void {
  const has = (role: NamedRole): boolean => uses.some((use) => use.role === role);
  const columns = sample.columns.map(({ name }) => name).join(", ");
  const fail = (summary: string, allowed: string, hint: string): never => {
    throw invalid(file, summary, `the columns ${columns}`, allowed, hint);
  };
  if (!has("time"))
    fail("no column of this log is a time", "a time in one of them", `--time-column names it; ${timeForms}`);
  if (!["user", "address", "path", "status", "organization"].some((role) => has(role as NamedRole)))
    fail(
      "this log tells when, but not who asked for what",
      "a user, token, address or path in one of them",
      "--user-column, --token-column and --path-column name them",
    );
}

/** @throws SpillwayError `LOG_INVALID` if the first rows do not settle which number of a date is the day */
function dateOrderIn(sample: LogSample, uses: readonly ColumnUse[], file: string): DateOrder {
  const times = valuesOf({ values: timesOf(sample, uses) });
  const order = dateOrderOf(times);
  if (order !== null) return order;
  throw invalid(
    file,
    "the first times of this log may have the day or the month first",
    quote(times[0]),
    "dates of which one number is above 12",
    "--dates day-first or --dates month-first tells which",
  );
}

/** Returns the step of a log's clock, ms, by its first times. */
function clockOf(sample: LogSample, uses: readonly ColumnUse[], dates: DateOrder): number {
  const times = valuesOf({ values: timesOf(sample, uses) }).map((time) => instantOf(time, dates));
  return times.length > 1 && times.every((ms) => ms % 1000 === 0) ? 1000 : 1;
}

/** Names of a request's duration in nginx and in AWS's load balancers: in seconds, and known when the request ends. */
const endedDuration = /^(?:requesttime|rt|upstreamresponsetime|urt|targetprocessingtime)$/;

const find = (uses: readonly ColumnUse[], role: NamedRole): ColumnUse | undefined =>
  uses.find((use) => use.role === role);

const lastKey = (use: ColumnUse | undefined): string => use?.path.at(-1) ?? use?.column ?? "";

/** Returns the only organization that the first rows name in their paths; `null` if none or several. */
function loneOrganization(sample: LogSample, uses: readonly ColumnUse[]): string | null {
  const named = new Set<string>();
  for (const value of sample.columns[find(uses, "path")?.index ?? -1]?.values ?? []) {
    const [, slug] = /\/v2\/organizations\/([^/?#\s]+)/.exec(value ?? "") ?? [];
    if (slug !== undefined) named.add(slug);
  }
  const [only = null] = named;
  return named.size === 1 ? only : null;
}

/** Length that half of a log's requests do not have, ms: such numbers are nanoseconds, which programs in Go write. */
const longestUsualMs = 600_000;

/** Tells whether lines of JSON are Traefik's: https://doc.traefik.io/traefik/observe/logs-and-access-logs/ */
const isTraefik = ({ columns }: LogSample): boolean =>
  columns.some(({ name }) => name === "DownstreamStatus") && columns.some(({ name }) => name === "Duration");

/** Returns the unit of durations, by the column's name, or by its values. */
function durationUnitOf(sample: LogSample, uses: readonly ColumnUse[]): DurationUnit {
  const use = find(uses, "duration");
  if (use === undefined || sample.format === "k6") return "ms";
  // The Elastic Common Schema counts in nanoseconds.
  if (use.path.slice(-2).join(".") === "event.duration") return "ns";
  const written = unitInName(lastKey(use));
  if (written !== null) return written;
  if (endedDuration.test(plainName(lastKey(use)))) return "s";
  if (isTraefik(sample)) return "ns";
  const column = sample.columns[use.index];
  const values = column === undefined ? [] : valuesOf(column);
  if (values.some((value) => spanOf(value) >= 0)) return "ms";
  const hasFraction = values.some((value) => value.includes("."));
  if (sample.format === "access-log") return hasFraction ? "s" : "us";
  const sizes = values.map(Number).sort((a, b) => a - b);
  if (!hasFraction && (sizes[sizes.length >> 1] ?? 0) >= longestUsualMs) return "ns";
  const areSeconds =
    hasFraction && values.every((value) => Number(value) <= 60) && values.some((value) => Number(value) < 1);
  return areSeconds ? "s" : "ms";
}

/**
 * Returns which instant of a request its time is. nginx writes a line, with its time, when a request ends. Apache's
 * time is that of the request's arrival; its `%D` is in microseconds, which tells the two apart.
 */
function meaningOfTime(sample: LogSample, uses: readonly ColumnUse[], unit: DurationUnit): "start" | "end" {
  if (sample.format === "k6" || sample.layout?.isW3c === true) return "end";
  if (isTraefik(sample)) return plainName(lastKey(find(uses, "time"))) === "time" ? "end" : "start";
  if (/^(?:edge)?(?:end|ended|finished|completed|received)/.test(plainName(lastKey(find(uses, "time")))))
    return "end";
  if (endedDuration.test(plainName(lastKey(find(uses, "duration"))))) return "end";
  return sample.format === "access-log" && unit === "s" ? "end" : "start";
}
