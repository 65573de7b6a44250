// Arrivals by a rate: evenly, along straight lines, or at random. Even ones are exact to the millisecond; k6 computes
// the same schedules in nanoseconds, and a whole millisecond is all that either clock shows.
import { ln } from "./elementary.ts";
import { next32, type RandomState } from "./random.ts";

/** A rate goes in a straight line to `target`. */
export interface Stage {
  readonly target: number;
  readonly durationMs: number;
}

/**
 * Arrival i, from 0, is due at i * T / r. The floor of the rounded quotient is the floor of the exact one:
 * rounding could only reach a whole n from below if n - a/b <= n / 2^53, but that distance is at least 1/b,
 * which would need a >= 2^53, and `arrivalsMost * timeUnitMsMost` is below that.
 */
export function* constantTimes({
  rate,
  timeUnitMs,
}: {
  rate: number;
  timeUnitMs: number;
}): Generator<number, void> {
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
export function* rampTimes(schedule: {
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

/** An exponentially distributed gap with a mean of 1; never 0, never without end. */
const gap = (random: RandomState): number => -ln((next32(random) + 0.5) / 4_294_967_296);

/** Arrivals that know nothing of each other (a Poisson process): the gaps between them are exponential. */
export function* poissonTimes(
  { rate, timeUnitMs }: { rate: number; timeUnitMs: number },
  random: RandomState,
): Generator<number, void> {
  for (let atMs = 0; ; ) {
    atMs += (gap(random) * timeUnitMs) / rate;
    yield Math.floor(atMs);
  }
}

/** The rates of a day, by hours of UTC. */
export interface DayRates {
  readonly rates: readonly number[];
  readonly timeUnitMs: number;
  /** A rate holds for its hour, or goes in a straight line to that of the next. */
  readonly shape: "steps" | "lines";
}

const hourMs = 3_600_000;

/**
 * A Poisson process whose rate follows the hour. An arrival is due when the area under the rate has grown by an
 * exponential gap; in an hour that goes from rate f to rate t in D ms, an area of a is reached after x ms, where
 *
 *     (f x + (t - f) x^2 / 2D) / T = a,  so  x = 2 a T / (f + sqrt(f^2 + 2 (t - f) a T / D))
 */
export function* dayTimes(
  { rates, timeUnitMs, shape }: DayRates,
  startAtMs: number,
  durationMs: number,
  random: RandomState,
): Generator<number, void> {
  const rateOf = (hour: number): number => rates[hour % 24] as number;
  let needed = gap(random) * timeUnitMs;
  for (let fromMs = startAtMs; fromMs < startAtMs + durationMs; ) {
    const hour = Math.floor(fromMs / hourMs);
    const lengthMs = (hour + 1) * hourMs - fromMs;
    const to = rateOf(shape === "lines" ? hour + 1 : hour);
    const from = to + ((rateOf(hour) - to) * lengthMs) / hourMs;
    const area = ((from + to) * lengthMs) / 2;
    while (needed <= area) {
      const rootOf = from * from + (2 * (to - from) * needed) / lengthMs;
      const x = (2 * needed) / (from + Math.sqrt(Math.max(0, rootOf)));
      yield Math.floor(fromMs - startAtMs + Math.min(x, lengthMs));
      needed += gap(random) * timeUnitMs;
    }
    needed -= area;
    fromMs += lengthMs;
  }
}
