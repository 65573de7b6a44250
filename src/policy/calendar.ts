// Windows of a calendar: days, weeks from Monday on, and months of a time zone, with its clock changes.
import { dayMs } from "../rules/duration.ts";

export type CalendarUnit = "day" | "week" | "month";

/** Greatest length of each unit, s, without clock changes. */
export const calendarSeconds = { day: 86_400, week: 604_800, month: 2_678_400 } as const;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

/** Returns what a zone's clocks show at an instant, as if it were UTC, in ms since the epoch. */
function localMs(atMs: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) as number;
  const local = new Date(0);
  local.setUTCFullYear(of("year"), of("month") - 1, of("day"));
  local.setUTCHours(of("hour"), of("minute"), of("second"), atMs - Math.floor(atMs / 1000) * 1000);
  return local.getTime();
}

/** Tells whether a text is the name of a time zone. */
export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/**
 * Returns the instant at which a zone's clocks first show a time, or pass it if they skip it.
 * @param local the time that they show, as if it were UTC, ms since the epoch
 */
export function instantIn(local: number, zone: string): number {
  // Clocks are at most a day from UTC, and change at most once within two days.
  const before = local - (localMs(local - dayMs, zone) - (local - dayMs));
  const after = local - (localMs(local + dayMs, zone) - (local + dayMs));
  const [early, late] = [Math.min(before, after), Math.max(before, after)];
  if (localMs(early, zone) === local) return early;
  return localMs(late, zone) === local ? late : turnBetween(early, late, zone);
}

/** Returns the instant at which clocks change, between two instants of different offsets. */
function turnBetween(early: number, late: number, zone: string): number {
  const offset = (atMs: number): number => localMs(atMs, zone) - atMs;
  let [from, to] = [early, late];
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (offset(middle) === offset(early)) from = middle;
    else to = middle;
  }
  return to;
}

/** Returns the window `[opensAt, endsAt)` of a calendar that an instant lies in, in ms since the epoch. */
export function calendarWindow(
  unit: CalendarUnit,
  zone: string,
  atMs: number,
): { opensAt: number; endsAt: number } {
  const local = new Date(localMs(atMs, zone));
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  const weekday = (local.getUTCDay() + 6) % 7;
  const day = local.getUTCDate() - (unit === "week" ? weekday : 0);
  const [from, to] =
    unit === "month"
      ? [Date.UTC(year, month, 1), Date.UTC(year, month + 1, 1)]
      : [Date.UTC(year, month, day), Date.UTC(year, month, day + (unit === "week" ? 7 : 1))];
  return { opensAt: instantIn(from, zone), endsAt: instantIn(to, zone) };
}

/** Starts of windows that clock changes make longer or shorter, ms. */
function oddWindows(unit: "day" | "week", zone: string, fromMs: number, untilMs: number): number[] {
  const odd: number[] = [];
  for (let atMs = fromMs; atMs < untilMs; ) {
    const { opensAt, endsAt } = calendarWindow(unit, zone, atMs);
    if (endsAt - opensAt !== calendarSeconds[unit] * 1000) odd.push(opensAt);
    atMs = endsAt;
  }
  return odd;
}

/** Returns the starts of a zone's days of other than 24 h, within a year, ms. */
export const oddDays = (zone: string, fromMs: number): number[] =>
  oddWindows("week", zone, fromMs, fromMs + 366 * dayMs).flatMap((week) =>
    oddWindows("day", zone, week, week + 7 * dayMs),
  );
