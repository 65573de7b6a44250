// A window's picture in numbers: its count, its limit and its refusals, at each time when one of them changes.

import { count } from "../rules/words.ts";
import { type Point, refusalSlots, type WindowSeries } from "../summary/series.ts";
import type { DataTable } from "./csv.ts";
import type { PictureReadings } from "./readings.ts";

export interface WindowRow {
  readonly atMs: number;
  readonly count: number | null;
  readonly limit: number | null;
  /** Number of calls refused in the hundredth of the run that this time lies in. */
  readonly refused: number;
  /** Count in the other run of a comparison. */
  readonly predicted: number | null;
}

/** @param predicted the same windows in the other run of a comparison */
export function windowRows(
  one: WindowSeries,
  lengthMs: number,
  predicted: WindowSeries | null = null,
): WindowRow[] {
  const spanMs = lengthMs / refusalSlots;
  const refusals = new Map<number, number>();
  for (const [atMs, refused] of one.refusals) {
    // A shorter run of a comparison has several of its own spans in one.
    const span = Math.floor(atMs / spanMs);
    refusals.set(span, (refusals.get(span) ?? 0) + refused);
  }
  const times = new Set([
    ...one.counts.map(([atMs]) => atMs),
    ...(predicted?.counts ?? []).map(([atMs]) => atMs),
    ...[...refusals.keys()].map((span) => Math.ceil(span * spanMs)),
  ]);
  const [countAt, limitAt, predictedAt] = [one.counts, one.limits, predicted?.counts ?? []].map(stepping);
  return [...times]
    .sort((a, b) => a - b)
    .map((atMs) => ({
      atMs,
      count: countAt?.(atMs) ?? null,
      limit: limitAt?.(atMs) ?? null,
      refused: refusals.get(Math.min(refusalSlots - 1, Math.floor(atMs / spanMs))) ?? 0,
      predicted: predictedAt?.(atMs) ?? null,
    }));
}

/** Returns a function that gives a step line's value at a time. The times asked for must rise. */
function stepping(points: readonly Point[]): (atMs: number) => number | null {
  let next = 0;
  let value: number | null = null;
  return (atMs) => {
    for (let point = points[next]; point !== undefined && point[0] <= atMs; point = points[next]) {
      value = point[1];
      next += 1;
    }
    return value;
  };
}

/** @param names names of the two runs, if they are compared */
export function windowData(
  rows: readonly WindowRow[],
  names: readonly [string, string] | null = null,
): DataTable {
  return {
    columns: ["at_ms", names?.[0] ?? "count", ...(names === null ? [] : [names[1]]), "limit", "refused"],
    rows: rows.map((row) => [
      row.atMs,
      row.count,
      ...(names === null ? [] : [row.predicted]),
      row.limit,
      row.refused,
    ]),
  };
}

/** @param names name of the count; of a comparison, the two runs' names */
export function windowReadings(
  rows: readonly WindowRow[],
  lengthMs: number,
  names: readonly [string] | readonly [string, string],
): PictureReadings {
  const words = (value: number | null): string | null => (value === null ? null : count(value));
  return {
    across: lengthMs,
    time: true,
    snap: "before",
    names: [...names, "limit", "refused around then"],
    points: rows.map((row) => ({
      x: row.atMs,
      y: null,
      cells: [
        words(row.count),
        ...(names.length === 1 ? [] : [words(row.predicted)]),
        words(row.limit),
        row.refused === 0 ? null : count(row.refused),
      ],
    })),
  };
}
