// The one table of semantics switches (SPEC.md §8). Types, the parser, the judge's terms, and what is inferred from a
// trace with its words derive from it: a switch is a row.

/** A switch: its values, the default first, and what each means for a scope in words. */
interface SwitchRow {
  readonly values: readonly (string | boolean)[];
  /** Sentence for each value, in the order of `values`. */
  readonly words: readonly string[];
  /** Reason why a trace does not tell this switch: the evidence that it lacks. */
  readonly untold: string;
  /** True if the switch changes only how answers are shown, and not the counts. */
  readonly isShown?: boolean;
}

export const switches = {
  anchor: {
    values: ["epoch", "first-request"],
    words: ["Windows lie on the grid of Unix time.", "Windows open with their first call."],
    untold: "no window's end or opening told a grid from first calls",
    isShown: true,
  },
  refused: {
    values: ["uncounted", "counted"],
    words: ["Refused calls are not counted.", "Refused calls are charged to the window that refuses them."],
    untold: "no refusal stood where a charge of its own would have shown",
  },
  refusedByUser: {
    values: ["charges-nothing", "charges-organization"],
    words: [
      "Refusals by a user's window are not charged to the organization.",
      "Refusals by a user's window are charged to the organization.",
    ],
    untold: "no refusal by a user's window stood where the organization's count would have shown it",
  },
  graphqlCharge: {
    values: ["reserved", "prepaid", "postpaid"],
    words: [
      "Queries hold the points that they ask for, and give back what they do not use.",
      "Queries are charged the points that they ask for, and give nothing back.",
      "Queries are charged what they used, when they complete.",
    ],
    untold: "no count told requested points from actual ones",
  },
  remaining: {
    values: ["clamped", "signed"],
    words: ["Remaining stops at 0.", "Remaining goes below 0 where a count passes its limit."],
    untold: "no count passed its limit where its remaining showed",
  },
  reset: {
    values: ["ceil", "floor", "round"],
    words: [
      "Reset is rounded up.",
      "Reset is rounded down, so that who waits exactly as long comes too early.",
      "Reset is rounded to the nearest second, so that who waits exactly as long may come too early.",
    ],
    untold: "no window was seen so near to its end that its seconds told how they are rounded",
    isShown: true,
  },
  userEnforced: {
    values: ["with-organization", "always"],
    words: [
      "Users' windows refuse only while the organization's limits are enforced.",
      "Users' windows refuse even while the organization's limits are not enforced.",
    ],
    untold: "no user's window was full while the organization's limits were not enforced",
  },
  retryAfter: {
    values: [true, false],
    words: ["Refusals carry a Retry-After.", "Refusals carry no Retry-After."],
    untold: "nothing was refused",
    isShown: true,
  },
} as const satisfies Record<string, SwitchRow>;

export type SwitchName = keyof typeof switches;
export type SwitchValue<S extends SwitchName> = (typeof switches)[S]["values"][number];

export const switchNames = Object.keys(switches) as readonly SwitchName[];

/** Returns an object with a member for each switch. */
export function eachSwitch<T>(of: (name: SwitchName) => T): { [S in SwitchName]: T } {
  return Object.fromEntries(switchNames.map((name) => [name, of(name)])) as { [S in SwitchName]: T };
}

/** Values of each switch; the first is the default. */
export const switchValues = eachSwitch((name) => switches[name].values) as {
  readonly [S in SwitchName]: (typeof switches)[S]["values"];
};

/** Returns the sentence of a value, given as text; `undefined` if there is no such value. */
export function switchWords(name: SwitchName, value: string): string | undefined {
  const { values, words }: SwitchRow = switches[name];
  return words[values.map(String).indexOf(value)];
}
