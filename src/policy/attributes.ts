// Attributes of callers by their names.

/** Attributes that stand for an organization; any other stands for the user. */
const shared =
  /^(?:org|organi[sz]ation|account|tenant|team|workspace|project|shop|store|company|group|installation)(?:_?id)?$/i;

/** Tells whether an attribute stands for an organization. */
export const isShared = (name: string): boolean => shared.test(name);
