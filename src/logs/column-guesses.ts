// Usual names of columns in logs, and the values in them.

import { isAddress } from "./access-log.ts";
import type { ColumnRole } from "./cells.ts";
import type { DurationUnit } from "./choices.ts";
import { spanOf } from "./field-values.ts";
import { looksSecret } from "./secrets.ts";
import type { LogSample, SampledColumn } from "./sniff.ts";
import { isSerial, isTime } from "./time-text.ts";

/** Roles that an option may give to a column. */
export type NamedRole = Exclude<ColumnRole, "select" | "selectToo">;

/** Roles that are guessed by themselves; a date is only looked for beside a time of day. */
export type GuessedRole = Exclude<NamedRole, "date">;

/** A column with the role that it was given. */
export interface ColumnUse {
  readonly role: NamedRole;
  readonly column: string;
  /** Keys that lead to it, in JSON. */
  readonly path: readonly string[];
  /** Index among the sample's columns; -1 if the first rows lack it. */
  readonly index: number;
  readonly why: string;
}

interface Guess {
  /** Names without case and punctuation, the likeliest first. */
  readonly names: readonly string[];
  /** Tells whether a value fits, in a column of such a name. */
  readonly fits: (value: string) => boolean;
  /** Tells whether a value fits by itself, if no name does. */
  readonly byValue?: (value: string) => boolean;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

const isWhole = (value: string): boolean => /^\d+(?:\.0*)?$/.test(value);
const isNumber = (value: string): boolean => /^\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(value);
const isWord = (value: string): boolean => value.length < 4096;
const isStatus = (value: string): boolean =>
  /^[1-5]\d\d(?:\.0| [A-Za-z][A-Za-z' -]*)?$/.test(value) || value === "0";
const isMethod = (value: string): boolean => /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i.test(value);
const isPath = (value: string): boolean => /^(?:[A-Z]+ )?(?:\/|https?:\/\/)/.test(value);
const tokenNames = words("token apitoken accesstoken authorization apikey key tokenid keyid apikeyid");

/** Guesses, in the order in which roles choose their columns. */
export const guesses: Readonly<Record<GuessedRole, Guess>> = {
  time: {
    names:
      words(`startutc time timestamp ts timelocal timeiso8601 msec datetime date at sent startedat starttime start begin
      requestedat createdat acceptdate eventtime received endtime end t starteddatetime edgestarttimestamp
      edgeendtimestamp`),
    fits: (value) => isTime(value) || isSerial(value) || isNumber(value),
    byValue: isTime,
  },
  scope: { names: ["scope"], fits: (value) => /^(?:rest|graphql)$/i.test(value) },
  status: {
    names: words(
      `status statuscode httpstatus httpstatuscode responsestatus responsecode code sc scstatus elbstatuscode
      downstreamstatus edgeresponsestatus`,
    ),
    fits: isStatus,
    byValue: isStatus,
  },
  method: {
    names: words("method httpmethod requestmethod verb csmethod clientrequestmethod"),
    fits: isMethod,
    byValue: isMethod,
  },
  path: {
    names: words(
      `path requestpath uri requesturi url request requestline endpoint route target csuristem csuri
      clientrequestpath clientrequesturi`,
    ),
    fits: isPath,
    byValue: isPath,
  },
  actual: {
    names: words("actual actualcost actualpoints complexityactual ratelimitcomplexityactual"),
    fits: isWhole,
  },
  cost: {
    names: words(`cost points complexity requestedpoints complexityrequested querycost graphqlcost
      ratelimitcomplexityrequested weight`),
    fits: isWhole,
  },
  duration: {
    names: words(
      `duration requesttime latency elapsed responsetime rt timetaken took upstreamresponsetime urt targetprocessingtime
      edgetimetofirstbyte`,
    ),
    fits: (value) => isNumber(value) || spanOf(value) >= 0,
  },
  organization: {
    names: words("organization organizationslug org orgslug tenant workspace team"),
    fits: isWord,
  },
  user: {
    names:
      words(`user userid username remoteuser login caller callerid client clientid consumer actor account accountid
      customer customerid principal sub vu csusername`).concat(tokenNames),
    fits: isWord,
  },
  address: {
    // Behind a proxy, the address of a connection is the proxy's.
    names:
      words(`xforwardedfor httpxforwardedfor forwardedfor xrealip realip trueclientip cfconnectingip address ip clientip
      remoteaddr remoteip sourceip remotehost clientaddr clientport cip fwd peer downstreamremoteaddress`),
    fits: isWord,
    byValue: isAddress,
  },
};

/** Returns a column's name without case and punctuation. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, "");

const suffixes: readonly (readonly [RegExp, DurationUnit])[] = [
  [/(?:_|\b)(?:ms|msecs?|millis|milliseconds)$|Ms$|Millis$/, "ms"],
  [/(?:_|\b)(?:us|usecs?|micros|microseconds)$|Us$|Micros$/, "us"],
  [/(?:_|\b)(?:ns|nanos|nanoseconds)$|Ns$|Nanos$/, "ns"],
  [/(?:_|\b)(?:s|secs?|seconds)$|Seconds$/, "s"],
];

/** Returns the unit at the end of a column's name; `null` if there is none. */
export const unitInName = (name: string): DurationUnit | null =>
  suffixes.find(([suffix]) => suffix.test(name))?.[1] ?? null;

/** Returns a column's name without its unit. */
export const unitless = (name: string): string =>
  suffixes.reduce((rest, [suffix]) => (rest === name ? name.replace(suffix, "") : rest), name);

/** Returns the values of a column that are neither missing nor empty nor `-`. */
export const valuesOf = ({ values }: Pick<SampledColumn, "values">): string[] =>
  values.filter((value): value is string => value !== undefined && value !== "" && value !== "-");

/** Returns the times of the first rows, of date and time of day if they stand in two columns. */
export function timesOf(
  { columns }: Pick<LogSample, "columns">,
  uses: readonly ColumnUse[],
): (string | undefined)[] {
  const valuesAs = (role: NamedRole): SampledColumn["values"] =>
    columns[uses.find((use) => use.role === role)?.index ?? -1]?.values ?? [];
  const dates = valuesAs("date");
  const times = valuesAs("time");
  return dates.length === 0 ? [...times] : times.map((time, row) => `${dates[row] ?? ""} ${time ?? ""}`);
}

/** Returns the share of a column's values that pass a test; 1 if it has none. */
export function shareOf(column: SampledColumn, test: (value: string) => boolean): number {
  const values = valuesOf(column);
  return values.length === 0 ? 1 : values.filter(test).length / values.length;
}

/** Tells whether a column has values, most of which pass a test. */
export const isMostly = (column: SampledColumn, test: (value: string) => boolean): boolean =>
  valuesOf(column).length > 0 && shareOf(column, test) >= 0.8;

/**
 * Tells whether a column holds tokens, by its name or by its values.
 * @param column `undefined` if the first rows lack a column of this path
 */
export function isTokenColumn(column: SampledColumn | undefined, path: readonly string[]): boolean {
  const last = plainName(path.at(-1) ?? "");
  if (tokenNames.includes(last) || /token|secret|authorization|apikey/.test(last)) return true;
  return column !== undefined && isMostly(column, looksSecret);
}
