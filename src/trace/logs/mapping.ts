// Which column of a log is what: by its name, then by what stands there; a guess that is shown, and that flags set
// right. A column that is named by a flag is taken as it is.
import { closest } from "../../rules/closest.ts";
import { quote, SpillwayError } from "../../rules/errors.ts";
import type { Role } from "./cells.ts";
import { looksSecret } from "./secrets.ts";
import { isTime, type Sample, type SampledColumn } from "./sniff.ts";

export const durationUnits = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 } as const;
export type DurationUnit = keyof typeof durationUnits;

/** The roles that a flag may give to a column. */
export type NamedRole = Exclude<Role, "select" | "selectToo">;

/** What flags say. */
export interface MappingFlags {
  /** Columns by role. */
  readonly columns?: Readonly<Partial<Record<NamedRole, string>>>;
  /** The column of tokens, in place of a user's. */
  readonly tokenColumn?: string | undefined;
  readonly durationUnit?: DurationUnit | undefined;
  readonly timeIs?: "start" | "end" | undefined;
}

/** One column, and what it was taken for. */
export interface ColumnUse {
  readonly role: NamedRole;
  readonly column: string;
  /** The keys that lead to it, of JSON. */
  readonly path: readonly string[];
  /** Among the sample's columns; -1 where the first rows have none. */
  readonly index: number;
  readonly why: string;
}

export interface LogMapping {
  readonly uses: readonly ColumnUse[];
  readonly userIsToken: boolean;
  /** Some column holds tokens, whether it is used or not. */
  readonly hasTokens: boolean;
  readonly durationUnit: DurationUnit;
  readonly timeIs: "start" | "end";
  /** The only organization that the first rows name in their paths: it is that of rows that name none. */
  readonly organization: string | null;
}

/** Where nothing is to be guessed: traces. */
export const noMapping: LogMapping = {
  uses: [],
  userIsToken: false,
  hasTokens: false,
  durationUnit: "ms",
  timeIs: "start",
  organization: null,
};

interface Guess {
  /** Names without case and punctuation, the likeliest first. */
  readonly names: readonly string[];
  /** What a value must look like, for a column of such a name. */
  readonly fits: (value: string) => boolean;
  /** What values alone must look like, where no name fits. */
  readonly byValue?: (value: string) => boolean;
}

const isWhole = (value: string): boolean => /^\d+(?:\.0*)?$/.test(value) || value === "-";
const isNumber = (value: string): boolean => /^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value) || value === "-";
const isWord = (value: string): boolean => value.length > 0 && value.length < 4096;
const isStatus = (value: string): boolean => /^[1-5]\d\d(?:\.0)?$/.test(value) || value === "0";
const isMethod = (value: string): boolean => /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i.test(value);
const isPath = (value: string): boolean => /^(?:[A-Z]+ )?(?:\/|https?:\/\/)/.test(value) || value === "-";
const isAddress = (value: string): boolean =>
  /^(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?$/.test(value) || /^(?:[\da-f]{0,4}:){2,7}[\da-f.]*$/i.test(value);

const tokenNames = ["token", "apitoken", "accesstoken", "authorization", "apikey", "key", "tokenid", "keyid"];
const userNames = [
  "user",
  "userid",
  "username",
  "remoteuser",
  "login",
  "caller",
  "callerid",
  "client",
  "clientid",
  "consumer",
  "actor",
  "account",
  "accountid",
  "customer",
  "customerid",
  "principal",
  "sub",
  "vu",
];

const guesses: Readonly<Record<NamedRole, Guess>> = {
  time: {
    names: [
      "time",
      "timestamp",
      "ts",
      "timelocal",
      "timeiso8601",
      "msec",
      "datetime",
      "date",
      "at",
      "sent",
    ].concat([
      "startedat",
      "starttime",
      "start",
      "begin",
      "requestedat",
      "createdat",
      "eventtime",
      "received",
      "endtime",
      "end",
      "t",
      "starteddatetime",
    ]),
    fits: (value) => isTime(value) || isNumber(value),
    byValue: isTime,
  },
  scope: { names: ["scope"], fits: (value) => /^(?:rest|graphql)$/i.test(value) },
  status: {
    names: [
      "status",
      "statuscode",
      "httpstatus",
      "httpstatuscode",
      "responsestatus",
      "responsecode",
      "code",
      "sc",
    ],
    fits: (value) => isStatus(value) || value === "-",
    byValue: isStatus,
  },
  method: { names: ["method", "httpmethod", "requestmethod", "verb"], fits: isMethod, byValue: isMethod },
  path: {
    names: [
      "path",
      "requestpath",
      "uri",
      "requesturi",
      "url",
      "request",
      "requestline",
      "endpoint",
      "route",
      "target",
    ],
    fits: isPath,
    byValue: isPath,
  },
  actual: {
    names: ["actual", "actualcost", "actualpoints", "complexityactual", "ratelimitcomplexityactual"],
    fits: isWhole,
  },
  cost: {
    names: [
      "cost",
      "points",
      "complexity",
      "requestedpoints",
      "complexityrequested",
      "querycost",
      "graphqlcost",
    ].concat(["ratelimitcomplexityrequested", "weight"]),
    fits: isWhole,
  },
  duration: {
    names: [
      "duration",
      "requesttime",
      "latency",
      "elapsed",
      "responsetime",
      "rt",
      "timetaken",
      "took",
      "upstreamresponsetime",
      "urt",
    ],
    fits: isNumber,
  },
  organization: {
    names: ["organization", "organizationslug", "org", "orgslug", "tenant", "workspace", "team"],
    fits: isWord,
  },
  user: { names: [...userNames, ...tokenNames], fits: isWord },
  address: {
    names: [
      "address",
      "ip",
      "remoteaddr",
      "remoteip",
      "clientip",
      "sourceip",
      "remotehost",
      "clientaddr",
      "peer",
      "xforwardedfor",
    ],
    fits: isWord,
    byValue: isAddress,
  },
};

const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, "");
const units: readonly (readonly [RegExp, DurationUnit])[] = [
  [/(?:_|\b)(?:ms|msecs?|millis|milliseconds)$|Ms$|Millis$/, "ms"],
  [/(?:_|\b)(?:us|usecs?|micros|microseconds)$|Us$|Micros$/, "us"],
  [/(?:_|\b)(?:ns|nanos|nanoseconds)$|Ns$|Nanos$/, "ns"],
  [/(?:_|\b)(?:s|secs?|seconds)$|Seconds$/, "s"],
];
/** A column's name without its unit. */
const unitless = (name: string): string =>
  units.reduce((rest, [suffix]) => (rest === name ? name.replace(suffix, "") : rest), name);

/**
 * What each column is taken for.
 * @param file for errors
 * @throws SpillwayError `LOG_INVALID` where there is no time, or nothing else; `USAGE` where a flag names a column that
 *   is not there
 */
export function guessMapping(sample: Sample, flags: MappingFlags, file: string): LogMapping {
  const uses: ColumnUse[] = sample.format === "k6" ? k6Uses(sample, flags) : [];
  const isTaken = (index: number): boolean => uses.some((use) => use.index === index && index !== -1);
  const named = { ...flags.columns };
  if (flags.tokenColumn !== undefined) named.user = flags.tokenColumn;
  for (const [role, name] of Object.entries(named) as [NamedRole, string][])
    uses.push(namedColumn(sample, role, name));
  const open = Object.keys(guesses) as NamedRole[];
  const search = (find: (role: NamedRole, isTaken: (index: number) => boolean) => ColumnUse | null): void => {
    for (const role of open) {
      if (uses.some((use) => use.role === role)) continue;
      const found = find(role, isTaken);
      if (found !== null) uses.push(found);
    }
  };
  search((role, taken) => byName(sample, role, taken));
  search((role, taken) => byValue(sample, role, taken));
  requireEnough(uses, sample, file);
  const user = uses.find(({ role }) => role === "user");
  const duration = uses.find(({ role }) => role === "duration");
  const userIsToken =
    user !== undefined &&
    (flags.tokenColumn !== undefined || isTokenColumn(sample.columns[user.index], user.path));
  const durationUnit = flags.durationUnit ?? unitOf(sample, duration);
  return {
    uses,
    userIsToken,
    hasTokens: userIsToken || sample.columns.some((column) => isTokenColumn(column, column.path)),
    durationUnit,
    timeIs: flags.timeIs ?? timeOf(sample, uses, durationUnit),
    organization: loneOrganization(sample, uses),
  };
}

/** Of k6, `http_req_duration` points: when a request was over, and how long it took. */
function k6Uses(sample: Sample, { columns = {} }: MappingFlags): ColumnUse[] {
  const fixed = { time: "data.time", duration: "data.value" } as const;
  return (["time", "duration"] as const)
    .filter((role) => columns[role] === undefined)
    .map((role) => {
      const path = fixed[role].split(".");
      const index = sample.columns.findIndex(({ name }) => name === fixed[role]);
      return { role, column: fixed[role], path, index, why: "where k6 writes it" };
    });
}

function namedColumn(sample: Sample, role: NamedRole, name: string): ColumnUse {
  const index = sample.columns.findIndex((column) => column.name === name);
  const found = sample.columns[index];
  if (found !== undefined) return { role, column: name, path: found.path, index, why: "as told" };
  const names = sample.columns.map((column) => column.name);
  const meant = closest(name, names);
  // A member may be rare; a column is there from the beginning.
  if ((sample.format === "ndjson" || sample.format === "k6") && meant === null)
    return { role, column: name, path: name.split("."), index: -1, why: "as told; the first rows have none" };
  const option = `--${role}-column`;
  throw new SpillwayError("USAGE", "this log has no such column", {
    problems: [{ path: option, got: quote(name), allowed: names.join(", ") || "none: it has no columns" }],
    ...(meant === null ? {} : { hint: `did you mean ${option} ${quote(meant)}?` }),
  });
}

const valuesOf = (column: SampledColumn): string[] =>
  column.values.filter((value): value is string => value !== undefined && value !== "" && value !== "-");

function fitsAll(column: SampledColumn, fits: (value: string) => boolean, isLenient: boolean): boolean {
  const values = valuesOf(column);
  if (values.length === 0) return isLenient;
  return values.filter(fits).length >= 0.8 * values.length;
}

function byName(sample: Sample, role: NamedRole, isTaken: (index: number) => boolean): ColumnUse | null {
  const { names, fits } = guesses[role];
  for (const wanted of names)
    for (const [index, column] of sample.columns.entries()) {
      if (isTaken(index) || !hasName(column, wanted, role) || !fitsAll(column, fits, true)) continue;
      return { role, column: column.name, path: column.path, index, why: "by its name" };
    }
  return null;
}

function hasName({ name, path }: SampledColumn, wanted: string, role: NamedRole): boolean {
  const last = path.at(-1) ?? name;
  const forms = role === "duration" || role === "time" ? [unitless(last), last] : [last];
  return [name, ...forms].some((form) => plainName(form) === wanted);
}

/** How nginx writes a request's time, which is the last field of many a log without a name. */
const isSeconds = (value: string): boolean => /^\d+\.\d{3}$/.test(value) || value === "-";

function byValue(sample: Sample, role: NamedRole, isTaken: (index: number) => boolean): ColumnUse | null {
  const isExtra = role === "duration" && sample.format === "access-log";
  const fits = isExtra ? isSeconds : guesses[role].byValue;
  if (fits === undefined) return null;
  for (const [index, column] of sample.columns.entries()) {
    // Referers look like paths.
    if (isTaken(index) || /refer/i.test(column.name) || !fitsAll(column, fits, false)) continue;
    return { role, column: column.name, path: column.path, index, why: "by what stands there" };
  }
  return null;
}

function requireEnough(uses: readonly ColumnUse[], sample: Sample, file: string): void {
  const has = (role: NamedRole): boolean => uses.some((use) => use.role === role);
  const columns = sample.columns.map(({ name }) => name).join(", ");
  const fail = (summary: string, allowed: string, hint: string): never => {
    throw new SpillwayError("LOG_INVALID", summary, {
      problems: [{ path: file, got: `the columns ${columns}`, allowed }],
      hint,
    });
  };
  if (!has("time"))
    fail("no column of this log is a time", "a time in one of them", "--time-column names it");
  if (!["user", "address", "path", "status", "organization"].some((role) => has(role as NamedRole)))
    fail(
      "this log tells when, but not who asked for what",
      "a user, token, address or path in one of them",
      "--user-column, --token-column and --path-column name them",
    );
}

function loneOrganization(sample: Sample, uses: readonly ColumnUse[]): string | null {
  const index = uses.find(({ role }) => role === "path")?.index ?? -1;
  const named = new Set<string>();
  for (const value of sample.columns[index]?.values ?? []) {
    const [, slug] = /\/v2\/organizations\/([^/?#\s]+)/.exec(value ?? "") ?? [];
    if (slug !== undefined) named.add(slug);
  }
  const [only = null] = named;
  return named.size === 1 ? only : null;
}

/** @param column `undefined` where the first rows have none of this path */
function isTokenColumn(column: SampledColumn | undefined, path: readonly string[]): boolean {
  const last = plainName(path.at(-1) ?? "");
  if (tokenNames.includes(last) || /token|secret|authorization|apikey/.test(last)) return true;
  return column !== undefined && fitsAll(column, looksSecret, false);
}

/** nginx's own names for a request's time, which are seconds and are known at its end. */
const nginxDuration = /^(?:requesttime|rt|upstreamresponsetime|urt)$/;

function unitOf(sample: Sample, use: ColumnUse | undefined): DurationUnit {
  if (use === undefined || sample.format === "k6") return "ms";
  const last = use.path.at(-1) ?? use.column;
  const written = units.find(([suffix]) => suffix.test(last));
  if (written !== undefined) return written[1];
  if (nginxDuration.test(plainName(last))) return "s";
  const column = sample.columns[use.index];
  const values = column === undefined ? [] : valuesOf(column);
  if (sample.format === "access-log") return values.some((value) => value.includes(".")) ? "s" : "us";
  const areSeconds =
    values.some((value) => value.includes(".")) &&
    values.every((value) => Number(value) <= 60) &&
    values.some((value) => Number(value) < 1);
  return areSeconds ? "s" : "ms";
}

/**
 * nginx writes its line, and the time in it, when a request is over. Apache's time is when the request came, whenever
 * the line is written; its `%D` is in microseconds, which tells the two apart.
 */
function timeOf(sample: Sample, uses: readonly ColumnUse[], unit: DurationUnit): "start" | "end" {
  const nameOf = (role: NamedRole): string => {
    const use = uses.find((each) => each.role === role);
    return plainName(use?.path.at(-1) ?? "");
  };
  if (sample.format === "k6") return "end";
  if (/^(?:end|ended|finished|completed|received)/.test(nameOf("time"))) return "end";
  if (nginxDuration.test(nameOf("duration"))) return "end";
  return sample.format === "access-log" && unit === "s" ? "end" : "start";
}
