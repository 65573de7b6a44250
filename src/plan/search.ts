// The search along a line of candidates for the place at which something stops holding. It first tries a coarse grid,
// which shows if there is no single edge, and then halves. It is pure: the caller tells which candidates hold.
import type { PlanSteps, Tried } from "./sampling.ts";

/** Tries candidates, by their places in the line. */
export type Try = (places: readonly number[], later: number) => PlanSteps<readonly Tried[]>;

/** Findings in the order of the line, in which holding is expected first. */
export type Edge =
  | { readonly kind: "all" | "none" | "not-monotone" }
  /** Failing comes first, then holding. */
  | { readonly kind: "reversed" }
  | {
      readonly kind: "edge";
      /** Last place that surely holds, and the first after it that surely fails; `null` if there is none. */
      readonly holds: number | null;
      readonly fails: number | null;
      /** Unclear places between these two, rising. */
      readonly unclear: readonly number[];
    };

/** Greatest number of candidates in the first grid. */
const gridMost = 9;

/**
 * Finds the edge. If the truth is monotone and without noise, it is exact: `fails` is `holds + 1`.
 * @param length number of candidates, at least 1
 */
export function* findEdge(length: number, tryOut: Try): PlanSteps<Edge> {
  const grid = gridOf(length, gridMost);
  const edge = seen(grid, yield* tryOut(grid, halvings(length / grid.length)), length);
  return edge.kind === "edge" ? yield* halve(edge, length, tryOut) : edge;
}

/**
 * Finds the edge again if a place must hold in more than most runs. It goes back by doubling steps from the last place
 * that holds in most runs to one that holds. Then it halves.
 */
export function* proveEdge(found: Edge, length: number, tryOut: Try): PlanSteps<Edge> {
  const all: Bracket = { kind: "edge", holds: length - 1, fails: null, unclear: [] };
  const first = found.kind === "all" ? all : found;
  if (first.kind !== "edge" || first.holds === null) return found;
  const last = first.holds;
  let bracket: Bracket = { ...first, holds: null, unclear: [] };
  for (let step = 0; bracket.holds === null; step = Math.max(1, step * 2)) {
    const place = Math.max(0, last - step);
    const [tried] = yield* tryOut([place], halvings(length));
    bracket = narrowed(bracket, place, tried?.state ?? "unclear");
    if (place === 0) break;
  }
  if (bracket.holds === length - 1) return { kind: "all" };
  return bracket.fails === 0 ? { kind: "none" } : yield* halve(bracket, length, tryOut);
}

function* halve(found: Bracket, length: number, tryOut: Try): PlanSteps<Bracket> {
  let bracket = found;
  for (;;) {
    const next = nextPlace(bracket, length);
    if (next === null) return bracket;
    const [tried] = yield* tryOut([next], halvings((bracket.fails ?? length) - (bracket.holds ?? -1)));
    bracket = narrowed(bracket, next, tried?.state ?? "unclear");
  }
}

const halvings = (width: number): number => {
  let count = 0;
  for (let left = width; left > 1; left /= 2) count += 1;
  return count;
};

/** Returns places spread evenly, both ends among them. */
export function gridOf(length: number, most: number): number[] {
  const count = Math.min(length, most);
  if (count === 1) return [0];
  return Array.from({ length: count }, (_, index) => Math.round((index * (length - 1)) / (count - 1)));
}

type Bracket = Extract<Edge, { kind: "edge" }>;

/** Reads a grid: returns an answer already, or the bracket to search. */
function seen(grid: readonly number[], results: readonly Tried[], length: number): Edge {
  const those = (state: Tried["state"]): number[] =>
    grid.filter((_, index) => results[index]?.state === state);
  const holding = those("holds");
  const failing = those("fails");
  const lastHolds = holding.at(-1) ?? null;
  const firstFails = failing[0] ?? null;
  if (lastHolds !== null && firstFails !== null && firstFails < lastHolds) {
    const reversed = (failing.at(-1) as number) < (holding[0] as number);
    return { kind: reversed ? "reversed" : "not-monotone" };
  }
  if (firstFails === null && lastHolds === length - 1) return { kind: "all" };
  if (lastHolds === null && firstFails === 0) return { kind: "none" };
  const between = (place: number): boolean => place > (lastHolds ?? -1) && place < (firstFails ?? length);
  return { kind: "edge", holds: lastHolds, fails: firstFails, unclear: those("unclear").filter(between) };
}

/** Returns the middle of an unknown part, below the unclear places or else above them; `null` if nothing is left. */
function nextPlace({ holds, fails, unclear }: Bracket, length: number): number | null {
  const low = holds ?? -1;
  const high = fails ?? length;
  const middle = (from: number, to: number): number | null =>
    to - from > 1 ? Math.floor((from + to) / 2) : null;
  const [first] = unclear;
  const last = unclear.at(-1);
  if (first === undefined || last === undefined) return middle(low, high);
  return middle(low, first) ?? middle(last, high);
}

function narrowed(bracket: Bracket, place: number, state: Tried["state"]): Bracket {
  const { unclear } = bracket;
  if (state === "holds") return { ...bracket, holds: place, unclear: unclear.filter((one) => one > place) };
  if (state === "fails") return { ...bracket, fails: place, unclear: unclear.filter((one) => one < place) };
  return { ...bracket, unclear: [...unclear, place].sort((a, b) => a - b) };
}
