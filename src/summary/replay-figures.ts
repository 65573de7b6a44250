// The figures of a replay, named as those of runs, and the expectations on them.
import { SpillwayError } from "../rules/errors.ts";
import { type FigureName, isWithin, parseExpectations } from "../rules/figures.ts";
import type { QuotaReplayResult } from "./quota-replay-result.ts";
import type { ReplayResult } from "./replay-result.ts";
import type { ExpectationResult } from "./summary.ts";

type Replayed = Omit<ReplayResult, "expectations"> | Omit<QuotaReplayResult, "expectations">;
type Figures = Readonly<Partial<Record<FigureName, number | null>>>;

/** Names of the figures that a replay has under rules. */
export const replayFigureNames: readonly string[] = [
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
] satisfies readonly FigureName[];
/** Figures of organizations' and users' windows, which policies lack. */
const ofOwners: readonly string[] = ["refusedByOrganization", "refusedByUser"];

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/**
 * Returns the figures of a replay: with a reaction, those of callers that react; else those of the log as it is.
 * Without a reaction nobody waits: waits are `null`, and `gaveUp` counts the refused calls.
 */
function replayFigures({ log, totals, reaction }: Replayed): Figures {
  const statusCalls = log.status;
  if (reaction === null) {
    const { calls, admitted, refused } = totals;
    const refusedShare = shareOf(refused, calls);
    return {
      ...{ calls, admitted, refused, refusedShare, jobs: calls, gaveUp: refused, statusCalls },
      ...ownersIn(totals),
    };
  }
  const { attempts, refusals, waits } = reaction;
  return {
    calls: attempts,
    admitted: attempts - refusals,
    refused: refusals,
    refusedShare: shareOf(refusals, attempts),
    ...ownersIn(reaction),
    jobs: reaction.calls,
    gaveUp: reaction.gaveUp + reaction.unfinished,
    statusCalls,
    waitP50Ms: waits.p50,
    waitP95Ms: waits.p95,
    waitP99Ms: waits.p99,
    waitMaxMs: waits.max,
  };
}

type OfOwners = Pick<ReplayResult["totals"], "refusedByOrganization" | "refusedByUser">;

function ownersIn(counts: OfOwners | object): Partial<OfOwners> {
  if (!("refusedByOrganization" in counts)) return {};
  const { refusedByOrganization, refusedByUser } = counts;
  return { refusedByOrganization, refusedByUser };
}

/** @throws SpillwayError `SCENARIO_INVALID`, naming every expectation that cannot be read or that a replay lacks */
export function requireReplayFigures(
  expect: Readonly<Record<string, string>>,
  limits: "rules" | "policy" = "rules",
): void {
  const known = replayFigureNames.filter((name) => limits === "rules" || !ofOwners.includes(name));
  const foreign = Object.keys(expect)
    .filter((figure) => !known.includes(figure))
    .map((figure) => ({
      path: `expect[${JSON.stringify(figure)}]`,
      got: figure,
      allowed: `a figure that a log has: ${known.join(", ")}`,
    }));
  const ofLog = Object.entries(expect).filter(([figure]) => known.includes(figure));
  const problems = [...parseExpectations(Object.fromEntries(ofLog)).problems, ...foreign];
  if (problems.length > 0)
    throw new SpillwayError("SCENARIO_INVALID", "these expectations cannot be used", { problems });
}

/**
 * Compares expectations with a replay's figures, in the order of the expectations.
 * @param expect expectations that `requireReplayFigures` accepts
 */
export function judgeReplay(expect: Readonly<Record<string, string>>, result: Replayed): ExpectationResult[] {
  const figures = replayFigures(result);
  return parseExpectations(expect).expectations.map((expectation) => {
    const { figure, bound, name } = expectation;
    const actual = (figures as Readonly<Record<string, number | null | undefined>>)[name] ?? null;
    return { figure, bound, actual, held: isWithin(expectation, actual) };
  });
}
