// The rhythm of a day and a week: the speed of time for clients who are away. At factor 1, a pause of one busy hour
// takes an hour. At factor 2 it takes half an hour; at factor 0 it never ends.
import { dayMs, hourMs } from "../rules/duration.ts";
import { exp, ln } from "./elementary.ts";
import type { Mistakes } from "./mistakes.ts";
import { normalQuantile } from "./normal.ts";
import { Draws, next32, seedRandom } from "./random.ts";

export interface RhythmInput {
  /** 24 factors, from midnight on. Default: 1 each. */
  readonly hours?: readonly number[];
  /** 24 factors for Saturdays and Sundays. Default: `hours`. */
  readonly weekend?: readonly number[];
  /** 7 factors, from Sunday on, multiplied with those of the hours. Default: 1 each. */
  readonly weekdays?: readonly number[];
  /** Distance of the clock from UTC, as `+02:00`. Default: UTC. */
  readonly zone?: string;
  /**
   * Each day's own factor, drawn anew for each day. A list is drawn from evenly; a number, 0 to 2, is the deviation of
   * a lognormal factor with mean 1. All clients share the draw, so a busy day is busy for everybody. Default: 0.
   */
  readonly days?: number | readonly number[];
}

/** A rhythm, checked. */
export interface Rhythm {
  readonly hours: readonly number[];
  readonly weekend: readonly number[];
  readonly weekdays: readonly number[];
  readonly zoneMs: number;
  /** Factors of which each day draws one; empty if the factor is lognormal. */
  readonly days: readonly number[];
  /** Deviation of the logarithm of a day's factor. */
  readonly sigma: number;
}

const factorMost = 1000;
/** Stream of the days' draws, beyond every population's. */
const dayStream = 0x7fff_fffe;

export function parseRhythm(path: string, value: unknown, mistakes: Mistakes): Rhythm {
  const each = ones(24);
  const plain = { hours: each, weekend: each, weekdays: ones(7), zoneMs: 0, days: [], sigma: 0 };
  if (value === undefined) return plain;
  if (!mistakes.members(path, value, ["hours", "weekend", "weekdays", "zone", "days"])) return plain;
  const days: unknown = value["days"] ?? 0;
  const drawn = isFactors(days) && days.length > 0 ? days : [];
  const deviation = isFactor(days) && days <= 2 ? days : 0;
  if (days !== deviation && days !== drawn)
    mistakes.add(`${path}.days`, days, `a number from 0 to 2, or a list of numbers from 0 to ${factorMost}`);
  const hours = factorsOf(`${path}.hours`, value["hours"] ?? plain.hours, 24, mistakes);
  return {
    hours,
    weekend: factorsOf(`${path}.weekend`, value["weekend"] ?? hours, 24, mistakes),
    weekdays: factorsOf(`${path}.weekdays`, value["weekdays"] ?? plain.weekdays, 7, mistakes),
    zoneMs: zoneOf(`${path}.zone`, value["zone"] ?? "+00:00", mistakes),
    days: drawn,
    sigma: Math.sqrt(ln(1 + deviation * deviation)),
  };
}

const ones = (count: number): number[] => new Array<number>(count).fill(1);
const isFactor = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= factorMost;
const isFactors = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every(isFactor);

function factorsOf(path: string, value: unknown, count: number, mistakes: Mistakes): readonly number[] {
  if (isFactors(value) && value.length === count && value.some((each) => each > 0)) return value;
  mistakes.add(path, value, `${count} numbers from 0 to ${factorMost}, not all of them 0`);
  return ones(count);
}

function zoneOf(path: string, value: unknown, mistakes: Mistakes): number {
  const match = typeof value === "string" ? /^([+-])(\d{2}):([0-5]\d)$/.exec(value) : null;
  const minutes = match === null ? Number.NaN : Number(match[2]) * 60 + Number(match[3]);
  if (minutes <= 14 * 60) return (match?.[1] === "-" ? -1 : 1) * minutes * 60_000;
  mistakes.add(path, value, "a distance from UTC, from -14:00 to +14:00, such as +02:00");
  return 0;
}

/**
 * Returns the instant at which `busyMs` of busy time has passed, ms since the epoch, rounded up to whole ms. Returns
 * `endMs` if that comes later or never.
 * @param seed the run's seed, which decides the factors of days
 */
export function busyUntil(
  rhythm: Rhythm,
  seed: number,
  fromMs: number,
  busyMs: number,
  endMs: number,
): number {
  let [atMs, left] = [fromMs, busyMs];
  while (atMs < endMs) {
    const local = atMs + rhythm.zoneMs;
    const factor = factorAt(rhythm, seed, local);
    const nextMs = atMs + hourMs - (local % hourMs);
    if (left <= (nextMs - atMs) * factor)
      return Math.min(endMs, atMs + (left === 0 ? 0 : Math.ceil(left / factor)));
    left -= (nextMs - atMs) * factor;
    atMs = nextMs;
  }
  return endMs;
}

/**
 * Returns the factor of an instant.
 * @param local ms since the epoch on the rhythm's clock
 */
export function factorAt(rhythm: Rhythm, seed: number, local: number): number {
  const { hours, weekend, weekdays } = rhythm;
  const day = Math.floor(local / dayMs);
  // The epoch began on a Thursday.
  const weekday = (day + 4) % 7;
  const ofDay = weekday === 0 || weekday === 6 ? weekend : hours;
  const factor = (ofDay[Math.floor((local % dayMs) / hourMs)] as number) * (weekdays[weekday] as number);
  return rhythm.sigma === 0 && rhythm.days.length === 0 ? factor : factor * dayFactor(rhythm, seed, day);
}

const dayDraws = new Draws();

/** Returns a day's own factor, from draws of that day. */
function dayFactor({ days, sigma }: Rhythm, seed: number, day: number): number {
  seedRandom(dayDraws, seed, dayStream, day);
  const share = (next32(dayDraws) + 0.5) / 4_294_967_296;
  if (days.length > 0) return days[Math.floor(share * days.length)] as number;
  return exp(sigma * normalQuantile(share) - (sigma * sigma) / 2);
}
