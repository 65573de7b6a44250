// A limiter as the table knows it: its setup, its documentation's promises, and its known bugs.
import type { LimiterFactory } from "../../src/engine/adapter.ts";
import type { LimiterLawName } from "../../src/rules/laws.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import type { RealRedis } from "./redis.ts";

/** Words of a package's documentation, and the laws that say the same. */
export interface Wording {
  readonly words: string;
  readonly link: string;
  readonly laws: readonly LimiterLawName[];
}

/** One bug of today's version. */
export interface Fault {
  /** The rows of the table that it breaks. */
  readonly rows: readonly string[];
  readonly why: string;
  /** File in reports/limiters with the text of an issue for its maintainers. */
  readonly issue: string;
}

export interface Stranger {
  readonly name: string;
  readonly package: string;
  /** Way in which it is set up and asked. */
  readonly setting: string;
  readonly promises: readonly Wording[];
  /** Cause of the violation: found by reading its code, after the laws had named the calls. */
  readonly broken?: Fault;
  /** Of the runs asked for, the share that it is given: some take long to make. */
  readonly share?: number;
  /** Rules to check under; without them they are drawn. */
  readonly rules?: RulesInput;
  limiter(claims: readonly LimiterLawName[], redis: RealRedis): LimiterFactory;
}

export const npm = (name: string): string => `https://www.npmjs.com/package/${name}`;

/** Laws of a limiter that keeps a window for each key, from its first call, with a maximum. */
export const perKey: readonly LimiterLawName[] = ["isolated"];
export const fixedWindow: readonly LimiterLawName[] = [
  "refusal-justified",
  "recovers",
  "twice-at-most",
  "time-translates",
];

/** Row of the table. */
export const overlapping = "overlapping calls";

export const sharesItsCount: Fault = {
  rows: [overlapping],
  why: "The store counts a call and answers with the very object in which it counts; the middleware awaits that answer and reads the count afterwards. Calls of one key that begin in one turn of the event loop are all counted before the first of them reads, so all read the last count: of 6 where 5 are allowed, none is let through. It fails closed, never beyond the limit. `test/limiters/pipelined.test.ts` shows four of them on the wire.",
  issue: "issues/shared-count.md",
};
