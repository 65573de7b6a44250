// The figures of a run: the shape of summary.json. Plain data, bounded in size for any trace.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import { type FigureName, figureNames } from "../rules/figures.ts";
import { traceSources } from "../trace/record.ts";
import { amount, maybe, ms, ofOwner, quotaOwner, text, version, whole, yes } from "../trace/shapes.ts";

type FigureEntry = v.GenericSchema<number | null | undefined, number | null>;

/** Figures that runs kept by earlier versions lack. */
const laterFigures: readonly FigureName[] = ["finishedMs", "windowsExhausted", "refusedFirstSecondShare"];
/** Figures that every trace tells. */
const always = [
  "calls",
  "admitted",
  "refused",
  "unanswered",
  "jobs",
  "gaveUp",
  "statusCalls",
  "points",
] as const;
type Always = (typeof always)[number];
const isAlways = (name: FigureName): boolean => always.some((one) => one === name);
const entryOf = (name: FigureName): FigureEntry =>
  isAlways(name) ? amount : laterFigures.includes(name) ? v.optional(maybe, null) : maybe;
type FigureEntries = Record<Always, typeof amount> & Record<Exclude<FigureName, Always>, FigureEntry>;
/** Figures by name (`figureKinds`); `null` if there was nothing to measure. */
const figures = v.object(
  Object.fromEntries(figureNames.map((name) => [name, entryOf(name)])) as FigureEntries,
);
export type Figures = Shape<typeof figures>;

/** One population; its name is a client's name before the slash. */
const population = v.object({
  name: text,
  /** Number of clients in the trace. */
  clients: whole,
  figures,
  /** Waits at each of `waitShares`, ms, nearest rank; empty if no call was admitted. */
  waitsMs: v.array(amount),
});
export type PopulationSummary = Shape<typeof population>;

const user = v.object({ org: text, user: text, figures });
export type UserSummary = Shape<typeof user>;

/** Readings of a window or quota, and its calls by outcome. */
const shown = {
  limit: v.nullable(whole),
  /** Highest count that an answer showed. */
  highest: maybe,
  /** Number of admitted calls whose answers show it. */
  admitted: whole,
  /** Number of refusals that name it. */
  refused: whole,
};

/** One window as answers show it, on the clients' clock. */
const window = ofOwner({
  /** The end less the window's length if that is known, else the sending time of the first reading. */
  opensAt: ms,
  /** Estimate, accurate to a second and a round trip, since `reset` is in whole seconds. */
  endsAt: ms,
  ...shown,
});
export type WindowSummary = Shape<typeof window>;

/** A quota without windows, as answers show it. */
const level = v.object({ ...quotaOwner.entries, ...shown });
export type LevelSummary = Shape<typeof level>;

export const summarySchema = v.object({
  format: v.literal("spillway-summary", '"spillway-summary"'),
  version,
  source: v.picklist(traceSources),
  scenario: v.nullable(text),
  seed: v.nullable(whole),
  /** Start in the trace's header, and time of the last answer. */
  startedAt: ms,
  endedAt: ms,
  /** Number of the trace's lines without its header. */
  records: whole,
  figures,
  /** Populations in the order of their first lines. */
  populations: v.array(population),
  /** Users, the most refused first, at most `usersMost`. */
  users: v.array(user),
  usersSeen: whole,
  /** Under a policy: number of refused calls by the quota that refused, or by the word for another refuser. */
  refusedBy: v.optional(v.record(text, whole)),
  /** Windows by organization, scope, user and time; if more than `windowsMost`, the most refused ones. */
  windows: v.array(window),
  windowsSeen: whole,
  /** Under a policy: quotas without windows (buckets), the most refused first, at most `levelsMost`. */
  levels: v.optional(v.array(level)),
});
export type Summary = Shape<typeof summarySchema>;

/** Shares at which a population's waits are kept: each percent, and the tail. */
export const waitShares: readonly number[] = [
  ...Array.from({ length: 100 }, (_, percent) => percent / 100),
  0.995,
  0.999,
  1,
];

export const usersMost = 1_000;
export const windowsMost = 2_000;
export const levelsMost = 100;

/** The result of one expectation of the scenario. */
export const expectation = v.object({
  figure: text,
  /** Bound as the scenario writes it: `<5%`. */
  bound: text,
  /** Measured amount in the figure's unit; `null` if there was nothing to measure, and then `held` is false. */
  actual: maybe,
  held: yes,
});
export type ExpectationResult = Shape<typeof expectation>;
