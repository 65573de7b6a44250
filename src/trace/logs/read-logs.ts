// Several logs → one reading, in the order of time over all of them: those of two servers side by side are merged, and
// a file is opened only when its time has come, so that a year of rotated logs needs no more memory than a day of them.
import { SpillwayError } from "../../rules/errors.ts";
import { Callers } from "./callers.ts";
import { durationUnits } from "./choices.ts";
import { readHar } from "./har.ts";
import { MergedRows, type OrderedStream } from "./merged-rows.ts";
import { OrderedRows } from "./ordered-rows.ts";
import { PathFilter } from "./path-filter.ts";
import { FileReader, type LogFile } from "./read-file.ts";
import { Tally } from "./rejections.ts";
import { RowReader, type RowSettings } from "./row-reader.ts";
import type { LogBatch, LogRows } from "./rows.ts";
import type { Digest } from "./secrets.ts";
import { instantOf } from "./sniff.ts";
import { TraceRows } from "./trace-rows.ts";

/** The meaning of rows, beside what each file's mapping says. */
export interface LogSettings
  extends Pick<RowSettings, "organization" | "graphqlCost" | "statusPath" | "graphqlPath" | "zoneMinutes"> {
  /** Globs of the paths whose rows are read; all rows where it is left out. */
  readonly paths?: readonly string[] | undefined;
  /** The share of rows that may stay unread. */
  readonly unreadMost: number;
  /** All rows are sorted first, in memory, however far from order they stand. */
  readonly sort: boolean;
  readonly digest: Digest;
}

/** The same as without flags, but for the digest. */
export const usualSettings: Omit<LogSettings, "digest"> = {
  organization: null,
  graphqlCost: null,
  zoneMinutes: 0,
  unreadMost: 0.01,
  sort: false,
};

/** Rows may begin so much earlier than the first ones of their file. */
const disorderMs = 120_000;

/**
 * Reads logs as one.
 * @param files in any order
 * @returns rows in the order of `atMs`; `batches` can be gone through once
 * @throws SpillwayError `LOG_INVALID` while batches are read, and at their end `LOG_UNREAD` where more rows than
 *   `unreadMost` could not be read, and `LOG_INVALID` where there were none at all, or none of the paths
 */
export function readLogs(files: readonly LogFile[], settings: LogSettings): LogRows {
  const callers = new Callers(settings.digest);
  const tally = new Tally();
  const paths = settings.paths === undefined ? null : new PathFilter(settings.paths);
  const streams = files.map((file): OrderedStream => {
    const open = (floorMs: number): AsyncGenerator<LogBatch, void> => {
      const rows = new OrderedRows(settings.sort);
      rows.floor = floorMs;
      return readFile(file, { ...settings, paths }, callers, tally, rows);
    };
    return { firstMs: settings.sort ? Number.NEGATIVE_INFINITY : firstMsOf(file), open };
  });
  const batches = async function* (): AsyncGenerator<LogBatch, void> {
    yield* new MergedRows(streams).read();
    requireRead(tally, settings.unreadMost, files);
    paths?.requireKept();
  };
  return {
    batches: batches(),
    callers: callers.list,
    get read() {
      return tally.read;
    },
    get unread() {
      return tally.unread;
    },
    examples: tally.examples,
    get unplaced() {
      return callers.unplaced;
    },
  };
}

function readFile(
  file: LogFile,
  settings: Omit<LogSettings, "paths"> & Pick<RowSettings, "paths">,
  callers: Callers,
  tally: Tally,
  rows: OrderedRows,
): AsyncGenerator<LogBatch, void> {
  const { mapping } = file;
  const { format } = file.sample;
  if (format === "trace") return new TraceRows(file, settings.graphqlCost, callers, tally, rows).read();
  const rowSettings: RowSettings = {
    ...settings,
    organization: settings.organization ?? mapping.organization,
    userIsToken: mapping.userIsToken,
    durationUnitMs: durationUnits[mapping.durationUnit],
    timeIs: mapping.timeIs,
    hasPaths: format === "access-log" || mapping.uses.some(({ role }) => role === "path"),
  };
  const reader = new RowReader(rowSettings, callers);
  if (format === "har") return readHar(file, reader, tally, rows);
  return new FileReader(file, reader, tally, rows).read();
}

/** A time that no row of a file is likely to be before. */
function firstMsOf({ sample, mapping }: LogFile): number {
  const use = mapping.uses.find(({ role }) => role === "time");
  const values = use === undefined ? [] : (sample.columns[use.index]?.values ?? []);
  let first = Number.POSITIVE_INFINITY;
  for (const value of values) {
    const ms = value === undefined ? Number.NaN : instantOf(value);
    if (ms < first) first = ms;
  }
  return first === Number.POSITIVE_INFINITY ? Number.NEGATIVE_INFINITY : first - disorderMs;
}

function requireRead({ read, unread, examples }: Tally, most: number, files: readonly LogFile[]): void {
  const problems = examples.map(({ file, line, text, why }) => ({
    path: `${file}:${line}`,
    got: text,
    allowed: `a row (${why})`,
  }));
  if (read + unread === 0)
    throw new SpillwayError("LOG_INVALID", "there are no rows in this log", {
      problems: files.map(({ name }) => ({ path: name, got: "no rows", allowed: "at least one" })),
    });
  if (unread <= most * (read + unread)) return;
  const share = (value: number): string => `${Math.round(value * 10_000) / 100} %`;
  throw new SpillwayError(
    "LOG_UNREAD",
    `${unread} of ${read + unread} rows could not be read, ${share(unread / (read + unread))}; at most ${share(most)} may be`,
    { problems, hint: nextStep(examples.map(({ why }) => why)) },
  );
}

function nextStep(reasons: readonly string[]): string {
  if (reasons.some((why) => why.includes("whose cost is not known")))
    return "--cost-column says where a query's points stand, --graphql-cost N what one costs that does not say";
  if (reasons.some((why) => why.includes("time goes back")))
    return "--sort puts all rows in order first, in memory; parts of a log may be given as several files";
  return "--dry-run shows what each column was taken for; --allow-unread 5% goes on without such rows";
}
