// The verdict: what the oracle says of a trace (FORMAT.md, "The verdict").
import type { LawName } from "../rules/laws.ts";
import type { Scope } from "../rules/rules.ts";

/** A law of the verdict. */
export type LawVerdict = "held" | "violated" | { readonly skipped: string };

/** One contradiction between the trace and a law. */
export interface Violation {
  readonly law: LawName;
  /** Names from the fault catalogue that fit, the likeliest first. */
  readonly suspects: readonly string[];
  readonly org: string;
  /** The user whose window it is; `null` for an organization's. */
  readonly user: string | null;
  readonly scope: Scope;
  /** The window, ms since the epoch on the clients' clock; `null` where the law is about one answer alone. */
  readonly window: { readonly opensAt: number; readonly endsAt: number } | null;
  /** How many times it was seen. */
  readonly count: number;
  /** Line numbers, from 1 = the header, of the smallest set that shows it. */
  readonly lines: readonly number[];
  /** One sentence with the arithmetic. */
  readonly explanation: string;
}

export interface Verdict {
  /** `unknown`: nothing in the trace could be judged. */
  readonly verdict: "ok" | "violated" | "unknown";
  readonly records: number;
  readonly windows: number;
  readonly laws: Readonly<Record<LawName, LawVerdict>>;
  readonly violations: readonly Violation[];
}
