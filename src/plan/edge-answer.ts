// An edge that a search found → an answer with its error bar, or why there is none.
import type { PlanAnswer, PlanEvidence, PlanValue } from "../summary/plan-result.ts";
import { type Sampling, stateOf, type Tried } from "./sampling.ts";
import type { Edge } from "./search.ts";

/**
 * An edge in words of values: the error bar, and whether it is short enough to be an answer.
 * @param line the candidates in the order that was searched
 */
export function answerAlong(
  edge: Edge,
  sampling: Sampling,
  line: readonly PlanValue[],
  triedAt: (value: PlanValue) => Tried | null,
): PlanAnswer {
  if (edge.kind === "all" || edge.kind === "none") return { kind: edge.kind };
  if (edge.kind !== "edge") return { kind: "not-monotone", evidence: evidenceOf(line, triedAt) };
  const value = (place: number | null): number | null => (place === null ? null : Number(line[place]));
  const [holds, fails] = [value(edge.holds), value(edge.fails)];
  if (holds !== null && fails !== null && isShort(edge.holds ?? 0, edge.fails ?? 0, holds, fails))
    return { kind: "value", value: bestOf(edge.unclear, sampling, line, triedAt) ?? holds, holds, fails };
  const replicationsMore = moreNeeded(edge, sampling, line, triedAt);
  return { kind: "too-noisy", holds, fails, replicationsMore };
}

/** An error bar is an answer where it is no longer than a quarter of the greater end, or one candidate. */
const shortMost = 0.25;
const isShort = (fromPlace: number, toPlace: number, holds: number, fails: number): boolean =>
  toPlace - fromPlace <= 1 || Math.abs(fails - holds) <= shortMost * Math.max(holds, fails);

/** The farthest unclear value that held in more than the wanted share of its runs. */
function bestOf(
  unclear: readonly number[],
  { share }: Sampling,
  line: readonly PlanValue[],
  triedAt: (value: PlanValue) => Tried | null,
): number | null {
  for (const place of unclear.toReversed()) {
    const tried = triedAt(line[place] ?? "");
    if (tried !== null && tried.held / tried.replications > share) return Number(line[place]);
  }
  return null;
}

const runsMost = 1_000_000;

/**
 * How many more replications of each unclear value would shorten the error bar enough, if each went on to hold in
 * the share of runs in which it held so far: the least doubling that does.
 */
function moreNeeded(
  { holds, fails, unclear }: Extract<Edge, { kind: "edge" }>,
  sampling: Sampling,
  line: readonly PlanValue[],
  triedAt: (value: PlanValue) => Tried | null,
): number | null {
  const most = sampling.looks.at(-1) ?? 1;
  for (let runs = most * 2; runs <= runsMost; runs *= 2) {
    let [low, high] = [holds, fails];
    for (const place of unclear) {
      const tried = triedAt(line[place] ?? "");
      if (tried === null) continue;
      const state = stateOf(Math.round((tried.held / tried.replications) * runs), runs, sampling);
      if (state === "holds") low = Math.max(low ?? -1, place);
      if (state === "fails") high = Math.min(high ?? line.length, place);
    }
    if (low === null || high === null) continue;
    if (isShort(low, high, Number(line[low]), Number(line[high]))) return runs - most;
  }
  return null;
}

function evidenceOf(line: readonly PlanValue[], triedAt: (value: PlanValue) => Tried | null): PlanEvidence[] {
  return line
    .flatMap((value) => {
      const tried = triedAt(value);
      return tried === null ? [] : [{ value, ...tried }];
    })
    .sort((a, b) => (typeof a.value === "number" && typeof b.value === "number" ? a.value - b.value : 0));
}
