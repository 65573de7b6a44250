// Open arrivals: when each client begins, as a pure schedule. Rates are in k6's words; what k6 has no word for
// (random, cron's, a day's) runs there, too: each client sleeps until it is due (`load/k6/options.ts`).
import {
  constantTimes,
  type DayRates,
  dayTimes,
  poissonTimes,
  rampTimes,
  type Stage,
} from "./arrival-rates.ts";
import { type CronMinutes, cronTimes, parseCron } from "./cron.ts";
import { fleetStays, type Stay } from "./fleet.ts";
import type { Duration, Mistakes } from "./mistakes.ts";
import { between, type RandomState, seedRandom } from "./random.ts";

/** `rate` arrivals every `timeUnit`, evenly, the first at once; for the whole scenario. */
export interface ConstantArrivals {
  readonly executor: "constant-arrival-rate";
  readonly rate: number;
  /** One second where it is left out. */
  readonly timeUnit?: Duration;
  /** How many clients k6 keeps ready; the simulator always has enough. */
  readonly preAllocatedVUs: number;
  readonly maxVUs?: number;
}

/** A rate that goes in straight lines from `startRate` to each stage's `target`; none after the last stage. */
export interface RampingArrivals {
  readonly executor: "ramping-arrival-rate";
  /** 0 where it is left out. */
  readonly startRate?: number;
  readonly stages: readonly { readonly target: number; readonly duration: Duration }[];
  readonly timeUnit?: Duration;
  readonly preAllocatedVUs: number;
  readonly maxVUs?: number;
}

/**
 * `rate` arrivals every `timeUnit` on average, at random and knowing nothing of each other: the gaps between them are
 * exponentially distributed. Drawn from the scenario's seed, so that simulator and k6 have the same ones.
 */
export interface PoissonArrivals {
  readonly executor: "poisson-arrival-rate";
  readonly rate: number;
  /** One second where it is left out. */
  readonly timeUnit?: Duration;
  /** How many clients k6 has at most; one that is due while all are busy comes late. */
  readonly preAllocatedVUs: number;
}

/** `clients` clients at each minute that a line of cron names: everyone at :00, or every five minutes. */
export interface CronArrivals {
  readonly executor: "cron";
  /** Minute, hour, day, month, weekday, in UTC: `"0 * * * *"`. Of the clock of `startAt`; in k6, of the real one. */
  readonly schedule: string;
  /** How many come each time. */
  readonly clients: number;
  /** Each of them comes at random so much later at most; all at once where it is left out. */
  readonly spread?: Duration;
  /** As for `poisson-arrival-rate`. */
  readonly preAllocatedVUs: number;
}

/** Arrivals at random, as often as the hour has it: a business day's curve. */
export interface DayArrivals {
  readonly executor: "business-day";
  /**
   * 24 rates, arrivals every `timeUnit` on average, from midnight UTC on. Of the clock of `startAt`; in k6, of the
   * real one.
   */
  readonly rates: readonly number[];
  /** One hour where it is left out: the rates are arrivals an hour. */
  readonly timeUnit?: Duration;
  /** `steps`, where it is left out: a rate holds for its hour. `lines`: it goes to the next hour's in a straight line. */
  readonly shape?: "steps" | "lines";
  /** As for `poisson-arrival-rate`. */
  readonly preAllocatedVUs: number;
}

/**
 * A fleet that scales up and down: as many clients at a time as the stages say, in straight lines. A client that is
 * taken away (the last one added first) sends nothing from then on, and waits for the answers that it still has to
 * get; after the last stage nobody is there. Each has a user of its own unless `user` says otherwise.
 */
export interface FleetArrivals {
  readonly executor: "ramping-vus";
  /** How many there are at the start; 1 where it is left out. */
  readonly startVUs?: number;
  readonly stages: readonly { readonly target: number; readonly duration: Duration }[];
}

export type Arrivals =
  | ConstantArrivals
  | RampingArrivals
  | PoissonArrivals
  | CronArrivals
  | DayArrivals
  | FleetArrivals;

/** Arrivals, checked; durations in ms. */
export type ArrivalSchedule =
  | (Readied & {
      readonly executor: "constant-arrival-rate";
      readonly rate: number;
      readonly timeUnitMs: number;
    })
  | (Readied & {
      readonly executor: "ramping-arrival-rate";
      readonly startRate: number;
      readonly stages: readonly Stage[];
      readonly timeUnitMs: number;
    })
  | (Readied & {
      readonly executor: "poisson-arrival-rate";
      readonly rate: number;
      readonly timeUnitMs: number;
    })
  | (Readied & {
      readonly executor: "cron";
      readonly cron: CronMinutes;
      readonly clients: number;
      readonly spreadMs: number;
    })
  | (Readied & DayRates & { readonly executor: "business-day" })
  | { readonly executor: "ramping-vus"; readonly startVUs: number; readonly stages: readonly Stage[] };

interface Readied {
  readonly preAllocatedVUs: number;
  readonly maxVUs: number;
}

/** What a run's arrivals go by. */
export interface ArrivalRun {
  readonly durationMs: number;
  /** What the clock shows at the start, ms since the epoch. */
  readonly startAtMs: number;
  readonly seed: number;
  /** Draws of their own, apart from those of every client and of other populations. */
  readonly stream: number;
}

/** The most arrivals of one population; it keeps every product of `arrival-rates.ts` within 2^53. */
export const arrivalsMost = 10_000_000;
const rateMost = 1_000_000;
const clientsMost = 1_000_000;
const dayMs = 24 * 3_600_000;

const executors = [
  "constant-arrival-rate",
  "ramping-arrival-rate",
  "poisson-arrival-rate",
  "cron",
  "business-day",
  "ramping-vus",
] as const;

/** The members that each has, beside `executor`. */
const membersOf: Readonly<Record<(typeof executors)[number], readonly string[]>> = {
  "constant-arrival-rate": ["rate", "timeUnit", "preAllocatedVUs", "maxVUs"],
  "ramping-arrival-rate": ["startRate", "stages", "timeUnit", "preAllocatedVUs", "maxVUs"],
  "poisson-arrival-rate": ["rate", "timeUnit", "preAllocatedVUs"],
  cron: ["schedule", "clients", "spread", "preAllocatedVUs"],
  "business-day": ["rates", "timeUnit", "shape", "preAllocatedVUs"],
  "ramping-vus": ["startVUs", "stages"],
};

/** Checks arrivals; what is wrong goes to `mistakes`. */
export function parseArrivals(path: string, value: unknown, mistakes: Mistakes): ArrivalSchedule | null {
  const executor = (value as { executor?: unknown } | null | undefined)?.executor;
  const known = executors.find((one) => one === executor);
  const every = [...new Set(Object.values(membersOf).flat())];
  if (!mistakes.members(path, value, ["executor", ...(known === undefined ? every : membersOf[known])]))
    return null;
  if (known === undefined) {
    mistakes.oneOf(`${path}.executor`, executor, executors);
    return null;
  }
  return parsers[known](path, value, mistakes);
}

type Parser = (path: string, value: Record<string, unknown>, mistakes: Mistakes) => ArrivalSchedule | null;

const parsers: Readonly<Record<(typeof executors)[number], Parser>> = {
  "constant-arrival-rate": (path, value, mistakes) => ({
    executor: "constant-arrival-rate",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, dayMs),
    rate: mistakes.whole(`${path}.rate`, value["rate"], 1, rateMost),
  }),
  "ramping-arrival-rate": (path, value, mistakes) => ({
    executor: "ramping-arrival-rate",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, dayMs),
    startRate: mistakes.whole(`${path}.startRate`, value["startRate"] ?? 0, 0, rateMost),
    stages: parseStages(`${path}.stages`, value["stages"], rateMost, mistakes),
  }),
  "poisson-arrival-rate": (path, value, mistakes) => ({
    executor: "poisson-arrival-rate",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, dayMs),
    rate: parseRate(`${path}.rate`, value["rate"], mistakes, "above 0"),
  }),
  cron: (path, value, mistakes) => {
    const cron = parseCron(`${path}.schedule`, value["schedule"], mistakes);
    const checked = {
      executor: "cron" as const,
      ...parseReadied(path, value, mistakes),
      clients: mistakes.whole(`${path}.clients`, value["clients"], 1, clientsMost),
      spreadMs: mistakes.duration(`${path}.spread`, value["spread"] ?? 0, 0, dayMs),
    };
    return cron === null ? null : { ...checked, cron };
  },
  "business-day": (path, value, mistakes) => ({
    executor: "business-day",
    ...parseReadied(path, value, mistakes),
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? "1h", 1, dayMs),
    rates: parseDay(`${path}.rates`, value["rates"], mistakes),
    shape: mistakes.oneOf(`${path}.shape`, value["shape"] ?? "steps", ["steps", "lines"]) ?? "steps",
  }),
  "ramping-vus": (path, value, mistakes) => ({
    executor: "ramping-vus",
    startVUs: mistakes.whole(`${path}.startVUs`, value["startVUs"] ?? 1, 0, clientsMost),
    stages: parseStages(`${path}.stages`, value["stages"], clientsMost, mistakes),
  }),
};

function parseReadied(path: string, value: Record<string, unknown>, mistakes: Mistakes): Readied {
  const preAllocatedVUs = mistakes.whole(`${path}.preAllocatedVUs`, value["preAllocatedVUs"], 1, 1_000_000);
  const maxVUs = mistakes.whole(
    `${path}.maxVUs`,
    value["maxVUs"] ?? preAllocatedVUs,
    preAllocatedVUs,
    1_000_000,
  );
  return { preAllocatedVUs, maxVUs };
}

function parseRate(path: string, value: unknown, mistakes: Mistakes, least: "above 0" | "0 or more"): number {
  const fits =
    typeof value === "number" && value >= 0 && value <= rateMost && (value > 0 || least !== "above 0");
  if (fits) return value;
  mistakes.add(path, value, `a number ${least}, at most ${rateMost}`);
  return 1;
}

function parseDay(path: string, value: unknown, mistakes: Mistakes): number[] {
  if (!Array.isArray(value) || value.length !== 24) {
    mistakes.add(path, value, "24 rates, one for each hour of the day (UTC)");
    return [];
  }
  return value.map((rate: unknown, hour) => parseRate(`${path}.${hour}`, rate, mistakes, "0 or more"));
}

function parseStages(path: string, value: unknown, most: number, mistakes: Mistakes): Stage[] {
  if (!Array.isArray(value) || value.length === 0) {
    mistakes.add(path, value, "a list of {target, duration}, at least one");
    return [];
  }
  return value.flatMap((stage: unknown, index) => {
    const at = `${path}.${index}`;
    if (!mistakes.members(at, stage, ["target", "duration"])) return [];
    const target = mistakes.whole(`${at}.target`, stage["target"], 0, most);
    return [{ target, durationMs: mistakes.duration(`${at}.duration`, stage["duration"], 0) }];
  });
}

/** How many arrivals there are in a run, roughly: good enough to refuse far too many. */
export function roughArrivals(
  schedule: ArrivalSchedule,
  run: Pick<ArrivalRun, "startAtMs" | "durationMs">,
): number {
  const { startAtMs, durationMs } = run;
  switch (schedule.executor) {
    case "constant-arrival-rate":
    case "poisson-arrival-rate":
      return (schedule.rate * durationMs) / schedule.timeUnitMs;
    case "ramping-arrival-rate":
      return rampArea(schedule) / schedule.timeUnitMs;
    case "cron":
      return [...cronTimes(schedule.cron, startAtMs, startAtMs + durationMs)].length * schedule.clients;
    case "business-day":
      return (Math.max(...schedule.rates) * durationMs) / schedule.timeUnitMs;
    case "ramping-vus":
      return risesOf(schedule);
  }
}

function rampArea({ startRate, stages }: { startRate: number; stages: readonly Stage[] }): number {
  let rate = startRate;
  let twice = 0;
  for (const { target, durationMs: length } of stages) {
    twice += (rate + target) * length;
    rate = target;
  }
  return twice / 2;
}

/** How many clients a fleet ever adds. */
function risesOf({ startVUs, stages }: { startVUs: number; stages: readonly Stage[] }): number {
  let [count, rises] = [startVUs, startVUs];
  for (const { target } of stages) {
    rises += Math.max(0, target - count);
    count = target;
  }
  return rises;
}

/** Whether arrivals go by the clock (`ArrivalRun.startAtMs`) rather than by the run's start. */
export function isByTheClock({ executor }: ArrivalSchedule): boolean {
  return executor === "cron" || executor === "business-day";
}

/** The stays of all clients that arrive in a run, by their starts, each of which is below `durationMs`. */
export function* arrivalStays(schedule: ArrivalSchedule, run: ArrivalRun): Generator<Stay, void> {
  const { durationMs } = run;
  if (schedule.executor === "ramping-vus") {
    yield* fleetStays(schedule.startVUs, schedule.stages, durationMs);
    return;
  }
  for (const startMs of arrivalTimes(schedule, run)) yield { startMs, endMs: durationMs };
}

/**
 * When each client arrives: whole ms from the start of the run (fractions cut off), never falling, all of
 * them below `durationMs`.
 */
export function* arrivalTimes(schedule: ArrivalSchedule, run: ArrivalRun): Generator<number, void> {
  for (const ms of timesOf(schedule, run)) {
    if (ms >= run.durationMs) return;
    yield ms;
  }
}

function timesOf(schedule: ArrivalSchedule, run: ArrivalRun): Iterable<number> {
  const { startAtMs, durationMs } = run;
  switch (schedule.executor) {
    case "constant-arrival-rate":
      return constantTimes(schedule);
    case "ramping-arrival-rate":
      return rampTimes(schedule);
    case "poisson-arrival-rate":
      return poissonTimes(schedule, randomOf(run));
    case "cron":
      return crowdTimes(schedule, run, randomOf(run));
    case "business-day":
      return dayTimes(schedule, startAtMs, durationMs, randomOf(run));
    case "ramping-vus":
      return fleetStays(schedule.startVUs, schedule.stages, durationMs).map(({ startMs }) => startMs);
  }
}

function randomOf({ seed, stream }: ArrivalRun): RandomState {
  const state = { random0: 0, random1: 0, random2: 0, random3: 0 };
  seedRandom(state, seed, stream, 0);
  return state;
}

/** So many at each tick, each a little later; a late one of a tick may come after the first of the next. */
function* crowdTimes(
  { cron, clients, spreadMs }: { cron: CronMinutes; clients: number; spreadMs: number },
  { startAtMs, durationMs }: ArrivalRun,
  random: RandomState,
): Generator<number, void> {
  let waiting: number[] = [];
  for (const tickMs of cronTimes(cron, startAtMs, startAtMs + durationMs)) {
    const atMs = tickMs - startAtMs;
    yield* waiting.filter((ms) => ms < atMs);
    waiting = waiting.filter((ms) => ms >= atMs);
    for (let n = 0; n < clients; n++)
      waiting.push(spreadMs === 0 ? atMs : atMs + between(random, 0, spreadMs));
    waiting.sort((a, b) => a - b);
  }
  yield* waiting;
}
