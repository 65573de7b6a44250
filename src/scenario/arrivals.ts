// Open arrivals, in k6's words: when each client begins, as a pure schedule that is exact to the millisecond.
// k6 computes the same schedule in nanoseconds; a whole millisecond is all that either clock shows.
import type { Duration, Mistakes } from "./mistakes.ts";

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

export type Arrivals = ConstantArrivals | RampingArrivals;

/** Arrivals, checked; durations in ms. */
export type ArrivalSchedule =
  | (Readied & { readonly executor: "constant-arrival-rate"; readonly rate: number })
  | (Readied & {
      readonly executor: "ramping-arrival-rate";
      readonly startRate: number;
      readonly stages: readonly Stage[];
    });

interface Readied {
  readonly timeUnitMs: number;
  readonly preAllocatedVUs: number;
  readonly maxVUs: number;
}

interface Stage {
  readonly target: number;
  readonly durationMs: number;
}

/** The most arrivals of one population; it keeps every product below within 2^53. */
export const arrivalsMost = 10_000_000;
const rateMost = 1_000_000;
const timeUnitMsMost = 24 * 3_600_000;

/** Checks arrivals; what is wrong goes to `mistakes`. */
export function parseArrivals(path: string, value: unknown, mistakes: Mistakes): ArrivalSchedule | null {
  const executors = ["constant-arrival-rate", "ramping-arrival-rate"] as const;
  const shared = ["executor", "timeUnit", "preAllocatedVUs", "maxVUs"];
  if (!mistakes.members(path, value, [...shared, "rate", "startRate", "stages"])) return null;
  const executor = mistakes.oneOf(`${path}.executor`, value["executor"], executors);
  if (executor === undefined) return null;
  const preAllocatedVUs = mistakes.whole(`${path}.preAllocatedVUs`, value["preAllocatedVUs"], 1, 1_000_000);
  const readied = {
    timeUnitMs: mistakes.duration(`${path}.timeUnit`, value["timeUnit"] ?? 1000, 1, timeUnitMsMost),
    preAllocatedVUs,
    maxVUs: mistakes.whole(`${path}.maxVUs`, value["maxVUs"] ?? preAllocatedVUs, preAllocatedVUs, 1_000_000),
  };
  if (executor === "constant-arrival-rate") {
    mistakes.members(path, value, [...shared, "rate"]);
    return { ...readied, executor, rate: mistakes.whole(`${path}.rate`, value["rate"], 1, rateMost) };
  }
  mistakes.members(path, value, [...shared, "startRate", "stages"]);
  const startRate = mistakes.whole(`${path}.startRate`, value["startRate"] ?? 0, 0, rateMost);
  const stages = parseStages(`${path}.stages`, value["stages"], mistakes);
  return { ...readied, executor, startRate, stages };
}

function parseStages(path: string, value: unknown, mistakes: Mistakes): Stage[] {
  if (!Array.isArray(value) || value.length === 0) {
    mistakes.add(path, value, "a list of {target, duration}, at least one");
    return [];
  }
  return value.flatMap((stage: unknown, index) => {
    const at = `${path}.${index}`;
    if (!mistakes.members(at, stage, ["target", "duration"])) return [];
    const target = mistakes.whole(`${at}.target`, stage["target"], 0, rateMost);
    return [{ target, durationMs: mistakes.duration(`${at}.duration`, stage["duration"], 0) }];
  });
}

/** How many arrivals there are within `durationMs`, roughly: good enough to refuse far too many. */
export function roughArrivals(schedule: ArrivalSchedule, durationMs: number): number {
  if (schedule.executor === "constant-arrival-rate")
    return (schedule.rate * durationMs) / schedule.timeUnitMs;
  let rate = schedule.startRate;
  let twice = 0;
  for (const { target, durationMs: length } of schedule.stages) {
    twice += (rate + target) * length;
    rate = target;
  }
  return twice / (2 * schedule.timeUnitMs);
}

/**
 * When each client arrives: whole ms from the start of the run (fractions cut off), never falling, all of
 * them below `durationMs`.
 */
export function* arrivalTimes(schedule: ArrivalSchedule, durationMs: number): Generator<number, void> {
  const times = schedule.executor === "constant-arrival-rate" ? constantTimes(schedule) : rampTimes(schedule);
  for (const ms of times) {
    if (ms >= durationMs) return;
    yield ms;
  }
}

/**
 * Arrival i, from 0, is due at i * T / r. The floor of the rounded quotient is the floor of the exact one:
 * rounding could only reach a whole n from below if n - a/b <= n / 2^53, but that distance is at least 1/b,
 * which would need a >= 2^53, and `arrivalsMost * timeUnitMsMost` is below that.
 */
function* constantTimes({ rate, timeUnitMs }: { rate: number; timeUnitMs: number }): Generator<number, void> {
  for (let index = 0; ; index++) yield Math.floor((index * timeUnitMs) / rate);
}

/**
 * Arrival i, from 1, is due when the area under the rate is i (k6 counts so too: the first one comes when a
 * whole arrival has added up, not at the start).
 *
 * x ms into a stage of length D that goes from rate f to rate t, the area is (f x + (t - f) x^2 / 2D) / T. To
 * stay with integers, areas are counted in units of 1/2T: a whole stage adds (f + t) D, arrival i is due at
 * 2 T i, and within the stage the solution x of
 *
 *     2 f x + (t - f) x^2 / D = need
 *
 * is wanted. (The text-book root subtracts nearly equal numbers where t is near f; multiplied by its
 * conjugate it is need / (f + sqrt(f^2 + (t - f) need / D)), for ramps up, down and level alike.)
 */
function* rampTimes(schedule: {
  startRate: number;
  stages: readonly Stage[];
  timeUnitMs: number;
}): Generator<number, void> {
  const unit = 2 * schedule.timeUnitMs;
  let from = schedule.startRate;
  let due = unit;
  let startMs = 0;
  let done = 0;
  for (const { target, durationMs } of schedule.stages) {
    const end = done + (from + target) * durationMs;
    for (; due <= end; due += unit) yield startMs + wholeMs(from, target, durationMs, due - done);
    from = target;
    startMs += durationMs;
    done = end;
  }
}

/** The floor of the x above, exact: an estimate in doubles, set right by comparing in integers. */
function wholeMs(from: number, to: number, lengthMs: number, need: number): number {
  const radicand = Math.max(0, from * from + ((to - from) * need) / lengthMs);
  let x = Math.min(lengthMs, Math.floor(need / (from + Math.sqrt(radicand))));
  const [f, slope, length] = [BigInt(2 * from), BigInt(to - from), BigInt(lengthMs)];
  const wanted = BigInt(need) * length;
  const reached = (ms: number): boolean => (f * length + slope * BigInt(ms)) * BigInt(ms) <= wanted;
  while (x < lengthMs && reached(x + 1)) x += 1;
  while (x > 0 && !reached(x)) x -= 1;
  return x;
}
