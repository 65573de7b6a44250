// Plans of rare shapes: without goals, without an answer, of one value, of a frontier that breaks off.
import type { PlanAnswer, PlanPoint, PlanResult } from "../../src/summary/plan-result.ts";
import { chosen, mapped, searched, stormy } from "./results.ts";

const answered = (answer: PlanAnswer | null, sentence: string): PlanResult => ({
  ...searched,
  answer,
  sentences: [sentence],
});

const withoutGoals = ({ values, replications, figures }: PlanPoint): PlanPoint => ({
  ...{ values, replications, held: null, heldShare: null, state: null },
  figures: figures.map((one, place) => (place === 0 ? { ...one, mean: 0.7, interval: null } : one)),
});

const measured: PlanResult = {
  ...searched,
  question: {
    ...searched.question,
    vary: [
      { path: "agents.think", unit: "ms", range: "90s..500ms", from: 90_000, to: 500, values: 9 },
      ...searched.question.vary.slice(1),
    ],
    ...{ goals: [], find: null, description: null, command: null },
  },
  points: [90_000, 500, 7_000].map((value, place) => ({
    ...withoutGoals(searched.points[place] as PlanPoint),
    values: [value],
  })),
  answer: null,
  notes: [],
  sentences: ["refusedShare was measured."],
};

const [wide, tall] = mapped.question.vary;
if (wide === undefined || tall === undefined) throw new RangeError("the map has two axes");

/** One choice and three shares; the frontier breaks off, and reaches both ends. */
const broken: PlanResult = {
  ...mapped,
  question: {
    ...mapped.question,
    vary: [
      { ...wide, path: "agents.share", unit: "share", range: "0.1..0.3", from: 0.1, to: 0.3 },
      { ...tall, path: "agents.onRefused", unit: "choice", range: "a,b,c,d", from: "a", to: "d" },
    ],
    find: "largest",
  },
  points: mapped.points.map((point, place) => ({
    ...(place === 2 ? withoutGoals(point) : point),
    figures: place === 5 ? [] : point.figures,
  })),
  heatMap: {
    xs: [0.1, 0.2, 0.3],
    ys: ["a", "b", "a policy with a long name", "d"],
    cells: [0, 1, 2, 3].map((row) => [0, 1, 2].map((column) => column * 4 + row)),
    figures: ["refusedShare"],
    frontier: [
      { x: 0.1, holds: null, fails: "a", monotone: true },
      { x: 0.2, holds: "b", fails: "a", monotone: false },
      { x: 0.3, holds: "d", fails: null, monotone: true },
    ],
  },
};

/** As many columns as have no room for their numbers, and each mean the same. */
const crowded: PlanResult = {
  ...mapped,
  points: Array.from({ length: 30 }, (_, place) => ({
    ...(mapped.points[0] as PlanPoint),
    values: [1000 + place, 100],
  })),
  heatMap: {
    xs: Array.from({ length: 30 }, (_, place) => 1000 + place),
    ys: [100],
    cells: [Array.from({ length: 30 }, (_, place) => place)],
    figures: ["refusedShare", "waitP95Ms"],
    frontier: [],
  },
};

const { storm, comparison } = stormy;
if (storm === null || comparison === null) throw new RangeError("the plan has a storm and alternatives");

const burst: PlanResult = {
  ...stormy,
  question: { ...stormy.question, goals: searched.question.goals },
  storm: {
    ...storm,
    ...{ trigger: "burst", unit: "count", withinWindows: 3, answer: { kind: "all" } },
    triggers: storm.triggers.map((one, place) => ({
      ...one,
      state: place === 1 ? "unclear" : one.state,
      windowsToRecover: place === 0 ? 2.25 : null,
    })),
  },
  comparison: {
    ...comparison,
    alternatives: comparison.alternatives.map((one, place) => ({
      ...one,
      held: place,
      figures: place === 2 ? [] : one.figures,
    })),
  },
};

/** Drawn as pages. */
export const oddPlans = {
  measured,
  one: { ...searched, points: searched.points.slice(3, 4), question: { ...searched.question, vary: [wide] } },
  open: { ...chosen, question: { ...chosen.question, goals: [] }, points: chosen.points.map(withoutGoals) },
  broken,
  crowded,
  burst,
} satisfies Record<string, PlanResult>;

/** Of which the words alone are new. */
export const oddAnswers: Readonly<Record<string, PlanResult>> = {
  all: answered({ kind: "all" }, "It holds at all 5 values."),
  none: answered({ kind: "none" }, "It holds nowhere."),
  alternating: answered({ kind: "not-monotone", evidence: [] }, "Holding and failing values alternate."),
  noisy: answered({ kind: "too-noisy", holds: 10, fails: null, replicationsMore: 90 }, "It is too noisy."),
  noisiest: answered(
    { kind: "too-noisy", holds: null, fails: null, replicationsMore: null },
    "Too noisy to say.",
  ),
  unclear: answered({ kind: "choices", holding: [], failing: ["a"], unclear: ["b"] }, "No choice holds."),
  storms: { ...stormy, storm: { ...storm, answer: { kind: "none" } }, comparison: null },
  noisyStorm: {
    ...stormy,
    storm: { ...storm, answer: { kind: "too-noisy", holds: null, fails: null, replicationsMore: 8 } },
  },
  nothing: { ...stormy, storm: null, comparison: { ...comparison, populations: [] } },
};
