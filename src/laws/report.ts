// The report of a check: plain JSON, one entry for each law.
import type { LimiterLawName } from "../rules/laws.ts";
import type { RunEvidence } from "./evidence.ts";
import type { KnownState } from "./known.ts";
import type { Compared, LawViolation, RulesKind } from "./law.ts";
import type { LawKind } from "./script.ts";

/**
 * - `no-counterexample`: `runs` runs found none. That proves nothing.
 * - `violated`: `counterexample` breaks the law.
 * - `not-repeatable`: `counterexample` broke the law, but the limiter answers the same calls otherwise when they are
 *   played again (`plays`), as one that draws random numbers. The law is neither broken nor kept.
 * - `known`: the law is broken, but only by counterexamples listed as known.
 * - `failed`: the limiter threw, gave no answer or answered nonsense (`failure`), which no law can judge.
 * - `skipped`: the law is void here (`reason`).
 * - `not-claimed`: the limiter does not claim the law.
 * - `not-observed`: the limiter showed nothing that the law could judge.
 * - `interrupted`: the check stopped before the law's last run.
 * - `not-run`: the check stopped before the law's first run.
 */
export type LawOutcome =
  | "no-counterexample"
  | "violated"
  | "not-repeatable"
  | "known"
  | "failed"
  | "skipped"
  | "not-claimed"
  | "not-observed"
  | "interrupted"
  | "not-run";

/** The smallest script found that breaks a law, with the limiter's answers. */
export interface Counterexample<K extends LawKind = RulesKind> {
  readonly script: K["script"];
  readonly history: K["history"];
  /** The other run, if the law compares two. */
  readonly compared?: Compared<K>;
  readonly violation: LawViolation<K>;
}

/** Plays of a counterexample, the one that found it among them. */
export interface Plays {
  readonly all: number;
  /** Number of plays that broke the law. */
  readonly broken: number;
}

/** The call that failed, and the smallest script found that leads to it. */
export interface Failure<K extends LawKind = RulesKind> {
  /** The call as code: `decide({"organization":"acme",...}, 1767225600000)`; of a limiter by key, `consume("ann", 1, ...)`. */
  readonly call: string;
  readonly got: string;
  readonly allowed: string;
  /** Place in the limiter's code at which it threw, `FILE:LINE`, if known. */
  readonly at?: string;
  /** True if the limiter gave no answer in time. */
  readonly hung: boolean;
  readonly script: K["script"];
  /** Answers before the failure. */
  readonly history: K["history"];
}

export interface LawReport<K extends LawKind = RulesKind> {
  readonly law: LimiterLawName;
  readonly statement: string;
  readonly outcome: LawOutcome;
  /** Seed of the check, plus 1 for each known counterexample met. Each law draws from it in its own way. */
  readonly seed: number;
  /** Number of runs, up to and including the first that failed. */
  readonly runs: number;
  /** Number of answers that the law judged in these runs. */
  readonly judged: number;
  /** Evidence of the runs in which the law judged something, if `CheckOptions.evidence` asked for it. */
  readonly evidence?: RunEvidence;
  /** Number of runs that met a known counterexample. */
  readonly known: number;
  /** Reason why the law is void, if `skipped`. */
  readonly reason?: string;
  /** Number of runs in which a switch made the law void, wholly or for one scope, by reason. */
  readonly voidRuns: Readonly<Record<string, number>>;
  /** Number of runs in which a switch changed the law's form (SPEC.md §7, "changed by"), by that form. */
  readonly changedRuns: Readonly<Record<string, number>>;
  /** fast-check's path from the seed to the counterexample. */
  readonly path?: string;
  /** Command that shows this counterexample again. */
  readonly repeat?: string;
  readonly counterexample?: Counterexample<K>;
  /** Plays of the counterexample, if it is `not-repeatable`. */
  readonly plays?: Plays;
  readonly failure?: Failure<K>;
}

/** Tells whether a law's outcome leaves a check `ok`. */
export const isFine = ({ outcome }: Pick<LawReport, "outcome">): boolean =>
  outcome !== "violated" && outcome !== "not-repeatable" && outcome !== "failed";

/** Tells whether laws judged anything. A check of nothing is not `ok`. */
export const hasJudged = (laws: readonly Pick<LawReport, "judged">[]): boolean =>
  laws.some(({ judged }) => judged > 0);

export interface CheckReport<K extends LawKind = RulesKind> {
  /** The limiter's name. */
  readonly limiter: string;
  readonly seed: number;
  /** Number of runs asked for, for each law. */
  readonly runs: number;
  readonly laws: readonly LawReport<K>[];
  /** The known counterexamples that were listed, in their order. */
  readonly known: readonly KnownState[];
  /** True if the caller ended the check early. Laws after a limiter that gave no answer are `not-run`, too. */
  readonly interrupted: boolean;
  /** True if an answer was judged, and no law that was checked is `violated`, `not-repeatable` or `failed`. */
  readonly ok: boolean;
}
