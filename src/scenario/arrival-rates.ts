// Arrivals by a rate: evenly, along straight lines, or at random. Even arrivals are exact to the millisecond. k6
// computes them in nanoseconds, but either clock shows whole milliseconds only.
import { hourMs } from "../rules/duration.ts";
import { ln } from "./elementary.ts";
import { next32, type RandomState } from "./random.ts";

/** A stage in which the rate goes in a straight line to `target`. */
export interface Stage {
  readonly target: number;
  readonly durationMs: number;
}

/**
 * Yields the times of evenly spaced arrivals, ms: arrival i, from 0, is due at i * T / r. The floor of the rounded
 * quotient is the floor of the exact one: rounding could reach a whole n from below only if n - a/b <= n / 2^53. But
 * n - a/b is at least 1/b, which needs a >= 2^53, and a is at most `arrivalsMost * timeUnitMsMost`, which is less.
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
 * Yields the times of arrivals along a ramp, ms. Arrival i, from 1, is due when the area under the rate is i. k6 counts
 * in the same way: the first arrival comes when a whole one has added up, not at the start.
 *
 * In a stage of length D that goes from rate f to rate t, the area after x ms is (f x + (t - f) x^2 / 2D) / T. Areas
 * are counted in units of 1/2T to stay with integers. A whole stage then adds (f + t) D, arrival i is due at 2 T i, and
 * x solves
 *
 *     2 f x + (t - f) x^2 / D = need
 *
 * The usual root formula subtracts nearly equal numbers if t is near f. Multiplied by its conjugate, the root is need /
 * (f + sqrt(f^2 + (t - f) need / D)), which fits ramps up, down and level.
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

/** Returns the exact floor of x above: estimates it in doubles, then corrects it by comparing integers. */
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

/** Draws an exponentially distributed gap with a mean of 1, above 0 and finite. */
const gap = (random: RandomState): number => -ln((next32(random) + 0.5) / 4_294_967_296);

/** Yields the times of a Poisson process, ms: independent arrivals with exponential gaps. */
export function* poissonTimes(
  { rate, timeUnitMs }: { rate: number; timeUnitMs: number },
  random: RandomState,
): Generator<number, void> {
  for (let atMs = 0; ; ) {
    atMs += (gap(random) * timeUnitMs) / rate;
    yield Math.floor(atMs);
  }
}

/** Rates of a day, by hours of UTC. */
export interface DayRates {
  readonly rates: readonly number[];
  readonly timeUnitMs: number;
  /** `steps` keeps a rate for its hour; `lines` goes to the next hour's rate in a straight line. */
  readonly shape: "steps" | "lines";
}

/**
 * Yields the times of a Poisson process whose rate depends on the hour, ms. An arrival is due when the area under the
 * rate has grown by an exponential gap. In an hour of D ms from rate f to rate t, an area of a is reached after x ms:
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
