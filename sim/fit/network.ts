// Fits the lengths of calls, and the lateness of clients. REST and status calls show round trips; a query's execution is
// its time beyond a round trip.

import { counted } from "../../src/rules/words.ts";
import { isRefusal } from "../../src/wire/outcome.ts";
import { runs } from "./asked.ts";
import type { FittedModel } from "./model.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { Recording } from "./recording.ts";
import { type FittedSpread, spreadOf } from "./spread.ts";
import { SortedSample } from "./statistics.ts";
import { spreadText } from "./words.ts";

/** Number of durations above which more say nothing new. */
const samplesMost = 100_000;

const unknown = (reason: string) => ({ roundTrip: null, execution: null, lateness: null, reason });

/** Fits the network. `roundTrip` is `null` if no call shows its duration, `execution` if no query does. */
export function fittedNetwork(recording: Recording): FittedModel["network"] {
  if (!recording.knowsDurations) return unknown("nothing says how long calls took: the simulator's defaults");
  // A refused query was not executed: its time is a round trip.
  const { policy } = recording;
  const isQuery = (operation: string): boolean =>
    policy === undefined ? operation === "graphql" : operation !== "status" && runs(policy, operation);
  const trips = tookMs(
    recording,
    ({ kind: { operation }, status }) => (!isQuery(operation) && status !== 0) || isRefusal(status),
  );
  const queries = tookMs(
    recording,
    ({ kind: { operation, free }, status }) => isQuery(operation) && status === 200 && !free,
  );
  if (trips.length === 0 && queries.length === 0)
    return unknown("no call has an answer: the simulator's defaults");
  // Queries alone do not tell trips from execution: the trip is then taken as short as can be.
  const travelled = trips.length === 0 ? [1] : trips.map((ms) => Math.max(1, ms));
  const roundTrip = spreadOf(travelled, 1, 1);
  const execution = queries.length === 0 ? null : spreadOf(onTop(queries, travelled), 0, 1);
  return { roundTrip, execution, lateness: latenessOf(recording), reason: reasonOf(trips, queries) };
}

/** Returns how late clients wake: they slept before first attempts that were wanted after the last answer. */
function latenessOf({ callers, knowsAttempts }: Recording): FittedSpread | null {
  if (!knowsAttempts) return null;
  const late: number[] = [];
  for (const { calls } of callers) {
    let answeredMs = Number.POSITIVE_INFINITY;
    for (const { attempt, wantedMs, atMs, endMs } of calls) {
      if (attempt === 0 && wantedMs > answeredMs && atMs >= wantedMs) late.push(atMs - wantedMs);
      answeredMs = answeredMs === Number.POSITIVE_INFINITY ? endMs : Math.max(answeredMs, endMs);
    }
  }
  if (late.length === 0 || new SortedSample(late).quantile(0.95) < 1) return null;
  return spreadOf(late, 0, 1);
}

function reasonOf(trips: readonly number[], queries: readonly number[]): string {
  const rest = trips.length === 0 ? "" : `${counted(trips.length, "REST call")}: ${spreadText(trips)}`;
  const graphql = queries.length === 0 ? "" : `${counted(queries.length, "query")}: ${spreadText(queries)}`;
  return [rest, graphql].filter((text) => text !== "").join("; ");
}

function tookMs({ callers }: Recording, fits: (call: RecordedCall) => boolean): number[] {
  const all: number[] = [];
  for (const { calls } of callers) for (const call of calls) if (fits(call)) all.push(call.endMs - call.atMs);
  const step = Math.ceil(all.length / samplesMost);
  return all.filter((_, index) => index % step === 0);
}

/**
 * Returns times of execution alone. A spread of sums is not a sum of spreads: deviations add by their squares. The
 * execution has the deviation that the trips leave, and the shape of the queries' times.
 */
function onTop(queries: readonly number[], trips: readonly number[]): number[] {
  const [all, travel] = [new SortedSample(queries), new SortedSample(trips)];
  const rest = all.deviation * all.deviation - travel.deviation * travel.deviation;
  const scale = all.deviation === 0 ? 1 : Math.sqrt(Math.max(0, rest)) / all.deviation;
  const mean = all.mean - travel.mean;
  return queries.map((ms) => Math.max(0, mean + (ms - all.mean) * scale));
}
