// The least and the greatest of any number of values: a call takes no more arguments than the stack holds.

export const leastOf = (values: readonly number[]): number =>
  values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);

/** @param least returned if there is no greater value */
export const mostOf = (values: readonly number[], least = Number.NEGATIVE_INFINITY): number =>
  values.reduce((most, value) => Math.max(most, value), least);
