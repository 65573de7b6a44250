// The figures of a run: the shape of summary.json. Plain data, bounded in size whatever the trace.
import * as v from "valibot";
import type { Shape } from "../policy/forms.ts";
import { type FigureName, figureNames } from "../rules/figures.ts";
import { traceSources } from "../trace/record.ts";
import { amount, maybe, ms, ofOwner, quotaOwner, text, version, whole, yes } from "../trace/shapes.ts";

type FigureEntry = v.GenericSchema<number | null | undefined, number | null>;

/** Figures that runs kept by earlier versions lack. */
const laterFigures: readonly FigureName[] = ["finishedMs", "windowsExhausted", "refusedFirstSecondShare"];
const entryOf = (name: FigureName): FigureEntry =>
  laterFigures.includes(name) ? v.optional(maybe, null) : maybe;
/** Every figure by its name (`figureKinds`); `null` where nothing was there to measure. */
const figures = v.object(
  Object.fromEntries(figureNames.map((name) => [name, entryOf(name)])) as Record<FigureName, FigureEntry>,
);
export type Figures = Shape<typeof figures>;

/** Clients that are alike: the part of a client's name before the slash. */
const population = v.object({
  name: text,
  /** Number of clients that were seen. */
  clients: whole,
  figures,
  /** The waits at each of `waitShares`, in ms, nearest rank; empty where no job was answered. */
  waitsMs: v.array(amount),
});
export type PopulationSummary = Shape<typeof population>;

const user = v.object({ org: text, user: text, figures });
export type UserSummary = Shape<typeof user>;

/** Readings that answers showed of a window or quota, and their calls by how they ended. */
const shown = {
  limit: v.nullable(whole),
  /** The highest count that any answer showed. */
  highest: maybe,
  /** Calls that the answers place there. */
  admitted: whole,
  /** Refusals that name it. */
  refused: whole,
};

/** One window as the answers showed it, on the clients' clock. */
const window = ofOwner({
  /** The end less the window's length where the rules are known, else the first reading. */
  opensAt: ms,
  /** Good to a second and the time of a round trip: `reset` is whole seconds. */
  endsAt: ms,
  ...shown,
});
export type WindowSummary = Shape<typeof window>;

/** A quota without windows, as the answers showed it. */
const level = v.object({ ...quotaOwner.entries, ...shown });
export type LevelSummary = Shape<typeof level>;

export const summarySchema = v.object({
  format: v.literal("spillway-summary", '"spillway-summary"'),
  version,
  source: v.picklist(traceSources),
  scenario: v.nullable(text),
  seed: v.nullable(whole),
  /** As the trace has them: the header's start, the last answer. */
  startedAt: ms,
  endedAt: ms,
  /** Lines of the trace, the header left out. */
  records: whole,
  figures,
  /** In the order in which they first answered. */
  populations: v.array(population),
  /** The most refused first, at most `usersMost`. */
  users: v.array(user),
  usersSeen: whole,
  /** Under a policy: refused calls by the quota that refused, or the word for what did. */
  refusedBy: v.optional(v.record(text, whole)),
  /** By organization, scope, user and time; where there are more than `windowsMost`, the most refused ones. */
  windows: v.array(window),
  windowsSeen: whole,
  /** Under a policy: quotas without windows, as buckets, the most refused first, at most `levelsMost`. */
  levels: v.optional(v.array(level)),
});
export type Summary = Shape<typeof summarySchema>;

/** The shares at which a population's waits are kept: each percent, and the tail. */
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
  /** As the scenario has it, `<5%`. */
  bound: text,
  /** In the figure's unit; `null` where there was nothing to measure, which holds nothing. */
  actual: maybe,
  held: yes,
});
export type ExpectationResult = Shape<typeof expectation>;
