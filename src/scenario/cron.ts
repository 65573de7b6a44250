// Cron's five fields, in UTC, and the minutes that they name.
import { dayMs } from "../rules/duration.ts";
import type { Mistakes } from "./mistakes.ts";

/** Minutes that a line of cron names. */
export interface CronMinutes {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  /** Weekdays; Sunday is 0. */
  readonly weekdays: readonly number[];
  /** True if both days and weekdays are restricted. One of them then suffices, as in Vixie's cron. */
  readonly eitherDay: boolean;
}

const fields = [
  ["minutes", 0, 59],
  ["hours", 0, 23],
  ["days", 1, 31],
  ["months", 1, 12],
  ["weekdays", 0, 7],
] as const;

/**
 * Reads `minute hour day month weekday` and adds what is wrong to `mistakes`. Each field is a star, a number, `a-b`, or
 * several of these with commas. A star and `a-b` may have a step after a slash (`10-50/20`). Weekdays are 0 to 7;
 * Sunday is 0 or 7.
 */
export function parseCron(path: string, value: unknown, mistakes: Mistakes): CronMinutes | null {
  const words = typeof value === "string" ? value.trim().split(/\s+/) : [];
  const sets = fields.map(([, least, most], index) => valuesOf(words[index] ?? "", least, most));
  const [minutes, hours, days, months, weekdays] = sets;
  if (words.length !== fields.length || !minutes || !hours || !days || !months || !weekdays) {
    const wrong = words.length === fields.length ? fields[sets.indexOf(null)]?.[0] : null;
    const allowed = 'five fields, such as "*/5 * * * *": minute, hour, day, month, weekday';
    mistakes.add(path, value, wrong == null ? allowed : `${allowed}; its ${wrong} are wrong`);
    return null;
  }
  return {
    minutes,
    hours,
    days,
    months,
    weekdays: [...new Set(weekdays.map((day) => day % 7))],
    eitherDay: !words[2]?.startsWith("*") && !words[4]?.startsWith("*"),
  };
}

/** Returns the numbers that a field names, ascending; `null` if the field is wrong. */
function valuesOf(field: string, least: number, most: number): number[] | null {
  const found = new Set<number>();
  for (const part of field.split(",")) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (match === null) return null;
    const [, first, last, step] = match;
    const from = first === undefined ? least : Number(first);
    const to =
      first === undefined || (step !== undefined && last === undefined) ? most : Number(last ?? first);
    const by = Number(step ?? 1);
    if (from < least || to > most || from > to || by < 1) return null;
    for (let number = from; number <= to; number += by) found.add(number);
  }
  return [...found].sort((a, b) => a - b);
}

/** Yields the instants that a line of cron names, ms since the epoch, from `fromMs` on and before `untilMs`. */
export function* cronTimes(cron: CronMinutes, fromMs: number, untilMs: number): Generator<number, void> {
  for (let dayAt = Math.floor(fromMs / dayMs) * dayMs; dayAt < untilMs; dayAt += dayMs) {
    if (!isNamed(cron, dayAt)) continue;
    for (const hour of cron.hours)
      for (const minute of cron.minutes) {
        const atMs = dayAt + (hour * 60 + minute) * 60_000;
        if (atMs >= untilMs) return;
        if (atMs >= fromMs) yield atMs;
      }
  }
}

function isNamed({ days, months, weekdays, eitherDay }: CronMinutes, dayAt: number): boolean {
  const day = new Date(dayAt);
  if (!months.includes(day.getUTCMonth() + 1)) return false;
  const isDay = days.includes(day.getUTCDate());
  const isWeekday = weekdays.includes(day.getUTCDay());
  return eitherDay ? isDay || isWeekday : isDay && isWeekday;
}
