// The figures of a replay, by the names that runs have them under, and what was expected of them.
import { SpillwayError } from "../rules/errors.ts";
import { type FigureName, isWithin, parseExpectations } from "../rules/figures.ts";
import type { ReplayResult } from "./replay-result.ts";
import type { ExpectationResult } from "./summary.ts";

type Replayed = Omit<ReplayResult, "expectations">;
type Figures = Readonly<Partial<Record<FigureName, number | null>>>;

const plainFigures = [
  "calls",
  "admitted",
  "refused",
  "refusedShare",
  "refusedByOrganization",
  "refusedByUser",
  "jobs",
  "gaveUp",
  "statusCalls",
  "waitP50Ms",
  "waitP95Ms",
  "waitP99Ms",
  "waitMaxMs",
] as const satisfies readonly FigureName[];

/** The figures that a replay has. */
export const replayFigureNames: readonly string[] = plainFigures;

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/**
 * Returns the figures of a replay: of callers that react where they were to, else of the log as it is. Without a
 * reaction nobody waits: waits are `null`, and what was refused was given up.
 */
function replayFigures({ log, totals, reaction }: Replayed): Figures {
  const statusCalls = log.status;
  if (reaction === null) {
    const { calls, admitted, refused, refusedByOrganization, refusedByUser } = totals;
    const refusedShare = shareOf(refused, calls);
    const owners = { refusedByOrganization, refusedByUser };
    return { calls, admitted, refused, refusedShare, ...owners, jobs: calls, gaveUp: refused, statusCalls };
  }
  const { attempts, refusals, refusedByOrganization, refusedByUser, waits } = reaction;
  return {
    calls: attempts,
    admitted: attempts - refusals,
    refused: refusals,
    refusedShare: shareOf(refusals, attempts),
    refusedByOrganization,
    refusedByUser,
    jobs: reaction.calls,
    gaveUp: reaction.gaveUp + reaction.unfinished,
    statusCalls,
    waitP50Ms: waits.p50,
    waitP95Ms: waits.p95,
    waitP99Ms: waits.p99,
    waitMaxMs: waits.max,
  };
}

/** @throws SpillwayError `SCENARIO_INVALID` naming every expectation that cannot be read, or is of no replay */
export function requireReplayFigures(expect: Readonly<Record<string, string>>): void {
  const { expectations, problems } = parseExpectations(expect);
  const foreign = expectations
    .filter(({ population, name }) => population !== null || !replayFigureNames.includes(name))
    .map(({ figure }) => ({
      path: `expect[${JSON.stringify(figure)}]`,
      got: figure,
      allowed: `a figure that a log has: ${replayFigureNames.join(", ")}`,
    }));
  const all = [...problems, ...foreign];
  if (all.length > 0)
    throw new SpillwayError("SCENARIO_INVALID", "these expectations cannot be used", { problems: all });
}

/**
 * Holds expectations against a replay, in their order.
 * @param expect as `requireReplayFigures` lets pass
 */
export function judgeReplay(expect: Readonly<Record<string, string>>, result: Replayed): ExpectationResult[] {
  const figures = replayFigures(result);
  return parseExpectations(expect).expectations.map((expectation) => {
    const { figure, bound, name } = expectation;
    const actual = (figures as Readonly<Record<string, number | null | undefined>>)[name] ?? null;
    return { figure, bound, actual, held: isWithin(expectation, actual) };
  });
}
