// A plan's points, triggers and alternatives as tables, for spreadsheets.
import type { Cell, DataTable } from "../report/csv.ts";
import type { PlanFigure, PlanResult } from "../summary/plan-result.ts";

/** Returns one row for each point; without points, for each trigger; without triggers, for each alternative. */
export function planTable(result: PlanResult): DataTable {
  if (result.points.length > 0) return pointsTable(result);
  return result.storm !== null ? triggersTable(result) : alternativesTable(result);
}

function figureColumns(figures: readonly PlanFigure[]): string[] {
  return figures.flatMap(({ figure }) => [figure, `${figure}_low`, `${figure}_high`]);
}

const figureCells = (figures: readonly PlanFigure[]): Cell[] =>
  figures.flatMap(({ mean, interval }) => [mean, interval?.low ?? null, interval?.high ?? null]);

function pointsTable({ question, points }: PlanResult): DataTable {
  const figures = points[0]?.figures ?? [];
  return {
    columns: [
      ...question.vary.map(({ path, unit }) => (unit === "ms" ? `${path}_ms` : path)),
      ...["replications", "held", "held_share_low", "held_share_high", "state"],
      ...figureColumns(figures),
    ],
    rows: points.map((point) => [
      ...point.values,
      ...[point.replications, point.held, point.heldShare?.low ?? null, point.heldShare?.high ?? null],
      point.state,
      ...figureCells(point.figures),
    ]),
  };
}

function triggersTable({ storm }: PlanResult): DataTable {
  return {
    columns: [
      storm?.unit === "ms" ? `${storm.trigger}_ms` : `${storm?.trigger}_calls`,
      ...[
        "replications",
        "recovered",
        "recovered_share_low",
        "recovered_share_high",
        "state",
        "windows_to_recover",
      ],
    ],
    rows: (storm?.triggers ?? []).map((one) => [
      ...[one.size, one.replications, one.recovered, one.recoveredShare.low, one.recoveredShare.high],
      ...[
        one.state === "holds" ? "recovers" : one.state === "fails" ? "does not" : one.state,
        one.windowsToRecover,
      ],
    ]),
  };
}

function alternativesTable({ comparison }: PlanResult): DataTable {
  const alternatives = comparison?.alternatives ?? [];
  return {
    columns: [
      "population",
      "policy",
      "limits",
      "replications",
      ...figureColumns(alternatives[0]?.figures ?? []),
    ],
    rows: alternatives.map(({ population, policy, limits, replications, figures }) => [
      ...[population, policy, limits, replications],
      ...figureCells(figures),
    ]),
  };
}
