// Reads times of logs, byte by byte, as ms since the epoch. Numbers are seconds, ms, µs or ns since the epoch, told
// apart by their size. Other forms are ISO 8601 with any zone, the dates of access logs, and those of spreadsheets.

import { fourDigits } from "../trace/digits.ts";
import type { DateOrder } from "./choices.ts";
import { type LogZone, ZoneClock } from "./zone-clock.ts";

const [zero, dot, comma, dash, slash, colon, plus, space] = [
  0x30, 0x2e, 0x2c, 0x2d, 0x2f, 0x3a, 0x2b, 0x20,
] as const;
/** First byte of U+202F, the narrow space that JavaScript and Excel put before AM and PM. */
const narrowSpace = 0xe2;
const dayMs = 86_400_000;
/** Greatest length of a date and a time of day that are joined, bytes. */
const joinedMost = 64;

/** Returns the number of exactly `count` digits at `at`. @returns -1 if one of them is no digit */
function digits(view: DataView, at: number, count: number): number {
  let value = 0;
  for (let index = 0; index < count; index++) {
    const digit = view.getUint8(at + index) - zero;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Returns the days from 1970-01-01 to a Gregorian date, `month` from 1 (H. Hinnant's days_from_civil). */
function daysTo(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

const lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(year: number, month: number, day: number): boolean {
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > (lengths[month - 1] as number)) return false;
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
}

/** Reads times. It remembers the last date, since the next row is mostly of the same day. */
export class InstantReader {
  readonly #zone: ZoneClock;
  readonly #order: DateOrder;
  readonly #joined = new Uint8Array(joinedMost + 1);
  readonly #joinedView = new DataView(this.#joined.buffer);
  #date = -1;
  #dateMs = 0;
  /** Place that `#fraction` and `#zone` have come to. */
  #at = 0;

  /**
   * @param zone zone of times that name none
   * @param order which of two numbers before the year is the day; between dots, it is the first
   */
  constructor(zone: LogZone = 0, order: DateOrder = "day-first") {
    this.#zone = new ZoneClock(zone);
    this.#order = order;
  }

  /**
   * @param end end of the text; one byte behind it must be readable
   * @returns whole ms since the epoch, rounded down; `NaN` if it is no time
   */
  read(view: DataView, start: number, end: number): number {
    let from = start;
    let to = end;
    if (to - from > 2 && view.getUint8(from) === 0x5b && view.getUint8(to - 1) === 0x5d) {
      from += 1;
      to -= 1;
    }
    const length = to - from;
    if (length < 1) return Number.NaN;
    if (length === 13) {
      const ms = thirteenDigits(view, from);
      if (ms >= 0) return ms;
    }
    if (length >= 10 && length <= 64) {
      const fifth = view.getUint8(from + 4);
      if (fifth === dash || fifth === slash) {
        const ms = this.#iso(view, from, to);
        if (!Number.isNaN(ms)) return ms;
      }
      const third = view.getUint8(from + 2);
      const isNamed = third === slash || third === dash || third === space;
      if (isNamed && view.getUint8(from + 6) === third) return this.#accessLog(view, from, to);
      if (isBetween(third) || isBetween(view.getUint8(from + 1))) {
        const ms = this.#numbers(view, from, to);
        if (!Number.isNaN(ms)) return ms;
      }
    }
    return sinceEpoch(view, from, to, this.#zone);
  }

  /**
   * Reads date and time of day from two fields.
   * @returns as `read` does
   */
  readJoined(
    view: DataView,
    date: readonly [from: number, to: number],
    clock: readonly [number, number],
  ): number {
    const bytes = this.#joined;
    const dateLength = date[1] - date[0];
    const length = dateLength + 1 + clock[1] - clock[0];
    if (length > joinedMost) return Number.NaN;
    const copy = ([from, to]: readonly [number, number], at: number): void =>
      bytes.set(new Uint8Array(view.buffer, view.byteOffset + from, to - from), at);
    copy(date, 0);
    bytes[dateLength] = space;
    copy(clock, dateLength + 1);
    return this.read(this.#joinedView, 0, length);
  }

  /** Reads `2026-01-02T03:04:05.678+01:00`, also with `/` for `-`, a space for `T`, `,` for `.`, and without seconds. */
  #iso(view: DataView, from: number, to: number): number {
    const year = digits(view, from, 4);
    const month = digits(view, from + 5, 2);
    const day = digits(view, from + 8, 2);
    if (view.getUint8(from + 7) !== view.getUint8(from + 4)) return Number.NaN;
    const date = this.#dateOf(year, month, day);
    this.#at = from + 10;
    if (this.#at === to) return this.#zone.utc(date);
    const between = view.getUint8(this.#at);
    if ((between | 0x20) !== 0x74 && between !== space && between !== 0x5f) return Number.NaN;
    this.#at += 1;
    return this.#clock(view, to, date);
  }

  /** Reads `10/Oct/2000:13:55:36 -0700`, also with `-` for `/` and a space before the hour. */
  #accessLog(view: DataView, from: number, to: number): number {
    const day = digits(view, from, 2);
    const month = monthOf(view, from + 3);
    const year = digits(view, from + 7, 4);
    const between = view.getUint8(from + 11);
    if (to - from < 17 || (between !== colon && between !== space)) return Number.NaN;
    const date = this.#dateOf(year, month, day);
    this.#at = from + 12;
    return this.#clock(view, to, date);
  }

  /** Reads `20/11/2026 08:00:03`, `20.11.2026, 8:00` or `11/20/2026 8:00:03 AM`. */
  #numbers(view: DataView, from: number, to: number): number {
    this.#at = from;
    const first = this.#shortNumber(view);
    const between = view.getUint8(this.#at);
    this.#at += 1;
    const second = this.#shortNumber(view);
    if (!isBetween(between) || view.getUint8(this.#at) !== between) return Number.NaN;
    const year = digits(view, this.#at + 1, 4);
    this.#at += 5;
    if (to - this.#at < 5) return Number.NaN;
    if (view.getUint8(this.#at) === comma) this.#at += 1;
    if (view.getUint8(this.#at) !== space) return Number.NaN;
    this.#at += 1;
    const isMonthFirst = between !== dot && this.#order === "month-first";
    const [month, day] = isMonthFirst ? [first, second] : [second, first];
    return this.#clock(view, to, this.#dateOf(year, month, day));
  }

  /** Reads one or two digits. @returns -1 if there are none */
  #shortNumber(view: DataView): number {
    const count = digits(view, this.#at + 1, 1) < 0 ? 1 : 2;
    const value = digits(view, this.#at, count);
    this.#at += count;
    return value;
  }

  #dateOf(year: number, month: number, day: number): number {
    const date = (year * 16 + month) * 32 + day;
    if (date === this.#date) return this.#dateMs;
    if (!isDate(year, month, day)) return Number.NaN;
    this.#date = date;
    this.#dateMs = daysTo(year, month, day) * dayMs;
    return this.#dateMs;
  }

  /** Reads from the hour on. @param dayMs the day's beginning, as if it were UTC */
  #clock(view: DataView, to: number, dayMs: number): number {
    if (to - this.#at < 4) return Number.NaN;
    const hour = this.#shortNumber(view);
    const at = this.#at;
    if (to - at < 3 || view.getUint8(at) !== colon) return Number.NaN;
    const minute = digits(view, at + 1, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return Number.NaN;
    this.#at = at + 3;
    let ms = dayMs + minute * 60_000;
    if (this.#at < to && view.getUint8(this.#at) === colon) {
      if (to - this.#at < 3) return Number.NaN;
      const second = digits(view, this.#at + 1, 2);
      // A leap second counts as the next second: time since the epoch has no other place for it.
      if (second < 0 || second > 60) return Number.NaN;
      this.#at += 3;
      ms += second * 1000 + this.#fraction(view, to);
    }
    if ((view.getUint8(to - 1) | 0x20) === 0x6d) return this.#zone.utc(ms + this.#halfDay(view, hour, to));
    return this.#inZone(view, to, ms + hour * 3_600_000);
  }

  /** Returns the ms from midnight to an hour that AM or PM follows. */
  #halfDay(view: DataView, hour: number, to: number): number {
    let at = this.#at;
    if (view.getUint8(at) === space) at += 1;
    else if (view.getUint8(at) === narrowSpace) at += 3;
    if (to - at !== 2 || hour < 1 || hour > 12) return Number.NaN;
    const half = view.getUint8(at) | 0x20;
    if (half !== 0x61 && half !== 0x70) return Number.NaN;
    return ((hour % 12) + (half === 0x70 ? 12 : 0)) * 3_600_000;
  }

  #fraction(view: DataView, to: number): number {
    if (this.#at >= to) return 0;
    const mark = view.getUint8(this.#at);
    if (mark !== dot && mark !== comma) return 0;
    let at = this.#at + 1;
    let ms = 0;
    let unit = 100;
    for (; at < to; at++) {
      const digit = view.getUint8(at) - zero;
      if (digit < 0 || digit > 9) break;
      ms += digit * unit;
      unit = unit === 100 ? 10 : unit === 10 ? 1 : 0;
    }
    if (at === this.#at + 1) return Number.NaN;
    this.#at = at;
    return ms;
  }

  /** Reads the zone in the rest of the text; returns a local time as UTC. */
  #inZone(view: DataView, to: number, localMs: number): number {
    let at = this.#at;
    if (at < to && view.getUint8(at) === space) at += 1;
    if (at >= to) return this.#zone.utc(localMs);
    const sign = view.getUint8(at);
    if (sign !== plus && sign !== dash) return isGreenwich(view, at, to) ? localMs : Number.NaN;
    const hours = to - at < 3 ? -1 : digits(view, at + 1, 2);
    if (hours < 0 || hours > 23) return Number.NaN;
    let minutes = 0;
    if (to - at > 3) {
      at += view.getUint8(at + 3) === colon ? 4 : 3;
      minutes = to - at === 2 ? digits(view, at, 2) : -1;
      if (minutes < 0 || minutes > 59) return Number.NaN;
    }
    return localMs - (sign === plus ? 1 : -1) * (hours * 60 + minutes) * 60_000;
  }
}

/** Tells whether a byte stands between the numbers of a date. */
const isBetween = (byte: number): boolean => byte === slash || byte === dot || byte === dash;

const months = "janfebmaraprmayjunjulaugsepoctnovdec";

function monthOf(view: DataView, at: number): number {
  for (let month = 0; month < 12; month++)
    if (
      (view.getUint8(at) | 0x20) === months.charCodeAt(3 * month) &&
      (view.getUint8(at + 1) | 0x20) === months.charCodeAt(3 * month + 1) &&
      (view.getUint8(at + 2) | 0x20) === months.charCodeAt(3 * month + 2)
    )
      return month + 1;
  return -1;
}

/** Tells whether the text is `Z`, `UTC` or `GMT`. */
function isGreenwich(view: DataView, at: number, to: number): boolean {
  const letter = (index: number): number => view.getUint8(at + index) | 0x20;
  if (to - at === 1) return letter(0) === 0x7a;
  if (to - at !== 3) return false;
  const word = String.fromCharCode(letter(0), letter(1), letter(2));
  return word === "utc" || word === "gmt";
}

/** Reads ms of 13 digits, as from 2001 to 2286; returns a negative number if they are not 13 digits. */
function thirteenDigits(view: DataView, at: number): number {
  const high = fourDigits(view.getInt32(at, true));
  const middle = fourDigits(view.getInt32(at + 4, true));
  const low = fourDigits(view.getInt32(at + 8, true));
  const last = view.getUint8(at + 12) - zero;
  if (high < 0 || middle < 0 || low < 0 || last < 0 || last > 9) return -1;
  return (high * 10_000 + middle) * 100_000 + (low * 10 + last);
}

/** First and last day that is read as a spreadsheet's, counted from 1899-12-30: 2000-01-01 and 2099-12-31. */
const [serialLeast, serialMost] = [36_526, 73_050] as const;
/** The day 1970-01-01 in a spreadsheet. */
const serialOf1970 = 25_569;

/**
 * Reads a number, whole or with a fraction. Five digits from 36526 to 73050 are a spreadsheet's days, `46346.33337`, to the
 * second, as nearest to its five decimals, or to the ms if there are more. Up to 11 digits before the point are seconds: as ms they would be 1973 at
 * the latest, before any API's log. Up to 14 digits are milliseconds, up to 17 microseconds, up to 19 nanoseconds.
 */
function sinceEpoch(view: DataView, from: number, to: number, zone: ZoneClock): number {
  let at = from;
  // Only the digits that milliseconds have are kept: 13 for each unit, exact in a double.
  let value = 0;
  let fraction = 0;
  for (; at < to; at++) {
    const digit = view.getUint8(at) - zero;
    if (digit < 0 || digit > 9) break;
    if (at - from < 14) value = value * 10 + digit;
  }
  const count = at - from;
  if (count === 0 || count > 19) return Number.NaN;
  const decimals = at + 1;
  let share = 0;
  if (at < to) {
    const mark = view.getUint8(at);
    if ((mark !== dot && mark !== comma) || decimals === to) return Number.NaN;
    let unit = 100;
    for (at += 1; at < to; at++) {
      const digit = view.getUint8(at) - zero;
      if (digit < 0 || digit > 9) return Number.NaN;
      fraction += digit * unit;
      unit = unit === 100 ? 10 : unit === 10 ? 1 : 0;
      if (at - decimals < 15) share = share * 10 + digit;
    }
  }
  if (count === 5 && value >= serialLeast && value <= serialMost) {
    const places = Math.max(0, Math.min(15, to - decimals));
    const days = value - serialOf1970 + share / 10 ** places;
    const step = places <= 5 ? 1000 : 1;
    return zone.utc(Math.round((days * dayMs) / step) * step);
  }
  if (count <= 11) return value * 1000 + fraction;
  if (count <= 14) return value;
  return count <= 17 ? Math.floor(value / 10 ** (17 - count)) : Math.floor(value / 10 ** (20 - count));
}
