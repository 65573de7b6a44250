// A plan's result in sentences, the answer first.
import type { Scenario } from "../scenario/scenario.ts";
import type {
  PlanAlternative,
  PlanAnswer,
  PlanComparison,
  PlanFigure,
  PlanPoint,
  PlanResult,
  PlanStorm,
} from "../summary/plan-result.ts";
import { policyMeaning } from "./policies.ts";
import { figureText, goalsText, listText, meanText, valueText } from "./words.ts";

/** What a result says, for people. */
export function sentencesOf(result: PlanResult, scenario: Scenario): string[] {
  return [
    ...(result.answer === null ? [] : answerSentences(result, result.answer)),
    ...(result.storm === null ? [] : stormSentences(result.storm, result)),
    ...(result.comparison === null ? [] : comparisonSentences(result.comparison, scenario)),
  ];
}

const percent = (share: number): string => `${Math.round(share * 1000) / 10}%`;

function answerSentences(result: PlanResult, answer: PlanAnswer): string[] {
  const { question, points } = result;
  const { vary, goals, confidence, find } = question;
  const [axis] = vary;
  if (axis === undefined) return [];
  const { path, unit } = axis;
  const wanted = goalsText(goals);
  const of = (value: number | string): string => valueText(unit, value);
  switch (answer.kind) {
    case "value": {
      const bar =
        answer.value === answer.holds
          ? `at ${of(answer.fails)} it fails`
          : `it surely holds at ${of(answer.holds)} and surely fails at ${of(answer.fails)}`;
      const first = `${path} = ${of(answer.value)} is the ${find} for which ${wanted} holds; ${bar} (${percent(confidence)} confidence).`;
      return [first, ...measuredAt(points, [answer.value, answer.fails], result)];
    }
    case "all":
      return [
        `${wanted} holds all over ${path} = ${axis.range}, as far as it was tried: ${farther(find, axis.path)}`,
      ];
    case "none":
      return [
        `${wanted} holds nowhere in ${path} = ${axis.range}.`,
        ...measuredAt(points, [find === "largest" ? axis.from : axis.to], result),
      ];
    case "not-monotone": {
      const runs = answer.evidence.filter(({ state }, index, all) => state !== all[index - 1]?.state);
      const words = runs.map(
        ({ state, value }) => `${state === "unclear" ? "is unclear" : state} from ${of(value)}`,
      );
      return [
        `There is no one answer: ${wanted} ${listText(words)} on, so that neither end of ${axis.range} says anything about what lies between.`,
      ];
    }
    case "too-noisy": {
      const [low, high] = [answer.holds, answer.fails].map((value) =>
        value === null ? "no value tried" : of(value),
      );
      const more =
        answer.replicationsMore === null
          ? "no number of replications that can be run would tell"
          : `about ${answer.replicationsMore} more of each value would tell (--replications ${question.replicationsMost + answer.replicationsMore})`;
      return [
        `The runs differ too much to say: ${wanted} surely holds at ${low} and surely fails at ${high}, and between them some runs hold and some do not; ${more}.`,
      ];
    }
    case "choices": {
      const groups = [
        ["holds with", answer.holding],
        ["fails with", answer.failing],
        ["is unclear with", answer.unclear],
      ] as const;
      const words = groups
        .filter(([, those]) => those.length > 0)
        .map(([verb, those]) => `${verb} ${listText(those)}`);
      return [`${wanted} ${listText(words)}.`];
    }
    case "frontier":
      return frontierSentences(result, answer);
  }
}

const farther = (find: "largest" | "smallest" | null, path: string): string =>
  `the ${find ?? "last"} ${path} for which it holds lies beyond that range.`;

function measuredAt(
  points: readonly PlanPoint[],
  values: readonly (number | string)[],
  { question }: PlanResult,
): string[] {
  const [axis] = question.vary;
  if (axis === undefined) return [];
  const goals = new Set(question.goals.map(({ figure }) => figure));
  return [...new Set(values)].flatMap((value) => {
    const point = points.find((one) => one.values[0] === value);
    if (point === undefined) return [];
    const figures = point.figures.filter(({ figure }) => goals.has(figure));
    const words = figures.map((figure) => `${figure.figure} ${figureText(figure)}`);
    const runs = `${point.held ?? 0} of ${point.replications} runs hold`;
    return [`At ${valueText(axis.unit, value)}: ${listText(words)}; ${runs}.`];
  });
}

function frontierSentences(
  { question, heatMap, points }: PlanResult,
  { holding, failing, unclear }: Extract<PlanAnswer, { kind: "frontier" }>,
): string[] {
  const [x, y] = question.vary;
  if (x === undefined || y === undefined || heatMap === null) return [];
  const wanted = goalsText(question.goals);
  const open = unclear === 0 ? "" : `, ${unclear} are unclear`;
  const counts = `${wanted} holds at ${holding} of ${points.length} points and fails at ${failing}${open}.`;
  const [first, last] = [heatMap.frontier[0], heatMap.frontier.at(-1)];
  const edges = [first, last].flatMap((edge) => {
    if (edge === undefined) return [];
    const at = `${x.path} = ${valueText(x.unit, edge.x)}`;
    if (edge.holds === null) return [`With ${at} it holds at no ${y.path} that was tried.`];
    return [`With ${at} the ${question.find} ${y.path} that holds is ${valueText(y.unit, edge.holds)}.`];
  });
  const odd = heatMap.frontier.filter(({ monotone }) => !monotone).map((edge) => valueText(x.unit, edge.x));
  const warned =
    odd.length === 0
      ? []
      : [`At ${x.path} = ${listText(odd)} holding and failing alternate along ${y.path}.`];
  return [counts, ...new Set(edges), ...warned];
}

function stormSentences(storm: PlanStorm, { question }: PlanResult): string[] {
  const of = (size: number): string =>
    storm.trigger === "outage" ? `an outage of ${valueText("ms", size)}` : `a burst of ${size} calls`;
  const sure = `(${percent(question.confidence)} confidence)`;
  const { answer } = storm;
  const end = `by the end of ${valueText("ms", question.durationMs)}`;
  switch (answer.kind) {
    case "value": {
      const after = storm.triggers.find(({ size }) => size === answer.holds)?.windowsToRecover ?? 0;
      const windows = `${Math.round(after * 10) / 10} windows of ${valueText("ms", storm.windowMs)}`;
      return [
        `The load does not recover ${end} from ${of(answer.fails)}; from ${of(answer.holds)} it does, in ${windows} after it is over ${sure}.`,
      ];
    }
    case "all":
      return [`The load recovers from every ${storm.trigger} tried, up to ${of(storm.to)} ${sure}.`];
    case "none":
      return [`The load does not recover ${end} even from ${of(storm.from)} ${sure}.`];
    case "too-noisy": {
      const low = answer.holds === null ? "none of those tried" : of(answer.holds);
      const high = answer.fails === null ? "none of those tried" : of(answer.fails);
      return [
        `The runs differ too much to say which ${storm.trigger} is too much: the load surely recovers from ${low}, surely not from ${high}.`,
      ];
    }
    default:
      return [`Whether the load recovers does not go by the size of the ${storm.trigger}: see the table.`];
  }
}

function comparisonSentences(comparison: PlanComparison, scenario: Scenario): string[] {
  if (comparison.populations.length === 0)
    return ["Nobody is refused as things stand: there is nothing to change."];
  return comparison.populations.flatMap((population) => {
    const clients = scenario.populations.find(({ name }) => name === population)?.clients ?? null;
    return populationSentences(comparison, population, clients);
  });
}

const named = (alternative: PlanAlternative | undefined, figure: string): PlanFigure | undefined =>
  alternative?.figures.find((one) => one.figure === figure);
const asTheyAre = "as they are";

function populationSentences(
  { alternatives }: PlanComparison,
  population: string,
  clients: number | null,
): string[] {
  const mine = alternatives.filter((one) => one.population === population);
  const asIs = alternatives.find((one) => one.asIs);
  const who = clients === null ? population : `${clients} ${population}`;
  const share = `${population}.refusedShare`;
  const text = (one: PlanAlternative | undefined, figure: string): string => {
    const found = named(one, figure);
    return found === undefined ? "–" : meanText(found);
  };
  const at = (policy: string): PlanAlternative | undefined =>
    mine.find((one) => one.policy === policy && one.limits === asTheyAre);
  const [alone, jittered] = [at("waitReset"), at("waitReset+0..5s")];
  const first = `${population}.refusedFirstSecondShare`;
  const sentences = [
    `${who}: ${policyMeaning("waitReset")} refuses ${text(alone, first)} in the first second after it; ` +
      `${policyMeaning("waitReset+0..5s").replace("waiting for the reset ", "")} ${text(jittered, first)}. ` +
      `Over the whole run: ${text(alone, share)} and ${text(jittered, share)}; as things stand ${text(asIs, share)}.`,
  ];
  const best = leastRefused(mine, asIs, population);
  if (best !== null)
    sentences.push(
      `With the limits as they are, ${policyMeaning(best.policy)} refuses ${population} least without losing more: ` +
        `${text(best, share)} of calls, 95% of jobs within ${text(best, `${population}.waitP95Ms`)} ` +
        `(as things stand ${text(asIs, share)}, ${text(asIs, `${population}.waitP95Ms`)}).`,
    );
  const larger = mine.filter(({ policy }) => policy.startsWith("own"));
  if (larger.length > 0) {
    const words = larger.map((one) => `${text(one, share)} at ${one.limits}`);
    sentences.push(
      `Larger limits alone refuse ${population} ${listText(words)}, in place of ${text(asIs, share)}.`,
    );
  }
  return sentences;
}

/** The policy that refuses least, among those that lose no more jobs than the population loses now. */
function leastRefused(
  alternatives: readonly PlanAlternative[],
  asIs: PlanAlternative | undefined,
  population: string,
): PlanAlternative | null {
  const mean = (one: PlanAlternative | undefined, figure: string): number =>
    named(one, `${population}.${figure}`)?.mean ?? 0;
  let best: PlanAlternative | null = null;
  for (const one of alternatives) {
    if (one.limits !== asTheyAre || mean(one, "gaveUp") > mean(asIs, "gaveUp")) continue;
    if (mean(one, "refusedShare") < mean(best ?? asIs, "refusedShare")) best = one;
  }
  return best;
}
