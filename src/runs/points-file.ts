// points.ndjson: the outcomes of a plan's runs, one line each, as they end. An interrupted plan goes on from it. The
// first line says which question they answer.

import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import * as v from "valibot";
import { unwritable } from "../files/unwritable.ts";
import { writeWhole } from "../files/whole-file.ts";
import { type JobOutcome, jobKey, type PlanJob } from "../plan/job.ts";
import type { Policy } from "../policy/policy.ts";
import { type Problem, quote, SpillwayError } from "../rules/errors.ts";
import { type FigureReference, unitOf } from "../rules/figures.ts";
import type { Rules } from "../rules/rules.ts";
import type { PlanQuestion } from "../summary/plan-result.ts";

/** Members that must be equal for outcomes to be taken over. Confidence and the range's end may differ. */
export interface PointsHeader {
  readonly format: "spillway-plan-points";
  readonly version: 1;
  readonly spillway: string;
  readonly scenario: string;
  /** Digest of the scenario's code. */
  readonly digest: string;
  readonly seed: number;
  readonly durationMs: number;
  /** Rules, or the policy in their place. */
  readonly rules: Rules | Policy | null;
  readonly vary: readonly string[];
  readonly until: readonly string[];
  readonly storm: string | null;
  readonly compare: boolean;
}

/** Returns the header of a question. @param asked values from the command line */
export function headerOf(
  question: PlanQuestion,
  asked: Pick<PointsHeader, "spillway" | "digest" | "rules" | "storm" | "compare">,
): PointsHeader {
  return {
    format: "spillway-plan-points",
    version: 1,
    spillway: asked.spillway,
    scenario: question.scenario,
    digest: asked.digest,
    seed: question.seed,
    durationMs: question.durationMs,
    rules: asked.rules,
    vary: question.vary.map(({ path, range }) => `${path}=${range}`),
    until: question.goals.map(({ figure, bound }) => `${figure}${bound}`),
    storm: asked.storm,
    compare: asked.compare,
  };
}

const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** Greatest share. Shares are sums of fractions, which rounding may take past 1. */
const shareMost = 1 + 1e-9;
const amounts = {
  count: whole,
  share: v.pipe(v.number(), v.minValue(0), v.maxValue(shareMost)),
  ms: v.pipe(v.number(), v.finite(), v.minValue(0)),
} as const;
const windowCounts = v.pipe(
  v.strictTuple([whole, whole]),
  v.check(([calls, bad]) => bad <= calls),
);

/** Returns the schema of a line: the plan's figures, each within its unit's range; or counts by window. */
const lineSchema = (figures: readonly FigureReference[]) =>
  v.union([
    v.object({
      job: v.string(),
      figures: v.strictTuple(figures.map(({ name }) => v.nullable(amounts[unitOf(name)]))),
      windows: v.null(),
    }),
    v.object({ job: v.string(), figures: v.strictTuple([]), windows: v.array(windowCounts) }),
  ]);

/** Outcomes by their jobs' keys. */
export type KnownOutcomes = Map<string, JobOutcome>;

/**
 * Reads the outcomes of an earlier, interrupted plan. A last line that was cut off is dropped.
 * @param figures the plan's figures, in their order
 * @throws SpillwayError `FILE_UNREADABLE` if there is none; `RESUME_INVALID` naming the difference from the present
 *   question, or the line that cannot be read
 */
export async function readPoints(
  path: string,
  asked: PointsHeader,
  figures: readonly FigureReference[],
): Promise<KnownOutcomes> {
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    const got = cause.code === "ENOENT" ? "no such file" : String(cause.code);
    throw new SpillwayError("FILE_UNREADABLE", "there is no plan to go on with", {
      problem: { path, got, allowed: "the points.ndjson of a plan that was interrupted" },
      hint: "without --resume the plan begins anew",
      cause,
    });
  });
  const [first = "", ...lines] = text.split("\n");
  // After the last line's end comes nothing, or half a line.
  lines.pop();
  requireSame(path, parsed(path, 1, first), asked);
  const known: KnownOutcomes = new Map();
  const schema = lineSchema(figures);
  for (const [index, line] of lines.entries()) {
    const read = v.safeParse(schema, parsed(path, index + 2, line));
    if (!read.success || read.output.windows?.length !== windowsOf(read.output.job, asked))
      throw invalid({ path: `${path}:${index + 2}`, got: quote(line), allowed: "a run's outcome" });
    const { job, ...outcome } = read.output;
    known.set(job, outcome);
  }
  return known;
}

/** Returns the number of windows of a job's outcome; `undefined` for a job by figures. @param job its key */
function windowsOf(job: string, { durationMs }: PointsHeader): number | undefined {
  const windowMs = /\bwindows=(\d+)#/.exec(job)?.[1];
  return windowMs === undefined ? undefined : Math.floor(durationMs / Number(windowMs));
}

function parsed(path: string, line: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ path: `${path}:${line}`, got: quote(text), allowed: "JSON" });
  }
}

function requireSame(path: string, found: unknown, asked: PointsHeader): void {
  const other = (typeof found === "object" && found !== null ? found : {}) as Readonly<
    Record<string, unknown>
  >;
  if (other["format"] !== asked.format || other["version"] !== asked.version)
    throw invalid({ path: `${path}:1`, got: quote(found), allowed: "the first line of a plan's points" });
  const problems = Object.entries(asked).flatMap(([field, value]): Problem[] => {
    const same = JSON.stringify(other[field]) === JSON.stringify(value);
    return same
      ? []
      : [{ path: field, got: quote(other[field]), allowed: `${quote(value)}, as it is asked now` }];
  });
  if (problems.length === 0) return;
  throw new SpillwayError("RESUME_INVALID", `${path} is of another question`, {
    problems,
    hint: "ask the question that it was made for, or leave --resume out to begin anew",
  });
}

const invalid = (problem: Problem): SpillwayError =>
  new SpillwayError("RESUME_INVALID", "the points of the earlier plan cannot be read", {
    problem,
  });

/** Flags to write at the end, and through no link. On Windows the last is `undefined`, thus 0: few users make links there. */
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** Writes outcomes as they come. */
export class PointsFile {
  readonly #file: FileHandle;
  /** End of the writing so far: lines are written one after the other, from whichever thread they come. */
  #written: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /**
   * Begins a file with its header and the known outcomes. An earlier file is replaced as a whole.
   * @throws SpillwayError `FILE_UNWRITABLE`
   */
  static async begin(path: string, header: PointsHeader, known: KnownOutcomes): Promise<PointsFile> {
    const lines = [...known].map(([job, outcome]) => lineOf(job, outcome));
    await writeWhole(path, `${JSON.stringify(header)}\n${lines.join("")}`);
    return new PointsFile(await open(path, appending));
  }

  add(job: PlanJob, outcome: JobOutcome): void {
    this.#written = this.#written.then(() => this.#file.appendFile(lineOf(jobKey(job), outcome)));
    // `close` reports the failure.
    this.#written.catch(() => undefined);
  }

  /** Waits until everything is written. @throws SpillwayError `FILE_UNWRITABLE` */
  async close(): Promise<void> {
    try {
      await this.#written;
    } catch (cause) {
      throw unwritable("the plan's points", "points.ndjson", cause);
    } finally {
      await this.#file.close();
    }
  }
}

const lineOf = (job: string, { figures, windows }: JobOutcome): string =>
  `${JSON.stringify({ job, figures, windows })}\n`;
