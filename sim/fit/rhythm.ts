// Rhythm of returns by hour and day: the rate at which absent callers come back, relative to the mean rate.
import { dayMs, hourMs, hourOf, isWeekend, weekdayOf } from "./days.ts";
import type { Spell } from "./runs.ts";
import { PearsonSum, sumOf } from "./statistics.ts";

/** Fitted rhythm in the form of `RhythmInput`; hours are UTC. */
export interface FittedRhythm {
  readonly hours: readonly number[];
  /** Factors of the hours at weekends. `null`: as on other days. */
  readonly weekend: readonly number[] | null;
  /** Factors of weekdays. `null`: all are alike. */
  readonly weekdays: readonly number[] | null;
  /** Factors of recorded days, of which each simulated day draws one; empty: all are alike. */
  readonly days: readonly number[];
}

/** Rhythm in which all hours are alike. */
export const evenRhythm: FittedRhythm = {
  hours: new Array<number>(24).fill(1),
  weekend: null,
  weekdays: null,
  days: [],
};

/** One caller's sessions in the order of time, and the instant at which it joined. */
export interface Life {
  readonly joinedMs: number;
  readonly sessions: readonly Spell[];
}

/** Number of hours that are told apart: 24 of weekdays, then 24 of weekends. */
export const weekHours = 48;
export const weekHourOf = (ms: number): number => hourOf(ms) + (isWeekend(weekdayOf(ms)) ? 24 : 0);

/** Least recorded time that can show a daily rhythm, ms. */
const shortestMs = 6 * hourMs;

/** Returns and absences in one hour of the calendar. */
interface HourCell {
  readonly hour: number;
  readonly weekday: number;
  readonly day: number;
  returns: number;
  /** Absences of all callers within this hour, in hours. */
  away: number;
}

/** Least numbers of callers, and of returns on a usual day, that can show a day off: fewer may be away by chance. */
const callersTell = 5;
const returnsTell = 10;
/** Share of a usual day's returns below which a day is a day off. */
const offShare = 0.1;

/** The hours of a recording, with the returns in each; days off are left out. */
export class Calendar {
  readonly cells: readonly HourCell[];
  /** Weekdays, as days since the epoch, on which next to nobody came, unlike on all others. */
  readonly daysOff: ReadonlySet<number>;
  readonly callers: number;
  /** Number of calls of all sessions. */
  readonly calls: number;
  readonly #fromMs: number;
  readonly #hours: readonly HourCell[];

  constructor(lives: readonly Life[], startMs: number, endMs: number) {
    this.#fromMs = Math.floor(startMs / hourMs) * hourMs;
    const count = Math.max(1, Math.ceil((endMs - this.#fromMs) / hourMs));
    this.#hours = Array.from({ length: count }, (_, index) => {
      const ms = this.#fromMs + index * hourMs;
      return { hour: hourOf(ms), weekday: weekdayOf(ms), day: Math.floor(ms / dayMs), returns: 0, away: 0 };
    });
    this.callers = lives.length;
    let calls = 0;
    for (const { joinedMs, sessions } of lives) {
      let leftMs = joinedMs;
      for (const { startMs: backMs, endMs: goneMs, jobs } of sessions) {
        calls += jobs;
        this.#away(leftMs, backMs);
        const cell = this.#cellAt(backMs);
        if (cell !== undefined) cell.returns += 1;
        leftMs = goneMs;
      }
      this.#away(leftMs, endMs);
    }
    this.calls = calls;
    this.daysOff = lives.length < callersTell ? new Set() : daysOffIn(this.#hours);
    this.cells = this.#hours.filter(({ day }) => !this.daysOff.has(day));
  }

  #cellAt(ms: number): HourCell | undefined {
    return this.#hours[Math.floor((ms - this.#fromMs) / hourMs)];
  }

  #away(fromMs: number, untilMs: number): void {
    for (let ms = fromMs; ms < untilMs; ) {
      const nextMs = Math.min(untilMs, (Math.floor(ms / hourMs) + 1) * hourMs);
      const cell = this.#cellAt(ms);
      if (cell !== undefined) cell.away += (nextMs - ms) / hourMs;
      ms = nextMs;
    }
  }
}

/** Returns the one day off among four or more weekdays recorded from midnight to midnight; empty if there is none. */
export function daysOffIn(
  hours: readonly Pick<HourCell, "day" | "weekday" | "returns">[],
): ReadonlySet<number> {
  const days = new Map<number, { day: number; hours: number; returns: number }>();
  for (const { day, weekday, returns } of hours) {
    if (isWeekend(weekday)) continue;
    const known = days.get(day) ?? { day, hours: 0, returns: 0 };
    days.set(day, { day, hours: known.hours + 1, returns: known.returns + returns });
  }
  const whole = [...days.values()].filter((day) => day.hours === 24).sort((a, b) => a.returns - b.returns);
  const [least, next] = whole;
  if (whole.length < 4 || least === undefined || next === undefined) return new Set();
  return new Set(next.returns >= returnsTell && least.returns < offShare * next.returns ? [least.day] : []);
}

/**
 * Fits a rhythm to the returns; `null` if chance explains the differences between hours.
 *
 * A fraction of a return at the mean rate is added to each factor, so that an hour with little data stays near the mean.
 * Weekends have hours of their own. Weekdays have factors only if two weeks or more show them: days differ anyway.
 */
export function rhythmOf({ cells }: Calendar): FittedRhythm | null {
  if (cells.length * hourMs < shortestMs) return null;
  const returns = sumOf(cells.map((cell) => cell.returns));
  const away = sumOf(cells.map((cell) => cell.away));
  if (returns < 10) return null;
  const rate = returns / away;
  const [week, weekend] = [
    cells.filter((cell) => !isWeekend(cell.weekday)),
    cells.filter((cell) => isWeekend(cell.weekday)),
  ];
  // Less than half a day of either cannot tell weekdays from weekends.
  const both = Math.min(week.length, weekend.length) >= 12;
  const kinds = both ? 48 : 24;
  const kindOf = (cell: HourCell): number => cell.hour + (both && isWeekend(cell.weekday) ? 24 : 0);
  const byHour = returnsByClass(cells, kinds, kindOf, () => rate);
  if (!differs(byHour)) return null;
  const byKind = factors(byHour);
  const weeks = (cells.length * hourMs) / (7 * dayMs);
  const weekdays =
    weeks < 2
      ? null
      : factors(
          returnsByClass(
            cells,
            7,
            ({ weekday }) => weekday,
            (cell) => rate * (byKind[kindOf(cell)] as number),
          ),
        );
  const [hours, others] = [byKind.slice(0, 24), byKind.slice(24)].map(notAllNone) as [number[], number[]];
  return { hours, weekend: both ? others : null, weekdays, days: [] };
}

/** Returns the rhythm's factor of an hour on a weekday. */
function factorOf({ hours, weekend, weekdays }: FittedRhythm, hour: number, weekday: number): number {
  const ofDay = weekend !== null && isWeekend(weekday) ? weekend : hours;
  return (ofDay[hour] as number) * (weekdays?.[weekday] ?? 1);
}

const round = (factor: number): number => Math.round(factor * 1000) / 1000;

/** Returns of each class, and those expected of it. */
interface ClassReturns {
  readonly seen: readonly number[];
  readonly expected: readonly number[];
}

/** Counts the returns of each class, and the returns expected at hourly rates. */
function returnsByClass(
  cells: readonly HourCell[],
  count: number,
  classOf: (cell: HourCell) => number,
  expectedRate: (cell: HourCell) => number,
): ClassReturns {
  const seen = new Array<number>(count).fill(0);
  const expected = new Array<number>(count).fill(0);
  for (const cell of cells) {
    const index = classOf(cell);
    (seen[index] as number) += cell.returns;
    (expected[index] as number) += cell.away * expectedRate(cell);
  }
  return { seen, expected };
}

/** Number of returns added to each hour at the mean rate. More would wake callers at night, who sleep. */
const priorReturns = 0.2;

/** Returns the factor of each class on the expected rate; 1 for a class that was never recorded. */
const factors = ({ seen, expected }: ClassReturns): number[] =>
  seen.map((count, index) => round((count + priorReturns) / ((expected[index] as number) + priorReturns)));

/** Least factor that is not 0. A scenario's rhythm may not be 0 all day. */
const factorLeast = 0.001;
const notAllNone = (hours: readonly number[]): readonly number[] =>
  hours.some((factor) => factor > 0) ? hours : hours.map(() => factorLeast);

/** Tells whether returns differ between classes by more than chance. */
function differs({ seen, expected }: ClassReturns): boolean {
  const sum = new PearsonSum();
  for (const [index, count] of seen.entries()) {
    const mean = expected[index] as number;
    if (mean > 0) sum.add(count, mean);
  }
  return sum.excess > 0;
}

/** Share of the busiest day's expected calls that a day must exceed: quieter days show only a few callers. */
const quietShare = 0.5;

/** Factors of recorded days on what the rhythm expects. */
export interface DaysApart {
  /** Relative standard deviation of days' factors beyond chance. */
  readonly deviation: number;
  /** Factors of the days with enough data, in the order of time; empty if chance explains all differences. */
  readonly factors: readonly number[];
  /** Factors of weekdays, of which some are busier; `null`: all are alike. */
  readonly weekdays: readonly number[] | null;
}

/**
 * Compares days with what their rhythm expects, for all populations together, as busy days are busy for most. Days are
 * kept one by one, since no formula knows of holidays.
 * @param busy weekdays that are busier than the others, 1 for Monday
 */
export function daysApart(
  parts: readonly { readonly calendar: Calendar; readonly rhythm: FittedRhythm }[],
  busy: readonly number[] = [],
): DaysApart {
  const days = new Map<number, { weekday: number; seen: number; expected: number; noise: number }>();
  for (const { calendar, rhythm } of parts) {
    const weight = (cell: HourCell): number => cell.away * factorOf(rhythm, cell.hour, cell.weekday);
    const returns = sumOf(calendar.cells.map((cell) => cell.returns));
    if (returns === 0) continue;
    const all = sumOf(calendar.cells.map((cell) => weight(cell)));
    // Each return counts for its calls, by the mean: some callers come back for one call, others for a day.
    const calls = calendar.calls / returns;
    for (const cell of calendar.cells) {
      const day = days.get(cell.day) ?? { weekday: cell.weekday, seen: 0, expected: 0, noise: 0 };
      days.set(cell.day, day);
      const expected = all === 0 ? 0 : (calls * returns * weight(cell)) / all;
      day.seen += calls * cell.returns;
      day.expected += expected;
      day.noise += calls * expected;
    }
  }
  const weekdays = busy.length === 0 ? null : weekdaysBy([...days.values()], busy);
  for (const day of days.values()) {
    const factor = weekdays?.[day.weekday] ?? 1;
    day.expected *= factor;
    day.noise *= factor;
  }
  const busiest = Math.max(...[...days.values()].map(({ expected }) => expected));
  const told = [...days.values()].filter(
    ({ expected, noise }) => expected * expected >= 20 * noise && expected > quietShare * busiest,
  );
  const none = { deviation: 0, factors: [], weekdays };
  if (told.length < 3) return none;
  // Each day is weighed by its expected calls: quiet days differ by a few callers who are there all day or not at all.
  const all = sumOf(told.map(({ expected }) => expected));
  const count = (all * all) / sumOf(told.map(({ expected }) => expected * expected));
  // The mean of (seen / expected - 1)^2 is the variance of days plus the variance by chance.
  const squares = sumOf(told.map(({ seen, expected }) => (seen - expected) ** 2 / expected)) / all;
  const chance = sumOf(told.map(({ expected, noise }) => noise / expected)) / all;
  const variance = ((squares - chance) * count) / (count - 1);
  if (variance <= 0) return none;
  // The mean of a few days is uncertain, too: a future day differs by both.
  const deviation = Math.sqrt(variance * (1 + 1 / count));
  const scale = deviation / Math.sqrt(squares);
  const factors = told.map(({ seen, expected }) => Math.max(0, 1 + scale * (seen / expected - 1)));
  return { deviation: toHundredth(deviation), factors: factors.map(toHundredth), weekdays };
}

/** Returns the factors of the weekdays, from Sunday on: of busy ones, of the others, and 1 at weekends. */
const weekdaysBy = (
  days: readonly { readonly weekday: number; readonly seen: number; readonly expected: number }[],
  busy: readonly number[],
): readonly number[] =>
  [0, 1, 2, 3, 4, 5, 6].map((weekday) => {
    if (isWeekend(weekday)) return 1;
    const alike = days.filter(
      (day) => !isWeekend(day.weekday) && busy.includes(day.weekday) === busy.includes(weekday),
    );
    const expected = sumOf(alike.map((day) => day.expected));
    return expected === 0 ? 1 : toHundredth(sumOf(alike.map(({ seen }) => seen)) / expected);
  });

const toHundredth = (value: number): number => Math.round(100 * value) / 100;

/**
 * Returns the busy time between two instants, ms: the time that passes on the rhythm's clock.
 * @param daysOff days since the epoch on which that clock stands still
 */
export function busyBetween(
  rhythm: FittedRhythm,
  fromMs: number,
  untilMs: number,
  daysOff: ReadonlySet<number>,
): number {
  let busyMs = 0;
  for (let ms = fromMs; ms < untilMs; ) {
    const nextMs = Math.min(untilMs, (Math.floor(ms / hourMs) + 1) * hourMs);
    if (!daysOff.has(Math.floor(ms / dayMs)))
      busyMs += (nextMs - ms) * factorOf(rhythm, hourOf(ms), weekdayOf(ms));
    ms = nextMs;
  }
  return busyMs;
}

/** Least association with hours that shows two kinds of sessions, or of calls, as a share of the greatest. */
export const hoursTell = 0.02;

/** Returns Pearson's sum for long ones among these by hour of the week, per item; 0 if chance explains it. */
export function associationOf(hours: readonly { readonly hour: number; readonly isLong: boolean }[]): number {
  const cells = Array.from({ length: weekHours }, () => ({ all: 0, long: 0 }));
  let long = 0;
  for (const { hour, isLong } of hours) {
    const cell = cells[hour] as (typeof cells)[number];
    cell.all += 1;
    cell.long += Number(isLong);
    long += Number(isLong);
  }
  const share = long / hours.length;
  if (share === 0 || share === 1) return 0;
  const sum = new PearsonSum();
  for (const cell of cells)
    if (cell.all >= 10) sum.add(cell.long, cell.all * share, cell.all * share * (1 - share));
  return sum.excess / hours.length;
}
