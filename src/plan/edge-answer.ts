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
  if (holds !== null && fails !== null && isShort(edge.holds as number, edge.fails as number, holds, fails))
    return { kind: "value", value: holds, holds, fails };
  const replicationsMore = moreNeeded(edge, sampling, line, triedAt);
  return { kind: "too-noisy", holds, fails, replicationsMore };
}

/** An error bar is an answer where it is no longer than a quarter of the greater end, or one candidate is unclear. */
const shortMost = 0.25;
const isShort = (fromPlace: number, toPlace: number, holds: number, fails: number): boolean =>
  toPlace - fromPlace <= 2 || Math.abs(fails - holds) <= shortMost * Math.max(holds, fails);

const runsMost = 1_000_000;

/**
 * Returns the further runs of each unclear value that would shorten the error bar enough: the least doubling that does,
 * if every value held in the share of its runs in which it held so far, and values that were not tried in a share on the
 * straight line between their neighbours'.
 */
function moreNeeded(
  { holds, fails }: Extract<Edge, { kind: "edge" }>,
  sampling: Sampling,
  line: readonly PlanValue[],
  triedAt: (value: PlanValue) => Tried | null,
): number | null {
  if (holds === null || fails === null) return null;
  const shares = sharesBetween(holds, fails, (place) => triedAt(line[place] ?? ""));
  const most = sampling.looks.at(-1) as number;
  for (let runs = most * 2; runs <= runsMost; runs *= 2) {
    const states = shares.map((share) => stateOf(Math.round(share * runs), runs, sampling));
    const low = holds + Math.max(0, states.lastIndexOf("holds"));
    const failing = states.indexOf("fails");
    const high = failing < 0 ? fails : holds + failing;
    if (isShort(low, high, Number(line[low]), Number(line[high]))) return runs - most;
  }
  return null;
}

/** The share of runs that held at each place from one to another, both tried. */
function sharesBetween(from: number, to: number, triedAt: (place: number) => Tried | null): number[] {
  const shares: number[] = [];
  let [leftPlace, left] = [from, 1];
  for (let place = from; place <= to; place++) {
    const tried = triedAt(place);
    if (tried === null) continue;
    const right = tried.held / tried.replications;
    for (let between = leftPlace + 1; between < place; between++)
      shares.push(left + ((right - left) * (between - leftPlace)) / (place - leftPlace));
    shares.push(right);
    [leftPlace, left] = [place, right];
  }
  return shares;
}

function evidenceOf(line: readonly PlanValue[], triedAt: (value: PlanValue) => Tried | null): PlanEvidence[] {
  return line
    .flatMap((value) => {
      const tried = triedAt(value);
      return tried === null ? [] : [{ value, ...tried }];
    })
    .sort((a, b) => (typeof a.value === "number" && typeof b.value === "number" ? a.value - b.value : 0));
}
