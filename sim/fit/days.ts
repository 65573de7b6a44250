// Days in UTC.
import { dayMs, hourMs } from "../../src/rules/duration.ts";

export { dayMs, hourMs, minuteMs } from "../../src/rules/duration.ts";

/** Returns the day of the week, 0 for Sunday. The epoch began on a Thursday. */
export const weekdayOf = (ms: number): number => (Math.floor(ms / dayMs) + 4) % 7;

export const hourOf = (ms: number): number => Math.floor((ms % dayMs) / hourMs);
export const isWeekend = (weekday: number): boolean => weekday % 6 === 0;

export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
