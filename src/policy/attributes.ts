// The meaning of callers' attributes, by their names.

/** Names of attributes that mean an organization; any other attribute means the user. */
const shared =
  /^(?:org|organi[sz]ation|account|tenant|team|workspace|project|shop|store|company|group|installation)(?:_?id)?$/i;

/** Tells whether an attribute means an organization. */
export const isShared = (name: string): boolean => shared.test(name);
