// A plan's question and values, in words.
import { duration } from "../rules/duration.ts";
import type { FigureUnit } from "../rules/figures.ts";
import { exactShare } from "../rules/share.ts";
import { capitalized, count, counted } from "../rules/words.ts";
import type {
  Interval,
  PlanAlternative,
  PlanComparison,
  PlanFigure,
  PlanPoint,
  PlanResult,
  PlanState,
} from "../summary/plan-result.ts";
import { figureUnit, goalsText } from "../summary/plan-values.ts";
import { amountText } from "./axes.ts";
import type { ResultTone } from "./parts.ts";

export const figureNamed = ({ figures }: Pick<PlanPoint, "figures">, name: string): PlanFigure | null =>
  figures.find(({ figure }) => figure === name) ?? null;

/** Returns `9.9%`; `–` if there was nothing to measure. */
export const meanText = (figure: PlanFigure | null): string =>
  figure === null || figure.mean === null ? "–" : amountText(figureUnit(figure.figure), figure.mean);

/** Returns `9.8% to 10%`. A mean's interval may reach below 0, but no figure does. */
export function intervalText(unit: FigureUnit, interval: Interval | null): string {
  if (interval === null) return "–";
  const low = amountText(unit, Math.max(0, interval.low));
  const high = amountText(unit, interval.high);
  return low === high ? low : `${low} to ${high}`;
}

/** Returns the interval of a mean; `null` if it says no more than the mean. */
export function aroundMean(figure: PlanFigure | null): string | null {
  if (figure === null || figure.mean === null || figure.interval === null) return null;
  const around = intervalText(figureUnit(figure.figure), figure.interval);
  return around === meanText(figure) ? null : around;
}

export const stateWords: Readonly<Record<PlanState, string>> = {
  holds: "holds",
  fails: "fails",
  unclear: "unclear",
};

/** Returns a point's state: `held so far` if it held in every run, but in too few to be sure. */
export const stateText = ({ state, held, replications }: PlanPoint): PlanState | "held so far" | null =>
  state === "unclear" && held === replications ? "held so far" : state;

/** Returns what a population's table compares: how things stand, then its policies under each of the limits. */
export const alternativesOf = ({ alternatives }: PlanComparison, population: string): PlanAlternative[] => [
  ...alternatives.filter((one) => one.asIs),
  ...alternatives.filter((one) => one.population === population),
];

/** Returns the figures that were measured in some alternative. The first second after a reset is none under a policy. */
export const measuredFigures = <Figure extends string>(
  alternatives: readonly PlanAlternative[],
  population: string,
  figures: readonly Figure[],
): Figure[] =>
  figures.filter((figure) =>
    alternatives.some((one) => (figureNamed(one, `${population}.${figure}`)?.mean ?? null) !== null),
  );

/** Returns the question in a sentence without its end. */
export function questionWords(result: PlanResult): string {
  const { question, storm, comparison } = result;
  const [x, y] = question.vary;
  const goals = goalsText(question.goals);
  const parts: string[] = [];
  if (x !== undefined && y !== undefined)
    parts.push(
      `${goals === "" ? "What is measured" : `Where ${goals} holds`} over ${x.path} = ${x.range} and ${y.path} = ${y.range}`,
    );
  else if (x !== undefined && goals === "") parts.push(`What is measured over ${x.path} = ${x.range}`);
  else if (x !== undefined && question.find !== null && x.unit !== "choice")
    parts.push(`The ${question.find} ${x.path} in ${x.range} for which ${goals} holds`);
  else if (x !== undefined) parts.push(`With which ${x.path} of ${x.range} ${goals} holds`);
  if (storm !== null)
    parts.push(
      `whether the load recovers from ${storm.trigger === "outage" ? "an outage" : "a burst"} of ${amountText(storm.unit, storm.from)} to ${amountText(storm.unit, storm.to)}${storm.unit === "count" ? " calls" : ""}`,
    );
  if (comparison !== null) parts.push("what other policies and limits would change");
  return capitalized(parts.join("; "));
}

/** Returns the sentence that comes first. */
export const planAnswer = ({ sentences: [first = "Nothing was asked"] }: PlanResult): string =>
  first.replace(/\.$/, "");

/** Tells whether there is a good answer: the goals hold somewhere, the load recovers. */
export function planOutcome({ answer, storm }: PlanResult): ResultTone {
  const one = answer ?? storm?.answer ?? null;
  if (one === null) return "none";
  if (one.kind === "none") return "bad";
  if (answer === null) return one.kind === "all" ? "good" : one.kind === "value" ? "bad" : "none";
  if (one.kind === "choices")
    return one.holding.length > 0 ? "good" : one.unclear.length > 0 ? "none" : "bad";
  if (one.kind === "frontier") return one.holding > 0 ? "good" : one.unclear > 0 ? "none" : "bad";
  return one.kind === "value" || one.kind === "all" ? "good" : "none";
}

/** Returns `8 of 8 runs hold (63% to 100% of all)`. */
export function heldWords({ held, replications, heldShare }: PlanPoint): string | null {
  if (held === null) return null;
  const of = heldShare === null ? "" : ` (${intervalText("share", heldShare)} of all)`;
  return `${count(held)} of ${counted(replications, "run")}${of}`;
}

/** Returns the facts of the question, for the end of the page. */
export function questionFacts({ question, points, simulations }: PlanResult): [string, string][] {
  return [
    ["Scenario", question.scenario],
    ["Each run lasts", duration(question.durationMs)],
    ...question.vary.map(({ path, range, values }, place): [string, string] => {
      const tried = new Set(points.map((point) => point.values[place])).size;
      const part = tried < values ? `, ${count(tried)} of them tried` : "";
      return [`Varied: ${path}`, `${range} (${counted(values, "value")}${part})`];
    }),
    ...question.goals.map(({ figure, bound }): [string, string] => ["Must hold", `${figure} ${bound}`]),
    ["A value holds", `where all of it holds in more than ${exactShare(question.share)} of runs`],
    ["Confidence", exactShare(question.confidence)],
    ["Runs of a value", `up to ${count(question.replicationsMost)}, with seeds made from ${question.seed}`],
    ["Runs in all", count(simulations)],
  ];
}
