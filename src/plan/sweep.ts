// A sweep: along one axis, a search for where the goals stop holding; over two axes, a grid with its frontier.
import type {
  PlanAnswer,
  PlanFrontierPoint,
  PlanHeatMap,
  PlanPoint,
  PlanState,
  PlanValue,
} from "../summary/plan-result.ts";
import { answerAlong } from "./edge-answer.ts";
import { lookFiner } from "./finer.ts";
import { Points, type Workshop } from "./points.ts";
import { hastened, type PlanSteps, type Sampling } from "./sampling.ts";
import { findEdge, gridOf, proveEdge, type Try } from "./search.ts";
import type { Vary } from "./vary.ts";

export type Find = "largest" | "smallest";

/** A sweep, done. */
export interface Sweep {
  readonly points: readonly PlanPoint[];
  readonly answer: PlanAnswer | null;
  readonly heatMap: PlanHeatMap | null;
  /** End that was found. It is the other one if holding and failing came in reverse order. */
  readonly find: Find | null;
}

/** Sweeps one axis. With goals and an order it searches; otherwise it tries a grid, or every choice. */
export function* sweepOne(shop: Workshop, vary: Vary, find: Find, guessed: boolean): PlanSteps<Sweep> {
  const points = new Points(shop, [vary]);
  const { candidates, axis } = vary;
  if (axis.unit === "choice" || shop.goals.length === 0) {
    const chosen =
      axis.unit === "choice"
        ? candidates
        : gridOf(candidates.length, 9).map((place) => candidates[place] ?? "");
    yield* points.try(
      chosen.map((value) => [value]),
      0,
    );
    const measured = points.finish();
    const answer = shop.goals.length === 0 ? null : choicesOf(measured);
    return { points: measured, answer, heatMap: null, find: null };
  }
  const { screen, sampling } = shop;
  const quick = sampling === screen ? screen : hastened(screen, sampling);
  let sought = find;
  let edge = yield* findEdge(candidates.length, tryAlong(points, candidates, sought, quick));
  if (edge.kind === "reversed" && guessed) {
    sought = find === "largest" ? "smallest" : "largest";
    edge = yield* findEdge(candidates.length, tryAlong(points, candidates, sought, quick));
  }
  if (edge.kind === "none" && (yield* lookFiner(points, shop.goals, candidates)))
    edge = { kind: "not-monotone" };
  if (sampling !== screen && edge.kind === "not-monotone") yield* points.try(points.holdingMostly(), 0);
  else if (sampling !== screen)
    edge = yield* proveEdge(edge, candidates.length, tryAlong(points, candidates, sought, sampling));
  const measured = points.finish();
  return {
    points: measured,
    answer: answerAlong(edge, shop.sampling, inOrder(candidates, sought), (value) => points.triedAt([value])),
    heatMap: null,
    find: sought,
  };
}

/** Returns the candidates with those first that are expected to hold. */
const inOrder = (candidates: readonly PlanValue[], find: Find): readonly PlanValue[] =>
  find === "largest" ? candidates : candidates.toReversed();

function tryAlong(points: Points, candidates: readonly PlanValue[], find: Find, sampling: Sampling): Try {
  const line = inOrder(candidates, find);
  return (places, later) =>
    points.try(
      places.map((place) => [line[place] ?? ""]),
      later,
      sampling,
    );
}

function choicesOf(points: readonly PlanPoint[]): PlanAnswer {
  const those = (wanted: PlanState): string[] =>
    points.filter(({ state }) => state === wanted).map(({ values }) => String(values[0]));
  return { kind: "choices", holding: those("holds"), failing: those("fails"), unclear: those("unclear") };
}

/** Greatest number of values along each side of a heat map. */
export const sideMost = 10;

/** Sweeps two axes: tries a grid, and finds in each of its columns where the goals stop holding. */
export function* sweepTwo(shop: Workshop, x: Vary, y: Vary, find: Find): PlanSteps<Sweep> {
  const points = new Points(shop, [x, y]);
  const xs = sideOf(x);
  const ys = sideOf(y);
  yield* points.try(
    ys.flatMap((atY) => xs.map((atX) => [atX, atY])),
    0,
  );
  const measured = points.finish();
  const places = new Map(measured.map(({ values }, index) => [JSON.stringify(values), index]));
  const cells = ys.map((atY) => xs.map((atX) => places.get(JSON.stringify([atX, atY])) as number));
  const judged = shop.goals.length > 0;
  const stateAt = (atX: PlanValue, atY: PlanValue): PlanState =>
    points.triedAt([atX, atY])?.state ?? "unclear";
  const frontier =
    judged && y.axis.unit !== "choice"
      ? xs.map((atX) => frontierAt(atX, inOrder(ys, find), (atY) => stateAt(atX, atY)))
      : [];
  const count = (state: PlanState): number => measured.filter((point) => point.state === state).length;
  const counts = { holding: count("holds"), failing: count("fails"), unclear: count("unclear") };
  return {
    points: measured,
    answer: judged ? { kind: "frontier", ...counts } : null,
    heatMap: { xs, ys, cells, figures: shop.figures.map(([figure]) => figure), frontier },
    find: judged ? find : null,
  };
}

/** Returns a side's values. Inner large numbers are rounded to two digits if the candidates have such values. */
function sideOf({ candidates, axis }: Vary): PlanValue[] {
  if (axis.unit === "choice" || candidates.length <= sideMost) return [...candidates];
  const values = gridOf(candidates.length, sideMost).map((place) => candidates[place] ?? "");
  const known = new Set(candidates);
  const side = values.map((value, index) => {
    const round = Number(Number(value).toPrecision(2));
    const inner = index > 0 && index < values.length - 1;
    return inner && known.has(round) ? round : value;
  });
  return [...new Set(side)];
}

/** @param line a column's values, those first that are expected to hold */
function frontierAt(
  x: PlanValue,
  line: readonly PlanValue[],
  stateAt: (y: PlanValue) => PlanState,
): PlanFrontierPoint {
  const states = line.map(stateAt);
  const holds = states.lastIndexOf("holds");
  const fails = states.indexOf("fails", holds + 1);
  const earlier = states.indexOf("fails");
  return {
    x,
    holds: line[holds] ?? null,
    fails: line[fails] ?? null,
    monotone: earlier < 0 || earlier > holds,
  };
}
