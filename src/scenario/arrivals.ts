// Open arrivals: a pure schedule of when each client begins. Rates are in k6's words. k6 has no word for arrivals by
// cron, at random, by a day's hours or of fleets: there each client sleeps until it is due (`load/k6/options.ts`).
import {
  constantTimes,
  type DayRates,
  dayTimes,
  poissonTimes,
  rampTimes,
  type Stage,
} from "./arrival-rates.ts";
import { type CronMinutes, cronTimes } from "./cron.ts";
import { fleetStays, type Stay } from "./fleet.ts";
import { between, drawsOf, type RandomState } from "./random.ts";

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

/** Clients that k6 keeps ready. */
export interface Readied {
  readonly preAllocatedVUs: number;
  readonly maxVUs: number;
}

export interface ArrivalRun {
  readonly durationMs: number;
  /** Time of the clock at the start, ms since the epoch. */
  readonly startAtMs: number;
  readonly seed: number;
  /** Stream of draws for these arrivals, apart from those of clients and of other populations. */
  readonly stream: number;
}

/** Greatest number of arrivals of one population. It keeps every product of `arrival-rates.ts` within 2^53. */
export const arrivalsMost = 10_000_000;
/** Estimates the number of arrivals in a run, well enough to refuse far too many. */
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

/** Returns the number of clients that a fleet adds in all. */
function risesOf({ startVUs, stages }: { startVUs: number; stages: readonly Stage[] }): number {
  let [count, rises] = [startVUs, startVUs];
  for (const { target } of stages) {
    rises += Math.max(0, target - count);
    count = target;
  }
  return rises;
}

/** Tells whether arrivals depend on the clock (`ArrivalRun.startAtMs`), not only on the run's start. */
export function isByTheClock({ executor }: ArrivalSchedule): boolean {
  return executor === "cron" || executor === "business-day";
}

/** Yields the stays of all clients that arrive in a run, by their starts. Each start is below `durationMs`. */
export function* arrivalStays(schedule: ArrivalSchedule, run: ArrivalRun): Generator<Stay, void> {
  const { durationMs } = run;
  if (schedule.executor === "ramping-vus") {
    yield* fleetStays(schedule.startVUs, schedule.stages, durationMs);
    return;
  }
  for (const startMs of arrivalTimes(schedule, run)) yield { startMs, endMs: durationMs };
}

/**
 * Yields when each client arrives: whole ms from the start of the run, rounded down, never falling, below `durationMs`.
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

const randomOf = ({ seed, stream }: ArrivalRun): RandomState => drawsOf(seed, stream, 0);

/** Yields `clients` arrivals for each tick, each at its own delay. A late one may come after the next tick's first. */
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
