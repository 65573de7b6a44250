// Readings of counts, in shapes that frequent readers keep.

/** A reading to fill. Frequent readers keep one. */
export interface CountReading {
  limit: number;
  remaining: number;
  used: number;
  resetAtMs: number;
  /** Time of the reading by the count's own clock, which never goes back, ms since the epoch. */
  clockMs: number;
}

export const emptyCountReading = (): CountReading => ({
  limit: 0,
  remaining: 0,
  used: 0,
  resetAtMs: 0,
  clockMs: 0,
});

/** Number of numbers in a reading, when all quotas of an operation are read at once; the constants below are their places. */
export const READING = 6;
export const LIMIT = 0;
export const REMAINING = 1;
export const USED = 2;
export const RESET_AT = 3;
export const CLOCK = 4;
export const ENFORCED = 5;

/** Returns the same number. Compilers keep small integers in objects as they are, and others as objects of their own. */
export const whole = (value: number): number => (value === (value | 0) ? value | 0 : value);
