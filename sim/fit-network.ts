// How long calls took: round trips by what REST and status calls took, a query's execution by what it took on top.
import type { FittedModel } from "./fit-model.ts";
import type { RecordedCall, Recording } from "./fit-recording.ts";
import { spreadOf } from "./fit-spread.ts";
import { Sample } from "./fit-statistics.ts";
import { count, spreadText } from "./fit-words.ts";

/** More durations than these say nothing new. */
const samplesMost = 100_000;

/** `roundTrip` and `execution` are `null` where the recording has no calls for them. */
export function fittedNetwork(recording: Recording): FittedModel["network"] {
  if (!recording.knowsDurations)
    return {
      roundTrip: null,
      execution: null,
      reason: "nothing says how long calls took: the simulator's defaults",
    };
  const trips = tookMs(recording, ({ scope, status }) => scope === "rest" && status !== 0);
  const queries = tookMs(
    recording,
    ({ scope, status, free }) => scope === "graphql" && status === 200 && !free,
  );
  // A server's log has durations, not trips: a call took no time that the clock shows, but it took some.
  const roundTrip =
    trips.length === 0
      ? null
      : spreadOf(
          trips.map((ms) => Math.max(1, ms)),
          1,
          1,
        );
  const middle = new Sample(trips).median;
  const execution = queries.length === 0 ? null : spreadOf(onTop(queries, trips, middle), 0, 1);
  return { roundTrip, execution, reason: reasonOf(trips, queries) };
}

function reasonOf(trips: readonly number[], queries: readonly number[]): string {
  const rest = trips.length === 0 ? "" : `${count(trips.length, "REST call")}: ${spreadText(trips)}`;
  const graphql = queries.length === 0 ? "" : `${count(queries.length, "query")}: ${spreadText(queries)}`;
  return [rest, graphql].filter((text) => text !== "").join("; ");
}

function tookMs({ callers }: Recording, fits: (call: RecordedCall) => boolean): number[] {
  const all: number[] = [];
  for (const { calls } of callers) for (const call of calls) if (fits(call)) all.push(call.endMs - call.atMs);
  const step = Math.ceil(all.length / samplesMost);
  return step <= 1 ? all : all.filter((_, index) => index % step === 0);
}

/** Execution alone: what queries took less a trip, by equal ranks where trips are spread as widely, else their middle. */
function onTop(queries: readonly number[], trips: readonly number[], middleMs: number): number[] {
  const [all, travel] = [new Sample(queries), new Sample(trips)];
  // Spreads of sums are not sums of spreads: deviations add by their squares, and what is left is the execution's.
  const rest = all.deviation * all.deviation - travel.deviation * travel.deviation;
  const scale = all.deviation === 0 ? 1 : Math.sqrt(Math.max(0, rest)) / all.deviation;
  const mean = all.mean - (travel.count === 0 ? 0 : travel.mean);
  if (travel.count === 0) return queries.map((ms) => Math.max(0, ms - middleMs));
  return queries.map((ms) => Math.max(0, mean + (ms - all.mean) * scale));
}
