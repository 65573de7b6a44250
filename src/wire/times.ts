// Forms of time in answers (POLICY.md §8). The policy tells the form; it is never guessed from a value.
import type { TimeForm, WireReset } from "../policy/wire-data.ts";
import { isoSecond } from "./bodies.ts";

/** A time as an answer tells it: one of `afterMs` and `atMs` is a number. */
export interface ReadTime {
  /** Time after the answer, ms. */
  readonly afterMs: number | null;
  /** Instant, ms since the epoch, by the server's clock. */
  readonly atMs: number | null;
  /** Distance, ms, between two values that the form can tell apart. */
  readonly gridMs: number;
}

type Rounding = NonNullable<WireReset["round"]>;

interface Form {
  /** Pattern of the text; a value that does not match it is in another unit. */
  readonly pattern: RegExp;
  readonly gridMs: number;
  readonly isSpan: boolean;
  /** Reads a text as ms; NaN if it is no time. */
  read(text: string): number;
  /** @param units ms divided by `gridMs`, rounded */
  write(units: number): string | number;
}

const second = 1000;

const durations: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  // Microseconds in UTF-8, read byte by byte, as HTTP clients read headers.
  Âµs: 0.001,
  ns: 0.000_001,
};
const durationUnit = "(h|ms|m|s|us|Â?µs|ns)";
const durationPart = new RegExp(`(\\d+(?:\\.\\d+)?)${durationUnit}`, "g");

const readDuration = (text: string): number =>
  [...text.matchAll(durationPart)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (durations[unit] as number),
    0,
  );

/** Reads a date of HTTP; NaN for a day or second that does not exist. The weekday is not checked. */
function readHttpDate(text: string): number {
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toUTCString().slice(5) === text.slice(5) ? ms : Number.NaN;
}

/** Reads a date of RFC 3339; NaN for a day that does not exist. */
export function readIsoDate(text: string): number {
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(midnight) && isoSecond(midnight).startsWith(day) ? Date.parse(text) : Number.NaN;
}

/** Writes a duration as Go does: `6m0s`, `1.5s`, `120ms`, `0s`. */
function writeDuration(ms: number): string {
  if (ms > 0 && ms < second) return `${ms}ms`;
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const seconds = `${(ms % 60_000) / second}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

const scaled = (pattern: RegExp, unitMs: number, isSpan: boolean, gridMs = unitMs): Form => ({
  pattern,
  gridMs,
  isSpan,
  read: (text) => Math.round(Number(text) * unitMs),
  write: (units) => (units * gridMs) / unitMs,
});

/** Forms of time. Seconds from 10^9 on, and ms from 10^12 on, are instants: as spans they would be decades. */
const forms: Readonly<Record<TimeForm, Form>> = {
  "delta-s": scaled(/^\d{1,9}$/, second, true),
  "delta-s-float": scaled(/^\d{1,9}(\.\d+)?$/, second, true, 1),
  "delta-ms": scaled(/^\d{1,12}$/, 1, true),
  "epoch-s": scaled(/^\d{10,11}$/, second, false),
  "epoch-s-float": scaled(/^\d{10,11}(\.\d+)?$/, second, false, 1),
  "epoch-ms": scaled(/^\d{13,14}$/, 1, false),
  "http-date": {
    pattern: /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
    gridMs: second,
    isSpan: false,
    read: readHttpDate,
    write: (units) => new Date(units * second).toUTCString(),
  },
  rfc3339: {
    // Some APIs leave the seconds out.
    pattern: /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/,
    gridMs: second,
    isSpan: false,
    read: readIsoDate,
    write: (units) => isoSecond(units * second),
  },
  "go-duration": {
    pattern: new RegExp(`^(\\d+(\\.\\d+)?${durationUnit})+$`),
    gridMs: 1,
    isSpan: true,
    read: (text) => Math.round(readDuration(text)),
    write: writeDuration,
  },
};

/** Returns the ms that all values of a reset are multiples of. */
export const gridMsOf = ({ form, gridMs }: Pick<WireReset, "form" | "gridMs">): number =>
  gridMs ?? forms[form].gridMs;

/**
 * Reads a time; returns `null` if the text does not have that form.
 * @param gridMs ms that values are multiples of, if more than the form's unit
 */
export function readTime(form: TimeForm, text: string, gridMs = forms[form].gridMs): ReadTime | null {
  const { pattern, isSpan, read } = forms[form];
  const ms = pattern.test(text) ? read(text) : Number.NaN;
  if (!Number.isSafeInteger(ms)) return null;
  // A duration without a fraction may be in whole seconds: `9s` of envoyproxy/ratelimit is 8.1 s or more.
  const grid = form === "go-duration" && /^(?:\d+[hms])+$/.test(text) ? second : gridMs;
  return isSpan ? { afterMs: ms, atMs: null, gridMs: grid } : { afterMs: null, atMs: ms, gridMs: grid };
}

/** Writes an instant. @param nowMs time of the answer; in a span, earlier instants count as this one */
export function writeTime(
  reset: Pick<WireReset, "form" | "gridMs">,
  atMs: number,
  nowMs: number,
  round: Rounding,
): string | number {
  const { gridMs: unitMs, isSpan, write } = forms[reset.form];
  const gridMs = gridMsOf(reset);
  return write((Math[round]((isSpan ? Math.max(0, atMs - nowMs) : atMs) / gridMs) * gridMs) / unitMs);
}
