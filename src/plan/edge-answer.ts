// An edge that a search found → an answer with its error bar, or the reason why there is none.
import type { PlanAnswer, PlanEvidence, PlanValue } from "../summary/plan-result.ts";
import { replicationsMost, type Sampling, stateOf, type Tried } from "./sampling.ts";
import type { Edge } from "./search.ts";

/**
 * Returns an edge as an answer in values. Its error bar must be short enough.
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

/** Longest error bar of an answer, as a share of its greater end. A bar with one unclear candidate is short, too. */
const shortMost = 0.25;
const isShort = (fromPlace: number, toPlace: number, holds: number, fails: number): boolean =>
  toPlace - fromPlace <= 2 || Math.abs(fails - holds) <= shortMost * Math.max(holds, fails);

/**
 * Returns how many more runs of each unclear value would shorten the error bar enough: the least doubling that
 * suffices. It assumes that each value goes on holding in the same share of its runs. The shares of values that were
 * not tried lie on straight lines between their neighbours'.
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
  for (let runs = most * 2; runs <= replicationsMost; runs *= 2) {
    const states = shares.map((share) => stateOf(Math.round(share * runs), runs, sampling));
    const low = holds + Math.max(0, states.lastIndexOf("holds"));
    const failing = states.indexOf("fails");
    const high = failing < 0 ? fails : holds + failing;
    if (isShort(low, high, Number(line[low]), Number(line[high]))) return runs - most;
  }
  return null;
}

/** Returns the share of runs that held at each place from one to another, both of which were tried. */
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
