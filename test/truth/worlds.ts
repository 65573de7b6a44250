// `npm run truth -- --worlds`: is it true, what a fitted scenario predicts? Each world of test/worlds is recorded for
// a week; a scenario is fitted to the log of it; both are asked for the eighth day.
//   npm run truth -- --worlds                    all of it, into reports/truth/worlds.md and worlds.json
//   npm run truth -- --worlds --quick            one world, for CI: exit 1 where an aim is missed
//   npm run truth -- --worlds --only cron,mixed --out reports/truth
//                                                these again; rows of other worlds stay as they are
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkSteps } from "../../sim/fit/check.ts";
import { checkText } from "../../sim/fit/check-text.ts";
import { type Fit, fitTo } from "../../sim/fit/fit.ts";
import type { FittedModel } from "../../sim/fit/model.ts";
import { populationText } from "../../sim/fit/report.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { resultOf } from "../support/result-of.ts";
import { askedDay, largestFleet, middleShare, playedDays } from "../worlds/answers.ts";
import { type DayFigures, median, quantile } from "../worlds/figures.ts";
import { patiences } from "../worlds/patience.ts";
import { recordingOf, rulesOf } from "../worlds/recorded.ts";
import {
  dayMs,
  limitsOf,
  minuteMs,
  mondayMs,
  type Played,
  play,
  pointLimits,
  pointsMs,
  type Row,
  type World,
} from "../worlds/world.ts";
import { worlds } from "../worlds/worlds.ts";
import { type Asked, simulatedDays } from "./world-model.ts";
import { type Shares, type Span, shareAim, type WorldTruth, worldsMarkdown } from "./world-report.ts";

/**
 * Simulations, and plays, of a question: 39 and 79 give exact intervals of 80 % and 95 %. Where a few events make a day, the
 * middle of 20 days is off by a quarter by chance.
 */
interface Effort {
  readonly simulations: number;
  readonly plays: number;
  /** Of twice the agents. */
  readonly twice: number;
  /** Of each size of a fleet, and of each policy. */
  readonly fleet: number;
  /** Simulations of the fit's check of itself; 0 for none. */
  readonly check: number;
  /** Other weeks of the same world, whose fits show how far answers of one week differ by chance. */
  readonly weeks: number;
}

const whole: Effort = { simulations: 79, plays: 240, twice: 120, fleet: 21, check: 5, weeks: 4 };
/** Of a world whose week is of more than `manyCalls`. */
const ofMany: Effort = { simulations: 19, plays: 40, twice: 7, fleet: 5, check: 0, weeks: 0 };
const manyCalls = 750_000;
const quick: Effort = { simulations: 9, plays: 9, twice: 2, fleet: 1, check: 0, weeks: 0 };
/** Simulations of each question, of fits to other weeks. */
const weekSimulations = 9;
/** Seeds of days of the world that take the place of the model's. */
const otherSeeds = 5_000;
/** The world for CI. */
const quickWorld = "heavy-tails";

/**
 * Answers that were published: `worlds.json`, or `first-met.json` of the fit that first met some of the worlds, before it
 * was changed. None where the file is not there.
 */
async function truthsOf(folder: string | null, file = "worlds.json"): Promise<readonly WorldTruth[]> {
  if (folder === null || !existsSync(join(folder, file))) return [];
  return JSON.parse(await readFile(join(folder, file), "utf8")) as WorldTruth[];
}

/** @returns the exit status: 1 where the quick world misses an aim */
export async function runWorlds(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      worlds: { type: "boolean" },
      only: { type: "string" },
      out: { type: "string" },
      quick: { type: "boolean", default: false },
    },
  });
  const names = values.only?.split(",") ?? (values.quick ? [quickWorld] : worlds.map(({ name }) => name));
  const unknown = names.find((name) => !worlds.some((world) => world.name === name));
  if (unknown !== undefined) throw new TypeError(`there is no world ${unknown}`);
  const out = values.out ?? (values.quick || values.only !== undefined ? null : "reports/truth");
  if (out !== null) await mkdir(out, { recursive: true });
  const known = new Map((values.only === undefined ? [] : await truthsOf(out)).map((row) => [row.name, row]));
  const met = await truthsOf("reports/truth", "first-met.json");
  const truths: WorldTruth[] = [];
  for (const world of names.flatMap((name) => worlds.filter((each) => each.name === name))) {
    console.error(`world ${world.name}`);
    const truth = judged(world, values.quick ? quick : null);
    truths.push(truth);
    known.set(world.name, truth);
    if (out === null) continue;
    const rows = worlds.flatMap(({ name }) => known.get(name) ?? []);
    await writeFile(join(out, "worlds.md"), worldsMarkdown(rows, met));
    await writeFile(join(out, "worlds.json"), `${JSON.stringify(rows, null, 1)}\n`);
  }
  console.log(worldsMarkdown(truths, met));
  return values.quick && truths.some(({ day }) => !day.held) ? 1 : 0;
}

function fittedWeek(world: World, seed: number): { readonly week: Played; readonly fit: Fit } {
  const week = play(world, { firstDay: 0, days: askedDay, seed });
  return { week, fit: fitTo(recordingOf(week.rows), { name: "week", rules: parseRules(rulesOf(world)) }) };
}

const fittedFleet = (world: World, model: FittedModel, simulations: number): number =>
  largestFleet(world, (agents) => middleShare(simulatedDays(model, simulations, { agents })));

/** @param given effort; `null`: as much as the number of calls of a week allows */
function judged(world: World, given: Effort | null): WorldTruth {
  const { week, fit } = fittedWeek(world, 1);
  const effort = given ?? (week.rows.length > manyCalls ? ofMany : whole);
  const { simulations, plays, twice: added, fleet, check, weeks } = effort;
  const { model } = fit;
  const true1 = playedDays(world, plays);
  const model1 = simulatedDays(model, simulations);
  const twice = { agents: 2 * world.agents };
  const [true2, model2] = [playedDays(world, added, twice), simulatedDays(model, added, twice)];
  const days = Array.from({ length: askedDay }, (_, day) => recordedDay(week, day));
  const linear = (factor: number): number => median(days.map((day) => scaledShare(day, factor, world)));
  const yesterday = refusedOf(days.at(-1) as readonly Row[]);
  const [asIs, doubled] = [sharesOf(true1, model1), sharesOf(true2, model2)];
  const others = Array.from({ length: weeks }, (_, index) => fittedWeek(world, 2 + index).fit.model);
  const shareBy = (asked: Asked) =>
    others.map((other) => middleShare(simulatedDays(other, weekSimulations, asked)));
  return {
    name: world.name,
    description: world.description,
    tuned: world.tuned,
    populations: model.populations
      .map(
        (population) => `${population.name}: ${population.reasons.population}; ${populationText(population)}`,
      )
      .slice(0, 5),
    says: [...checkedText(fit, check), ...model.doubts],
    day: {
      ...asIs,
      yesterday,
      linear: linear(1),
      noWorse: isNoWorse(asIs, [yesterday, linear(1)]),
      weeks: shareBy({}),
    },
    twice: {
      ...doubled,
      yesterday: null,
      linear: linear(2),
      noWorse: isNoWorse(doubled, [linear(2)]),
      weeks: shareBy(twice),
    },
    calls: { true: spanOf(true1, ({ calls }) => calls), model: spanOf(model1, ({ calls }) => calls) },
    waitP95Ms: {
      true: spanOf(true1, ({ waitP95Ms }) => waitP95Ms),
      model: spanOf(model1, ({ waitP95Ms }) => waitP95Ms),
    },
    coverage: {
      narrow: coverage(true1, model1, 0.8),
      wide: coverage(true1, model1, 0.95),
      own: coverage(true1, playedDays(world, simulations, {}, otherSeeds), 0.8),
    },
    fleet: {
      true: largestFleet(world, (agents) => middleShare(playedDays(world, fleet, { agents }))),
      model: fittedFleet(world, model, fleet),
      weeks: others.map((other) => fittedFleet(world, other, weekSimulations)),
      linear: largestFleet(world, (agents) => linear(agents / world.agents)),
    },
    policy: {
      true: policyShares((policy) => playedDays(world, fleet, { patience: patiences[policy] })),
      model: policyShares((policy) => simulatedDays(model, fleet, { policy })),
    },
  };
}

/** The fit's own first lines on what is off, and why. */
function checkedText(fit: Fit, seeds: number): string[] {
  if (seeds === 0) return [];
  const check = resultOf(checkSteps(fit, seeds));
  return [checkText(check), ...(check.why === null ? [] : [`why: ${check.why}`])];
}

function recordedDay({ rows }: Played, day: number): readonly Row[] {
  const fromMs = mondayMs + day * dayMs;
  return rows.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + dayMs);
}

const admittedOf = (day: readonly Row[]): readonly Row[] => day.filter(({ status }) => status !== 429);
const refusedOf = (day: readonly Row[]): number =>
  day.length === 0 ? 0 : 1 - admittedOf(day).length / day.length;

/** A spreadsheet's prediction: what was admitted in each window and what was refused that day, times a factor. */
function scaledShare(day: readonly Row[], factor: number, world: World): number {
  const windows = new Map<string, { calls: number; units: number; limit: number }>();
  for (const { atMs, points } of admittedOf(day)) {
    const isQuery = points !== undefined;
    const { organization: limit } = isQuery ? pointLimits : limitsOf(world);
    const key = `${isQuery} ${Math.floor(atMs / (isQuery ? pointsMs : minuteMs))}`;
    const { calls, units } = windows.get(key) ?? { calls: 0, units: 0 };
    windows.set(key, { calls: calls + 1, units: units + (points?.actual ?? 1), limit });
  }
  let [over, all] = [0, 0];
  for (const { calls, units, limit } of windows.values()) {
    over += Math.max(0, factor * units - limit) * (calls / units);
    all += factor * calls;
  }
  return all === 0 ? 0 : Math.min(1, refusedOf(day) + over / all);
}

/** Tells whether the model is off by no more than the better baseline, or than the world's own days are. */
function isNoWorse(
  { true: seen, model }: Pick<Shares, "true" | "model">,
  baselines: readonly number[],
): boolean {
  const off = (share: number): number => Math.abs(share - seen.middle);
  const better = Math.min(...baselines.map(off));
  return off(model.middle) <= Math.max(better, 0.003, (seen.most - seen.least) / 2);
}

function sharesOf(truth: readonly DayFigures[], model: readonly DayFigures[]) {
  const shareOf = ({ refusedShare }: DayFigures): number => refusedShare;
  const [seen, said] = [spanOf(truth, shareOf), spanOf(model, shareOf)];
  const held = Math.abs(said.middle - seen.middle) <= shareAim(seen.middle);
  return { true: seen, model: said, held };
}

function spanOf(days: readonly DayFigures[], figure: (day: DayFigures) => number): Span {
  const values = days.map(figure);
  return { least: quantile(values, 0.1), middle: median(values), most: quantile(values, 0.9) };
}

/** The share of the true days' minutes, or windows, whose admitted calls lie within the model's interval. */
function coverage(truth: readonly DayFigures[], model: readonly DayFigures[], level: number): number {
  const out = Math.max(0, Math.floor(((model.length + 1) * (1 - level)) / 2 + 1e-9) - 1);
  let [inside, all] = [0, 0];
  for (let minute = 0; minute < dayMs / minuteMs; minute++) {
    const sorted = model.map(({ admitted }) => admitted[minute] as number).sort((a, b) => a - b);
    const [low, high] = [sorted[out] as number, sorted[sorted.length - 1 - out] as number];
    for (const { admitted } of truth) {
      all += 1;
      if ((admitted[minute] as number) >= low && (admitted[minute] as number) <= high) inside += 1;
    }
  }
  return inside / all;
}

function policyShares(
  daysUnder: (policy: keyof typeof patiences) => readonly DayFigures[],
): Readonly<Record<string, number>> {
  const names = Object.keys(patiences) as (keyof typeof patiences)[];
  return Object.fromEntries(names.map((name) => [name, middleShare(daysUnder(name))]));
}
