// Texts of logs that are times, days or times of day, told by their form.
import { type DateOrder, dateOrders } from "./choices.ts";
import { InstantReader } from "./instant.ts";

/** The forms of time that are read, in words. */
export const timeForms =
  "a time is ISO 8601 (2026-11-20T08:00:03Z), an access log's (20/Nov/2026:08:00:03 +0000), a spreadsheet's (20/11/2026 08:00:03, 11/20/2026 8:00:03 AM, 46346.33337), or s, ms, µs or ns since 1970";

const readers = {
  "day-first": new InstantReader(0, "day-first"),
  "month-first": new InstantReader(0, "month-first"),
} satisfies Record<DateOrder, InstantReader>;
const encoder = new TextEncoder();

/** Returns a text's time in ms; `NaN` if it is none. */
export function instantOf(text: string, order: DateOrder): number {
  const bytes = new Uint8Array(3 * text.length + 64);
  const { written } = encoder.encodeInto(text, bytes);
  return readers[order].read(new DataView(bytes.buffer), 0, written);
}

/**
 * Tells whether a text is a time from 2000 to 2099, as a log may hold, its day first or not. A number of five digits alone
 * is none: it may be a size, or a port.
 */
export const isTime = (text: string): boolean =>
  !/^\d{5}$/.test(text.trim()) && dateOrders.some((order) => isTimeBy(text, order));

/** Tells whether a text is a spreadsheet's number of a day, with its time or without. */
export const isSerial = (text: string): boolean =>
  /^\d{5}(?:[.,]\d+)?$/.test(text.trim()) && isTimeBy(text, "day-first");

function isTimeBy(text: string, order: DateOrder): boolean {
  const ms = instantOf(text.trim(), order);
  return ms >= Date.UTC(2000, 0) && ms < Date.UTC(2100, 0);
}

/** Tells whether a text is a date without a time of day. */
export const isDay = (text: string): boolean =>
  /^(?:\d{4}[-/]\d\d[-/]\d\d|\d\d?([-/.])\d\d?\1\d{4}|\d\d([-/ ])[a-z]{3}\2\d{4})$/i.test(text.trim());

/** Tells whether a text is a time of day without a date. */
export const isClock = (text: string): boolean =>
  /^\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]m)?(?:Z| ?[+-]\d\d:?\d\d)?$/i.test(text.trim());

/** Tells whether a text begins as a date whose day may stand first or second: `5/11/2026`. */
export const isUnordered = (text: string): boolean => /^\[?\d{1,2}([/-])\d{1,2}\1\d{4}\b/.test(text.trim());

/**
 * Returns the order of day and month by which more of the texts are times.
 * @returns `null` if both read as many, though the order matters
 */
export function dateOrderOf(texts: readonly string[]): DateOrder | null {
  const unordered = texts.filter(isUnordered);
  const [dayFirst, monthFirst] = dateOrders.map(
    (order) => unordered.filter((text) => isTimeBy(text, order)).length,
  ) as [number, number];
  if (dayFirst === monthFirst && unordered.length > 0) return null;
  return dayFirst >= monthFirst ? "day-first" : "month-first";
}
