// Reads several logs as one, in the order of time over all of them. Logs of servers side by side are merged. A file is
// opened only when its time has come, so that a year of rotated logs needs no more memory than a day.

import type { Policy } from "../policy/policy.ts";
import { policyOf } from "../policy/shorthand.ts";
import { SpillwayError } from "../rules/errors.ts";
import { parseRules } from "../rules/parse.ts";
import { count, counted } from "../rules/words.ts";
import { Callers } from "./callers.ts";
import { durationUnits } from "./choices.ts";
import { timesOf } from "./column-guesses.ts";
import { readHar } from "./har.ts";
import { MergedRows, type OrderedStream } from "./merged-rows.ts";
import { OrderedRows } from "./ordered-rows.ts";
import { PathFilter } from "./path-filter.ts";
import { LogCallers } from "./policy-callers.ts";
import { PolicyRowReader } from "./policy-reader.ts";
import { PolicyRouting, Unrouted } from "./policy-routing.ts";
import { type AddsRows, FileReader, type LogFile } from "./read-file.ts";
import { LogTally } from "./rejections.ts";
import { RowReader, type RowSettings } from "./row-reader.ts";
import type { LogBatch, LogCaller, RoutedRows } from "./rows.ts";
import type { Digest } from "./secrets.ts";
import { instantOf, timeForms } from "./time-text.ts";
import { type ReadBy, TraceRows } from "./trace-rows.ts";

/** Meaning of rows, beside each file's mapping. */
export interface LogSettings
  extends Pick<RowSettings, "organization" | "graphqlCost" | "statusPath" | "graphqlPath" | "zone"> {
  /** Globs of the paths whose rows are read. Default: all rows. */
  readonly paths?: readonly string[] | undefined;
  /** Greatest share of rows that may stay unread. */
  readonly unreadMost: number;
  /** True to sort all rows first, in memory, however far they are out of order. */
  readonly sort: boolean;
  readonly digest: Digest;
  /** Policy that rows are read by. Default: the API of SPEC.md. */
  readonly policy?: Policy | undefined;
}

/** Greatest time, ms, by which rows may begin before the first ones of their file. */
const disorderMs = 120_000;

/**
 * Reads logs as one.
 * @param files logs in any order
 * @param notes what is known about them already
 * @returns rows in the order of `atMs`; `batches` can be iterated once
 * @throws SpillwayError `LOG_INVALID` while batches are read. At their end, `LOG_UNREAD` if more rows than
 *   `unreadMost` could not be read, and `LOG_INVALID` if there were no rows at all, or none of the paths
 */
export function readLogs(
  files: readonly LogFile[],
  settings: LogSettings,
  notes: readonly string[] = [],
): RoutedRows {
  const { policy } = settings;
  const unrouted = new Unrouted();
  const callers = new Callers(settings.digest);
  const by = policy === undefined ? byRules(callers, unrouted) : byPolicy(policy, callers, unrouted);
  const tally = new LogTally();
  tally.notes.push(...notes);
  const paths = settings.paths === undefined ? null : new PathFilter(settings.paths);
  const streams = files.map((file): OrderedStream => {
    const open = (floorMs: number): AsyncGenerator<LogBatch, void> => {
      const { format } = file.sample;
      const tellsLines = files.length > 1 && format !== "trace" && format !== "har";
      const rows = new OrderedRows(settings.sort, undefined, format === "trace", tellsLines);
      rows.floor = floorMs;
      return readFile(by, file, settingsFor(file, { ...settings, paths }), tally, rows);
    };
    return { name: file.name, firstMs: settings.sort ? Number.NEGATIVE_INFINITY : firstMsOf(file), open };
  });
  const merged = new MergedRows(streams);
  const batches = async function* (): AsyncGenerator<LogBatch, void> {
    yield* merged.read();
    tally.notes.push(...merged.notes());
    requireRead(tally, settings.unreadMost, files);
    paths?.requireKept();
    if (policy !== undefined) unrouted.requireSome(policy);
  };
  return {
    batches: batches(),
    callers: by.list,
    get read() {
      return tally.read - merged.doubles;
    },
    get unread() {
      return tally.unread;
    },
    examples: tally.examples,
    notes: tally.notes,
    get unplaced() {
      return callers.unplaced;
    },
    get anonymous() {
      return callers.anonymous;
    },
    get unrouted() {
      return unrouted.unrouted;
    },
    paths: unrouted.paths,
  };
}

type FileSettings = Omit<LogSettings, "paths"> & Pick<RowSettings, "paths">;

const settingsFor = ({ mapping, sample }: LogFile, settings: FileSettings): RowSettings => ({
  ...settings,
  organization: settings.organization ?? mapping.organization,
  userIsToken: mapping.userIsToken,
  durationUnitMs: durationUnits[mapping.durationUnit],
  timeIs: mapping.timeIs,
  dates: mapping.dates,
  clockMs: mapping.clockMs,
  hasPaths: sample.format === "access-log" || mapping.uses.some(({ role }) => role === "path"),
});

/** Limits that logs are read by. */
interface Reading extends ReadBy {
  /** Callers so far, by their numbers. */
  readonly list: readonly LogCaller[];
  readerOf(file: LogFile, settings: RowSettings): AddsRows;
}

function byRules(callers: Callers, unrouted: Unrouted): Reading {
  const policy = policyOf(parseRules({}));
  return {
    policy,
    routing: new PolicyRouting(policy, unrouted),
    callers: { of: (organization, user) => callers.named(organization, user) },
    list: callers.list,
    readerOf: (_file, settings) => new RowReader(settings, callers),
  };
}

/** @throws SpillwayError `POLICY_UNSUPPORTED` as `PolicyRouting` does */
function byPolicy(policy: Policy, users: Callers, unrouted: Unrouted): Reading {
  const callers = new LogCallers(users);
  const routing = new PolicyRouting(policy, unrouted);
  return {
    ...{ policy, routing, callers },
    list: callers.list,
    readerOf(file, settings) {
      if (file.callers === undefined)
        throw new RangeError("a log that is read by a policy needs what tells its callers");
      return new PolicyRowReader(policy, settings, file.callers, callers, routing);
    },
  };
}

function readFile(
  by: Reading,
  file: LogFile,
  settings: RowSettings,
  tally: LogTally,
  rows: OrderedRows,
): AsyncGenerator<LogBatch, void> {
  const { format } = file.sample;
  if (format === "trace") return new TraceRows(by, file, settings.graphqlCost, tally, rows).read();
  const reader = by.readerOf(file, settings);
  if (format === "har") return readHar(file, reader, tally, rows);
  return new FileReader(file, reader, tally, rows).read();
}

/** Returns a time that probably no row of a file is before. */
function firstMsOf({ sample, mapping }: LogFile): number {
  let first = Number.POSITIVE_INFINITY;
  for (const value of timesOf(sample, mapping.uses)) {
    const ms = value === undefined ? Number.NaN : instantOf(value, mapping.dates);
    if (ms < first) first = ms;
  }
  return first === Number.POSITIVE_INFINITY ? Number.NEGATIVE_INFINITY : first - disorderMs;
}

function requireRead(
  { read, unread, cut, examples, notes }: LogTally,
  most: number,
  files: readonly LogFile[],
): void {
  const problems = examples.map(({ file, line, text, why }) => ({
    path: `${file}:${line}`,
    got: text,
    allowed: `a row (${why})`,
  }));
  if (read + unread === 0)
    throw new SpillwayError("LOG_INVALID", "there are no rows in this log", {
      problems: files.map(({ name }) => ({ path: name, got: "no rows", allowed: "at least one" })),
    });
  // A log that is copied while it grows ends within a line.
  if (unread - (read > 0 ? cut : 0) <= most * (read + unread)) return;
  const share = (value: number): string => `${Math.round(value * 10_000) / 100} %`;
  throw new SpillwayError(
    "LOG_UNREAD",
    `${count(unread)} of ${counted(read + unread, "row")} could not be read, ${share(unread / (read + unread))}; at most ${share(most)} may be`,
    {
      problems,
      hint: nextStep(
        examples.map(({ why }) => why),
        notes,
      ),
    },
  );
}

function nextStep(reasons: readonly string[], notes: readonly string[]): string {
  if (reasons.some((why) => why.includes("of declared cost")))
    return "--cost-column says where a call's cost stands, --graphql-cost N what one costs that does not say";
  if (reasons.some((why) => why.includes("whose cost is not known")))
    return "--cost-column says where a query's points stand, --graphql-cost N what one costs that does not say";
  const lacked = reasons
    .map((why) => /^its caller has no (\S+),/.exec(why)?.[1])
    .find((name) => name !== undefined);
  if (lacked !== undefined)
    return `--caller-column ${lacked}=COLUMN says where the ${lacked} stands, --caller ${lacked}=NAME takes all rows for one`;
  if (reasons.some((why) => why.includes("time goes back")))
    return [
      ...notes,
      "--sort puts all rows in order first, in memory; parts of a log may be given as several files",
    ].join(" ");
  if (reasons.every((why) => why.startsWith("its time cannot be read"))) return timeForms;
  return "--dry-run shows what each column was taken for; --allow-unread 5% goes on without such rows";
}
