// The answer of a search in sentences, with its error bar and the measurements on both sides of it.

import { parseFigure, unitOf } from "../rules/figures.ts";
import { exactShare } from "../rules/share.ts";
import { count, counted, listText } from "../rules/words.ts";
import type { FitError } from "../scenario/scenario.ts";
import type { PlanAnswer, PlanAxis, PlanFigure, PlanResult, PlanValue } from "../summary/plan-result.ts";
import { goalsText, valueText } from "../summary/plan-values.ts";
import { heldTo } from "./model-error.ts";
import { sideMost } from "./sweep.ts";
import { rangeText, spreadText, sureText } from "./words.ts";

/** Subject of the sentences. */
interface Topic {
  readonly result: PlanResult;
  readonly fitError: FitError | null;
  readonly axis: PlanAxis;
  /** `refusedShare <1% and unanswered ==0`. */
  readonly wanted: string;
  readonly hold: "hold" | "holds";
  /** `holds in 95% of runs`. */
  readonly holdMostly: string;
  readonly fail: "fail" | "fails";
  of(value: PlanValue): string;
}

/** Returns the answer, and what was measured there. @param fitError error of a fitted scenario */
export function answerSentences(result: PlanResult, fitError: FitError | null): string[] {
  const { answer, question } = result;
  const [axis] = question.vary;
  if (answer === null || axis === undefined) return [];
  const one = question.goals.length === 1;
  const topic: Topic = {
    result,
    fitError,
    axis,
    wanted: goalsText(question.goals),
    hold: one ? "holds" : "hold",
    holdMostly: `${one ? "holds" : "hold"} in ${exactShare(question.share)} of runs`,
    fail: one ? "fails" : "fail",
    of: (value) => valueText(axis, value),
  };
  switch (answer.kind) {
    case "value":
      return valueSentences(topic, answer);
    case "all":
      return allSentences(topic);
    case "none":
      return [
        `${topic.wanted} ${topic.holdMostly} at none of ${counted(result.points.length, "point")} tried in ${axis.path} = ${axis.range}.`,
        ...measuredAt(topic, [question.find === "largest" ? axis.from : axis.to]),
      ];
    case "not-monotone":
      return [alternation(topic, answer)];
    case "too-noisy":
      return [noise(topic, answer)];
    case "choices":
      return [choices(topic, answer)];
    case "frontier":
      return frontierSentences(topic, answer);
  }
}

type Answer<K extends PlanAnswer["kind"]> = Extract<PlanAnswer, { kind: K }>;

function valueSentences(topic: Topic, { value, fails }: Answer<"value">): string[] {
  const { result, axis, wanted, hold, holdMostly, fail, of } = topic;
  const { find, confidence } = result.question;
  const they = hold === "holds" ? "it" : "they";
  const between = unclearBetween(result, value, fails).map(of);
  const unclear = between.length === 0 ? "" : `at ${listText(between)} the runs do not tell, and `;
  return [
    `${axis.path} = ${of(value)} is the ${find} for which ${wanted} surely ${holdMostly}; ${unclear}at ${of(fails)} ${they} ${fail} ${sureText(confidence)}.`,
    ...measuredAt(topic, [value, fails]),
  ];
}

/** Returns the values between two others that were tried and stayed unclear, rising. */
const unclearBetween = ({ points }: PlanResult, one: number, other: number): number[] =>
  points
    .filter(({ state }) => state === "unclear")
    .map(({ values }) => Number(values[0]))
    .filter((value) => value > Math.min(one, other) && value < Math.max(one, other));

function allSentences(topic: Topic): string[] {
  const { axis, wanted, holdMostly, of, result } = topic;
  const { find } = result.question;
  const end = find === "largest" ? axis.to : axis.from;
  const beyond =
    axis.values === 1
      ? ""
      : `, as far as it was tried: the ${find} value is ${of(end)}, or lies beyond that range`;
  return [
    `${wanted} ${holdMostly} all over ${axis.path} = ${axis.range}${beyond}.`,
    ...measuredAt(topic, [end]),
  ];
}

function alternation(
  { axis, wanted, hold, fail, of, result }: Topic,
  { evidence }: Answer<"not-monotone">,
): string {
  const verbs = { holds: hold, fails: fail, unclear: hold === "holds" ? "is unclear" : "are unclear" };
  const turns = evidence
    .filter(({ state }, index) => state !== evidence[index - 1]?.state)
    .map(({ state, value }) => `${verbs[state]} from ${of(value)}`);
  const decided = evidence.filter(({ state }) => state !== "unclear");
  const changes = decided.filter(({ state }, index) => index > 0 && state !== decided[index - 1]?.state);
  const found = `${wanted} ${listText(turns)} on`;
  if (changes.length > 1)
    return `There is no one answer: ${found}, so that neither end of ${axis.range} says anything about what lies between.`;
  const other = result.question.find === "largest" ? "smallest" : "largest";
  return `There is no ${result.question.find} value with others that ${hold} on its one side alone: ${found}; ask for the other end (--find ${other}).`;
}

function noise(topic: Topic, { holds, fails, replicationsMore }: Answer<"too-noisy">): string {
  const { result, axis, wanted, holdMostly, fail, of } = topic;
  const { find, replicationsMost } = result.question;
  const at =
    holds === null
      ? `${wanted} surely ${holdMostly} at no value tried`
      : `${axis.path} = ${of(holds)} is the ${find} tried for which ${wanted} surely ${holdMostly}`;
  const from =
    fails === null
      ? "beyond it the runs differ too much to say"
      : `${fail === "fails" ? "it" : "they"} surely ${fail} at ${of(fails)}, and up to there the runs differ too much to say`;
  const more =
    replicationsMore === null
      ? "no number of replications that can be run would tell"
      : `about ${replicationsMore} more runs of each value would tell (--replications ${replicationsMost + replicationsMore})`;
  return `${at}; ${from}: ${more}.`;
}

function choices({ wanted, hold, fail }: Topic, { holding, failing, unclear }: Answer<"choices">): string {
  const groups = [
    [hold, holding],
    [fail, failing],
    [hold === "holds" ? "is unclear" : "are unclear", unclear],
  ] as const;
  const words = groups
    .filter(([, those]) => those.length > 0)
    .map(([verb, those]) => `${verb} with ${listText(those)}`);
  return `${wanted} ${listText(words)}.`;
}

function measuredAt({ result, fitError, of }: Topic, values: readonly PlanValue[]): string[] {
  const goals = new Set(result.question.goals.map(({ figure }) => figure));
  return [...new Set(values)].flatMap((value) => {
    const point = result.points.find((one) => one.values[0] === value);
    if (point === undefined) return [];
    const figures = point.figures.filter(({ figure }) => goals.has(figure));
    const words = figures.map(
      (figure) => `${figure.figure} ${spreadText(figure)}${worseText(figure, result.question, fitError)}`,
    );
    const runs = `${count(point.held ?? 0)} of ${counted(point.replications, "run")} ${point.replications === 1 ? "holds" : "hold"}`;
    return [`At ${of(value)}: ${listText(words)}; ${runs}.`];
  });
}

function frontierSentences(topic: Topic, { holding, failing, unclear }: Answer<"frontier">): string[] {
  const { result, axis: x, wanted, hold, fail, of } = topic;
  const { question, heatMap, points } = result;
  const [, y] = question.vary;
  if (y === undefined || heatMap === null) return [];
  const open = unclear === 0 ? "" : `, ${unclear} ${unclear === 1 ? "is" : "are"} unclear`;
  const thinned = [
    { axis: x, tried: heatMap.xs.length },
    { axis: y, tried: heatMap.ys.length },
  ].filter(({ axis, tried }) => tried < axis.values);
  const tried = thinned.some(({ axis }) => axis === y) ? " tried" : "";
  const ends = new Set([heatMap.frontier[0], heatMap.frontier.at(-1)]);
  const edges = [...ends].flatMap((edge) => {
    if (edge === undefined) return [];
    const at = `${x.path} = ${of(edge.x)}`;
    if (edge.holds === null) return [`With ${at} no ${y.path} that was tried will do.`];
    return [`With ${at} the ${question.find} ${y.path}${tried} that will do is ${valueText(y, edge.holds)}.`];
  });
  const odd = heatMap.frontier.filter(({ monotone }) => !monotone).map((edge) => of(edge.x));
  const warning = `At ${x.path} = ${listText(odd)} holding and failing alternate along ${y.path}.`;
  return [
    `${wanted} ${hold} at ${count(holding)} of ${counted(points.length, "point")} and ${fail} at ${count(failing)}${open}.`,
    ...edges,
    ...(odd.length === 0 ? [] : [warning]),
    ...(thinned.length === 0 ? [] : [thinnedSentence(thinned)]),
  ];
}

/** Returns how many values of each axis the map has, where it has not all: the others may do, too. */
const thinnedSentence = (thinned: readonly { readonly axis: PlanAxis; readonly tried: number }[]): string =>
  `The map tried ${listText(thinned.map(({ axis, tried }) => `${tried} of the ${axis.values} values of ${axis.path}`))}; ` +
  `it tries all where there are at most ${sideMost}, as in a narrower range.`;

/** Returns the range of a figure as goals are held to it: worse by the error of a fit that was too favourable. */
function worseText(figure: PlanFigure, { goals }: PlanResult["question"], error: FitError | null): string {
  const found = parseFigure(figure.figure);
  const { least, most } = figure;
  if ("path" in found || least === null || most === null) return "";
  const worse = goals
    .filter((goal) => goal.figure === figure.figure)
    .map(({ bound }) =>
      [least, most].map((value) => heldTo(value, { name: found.name, operator: bound }, error)),
    )
    .find(([low, high]) => low !== least || high !== most);
  if (worse === undefined) return "";
  const [low, high] = worse.map((value) =>
    unitOf(found.name) === "share" ? Math.min(1, value ?? 0) : value,
  ) as [number, number];
  return ` (${rangeText(figure.figure, low, high)} with the fit's error)`;
}
