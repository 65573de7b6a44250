// The findings of a check: plain JSON, one entry a law.
import type { LimiterLawName } from "../rules/laws.ts";
import type { RunEvidence } from "./evidence.ts";
import type { KnownState } from "./known.ts";
import type { Compared, LawViolation, RulesKind } from "./law.ts";
import type { LawKind } from "./script.ts";

/**
 * - `no-counterexample`: none was found in `runs` runs; that proves nothing.
 * - `violated`: `counterexample` breaks it.
 * - `known`: it is broken, and no other counterexample was found than those that were said to be known.
 * - `failed`: the limiter threw, gave no answer or answered nonsense (`failure`), which no law can judge.
 * - `skipped`: the rules make it void (`reason`).
 * - `not-claimed`: the limiter does not promise it.
 * - `not-observed`: nothing that the limiter shows could be judged by it.
 * - `interrupted`: stopped before its last run.
 * - `not-run`: stopped before its first.
 */
export type LawOutcome =
  | "no-counterexample"
  | "violated"
  | "known"
  | "failed"
  | "skipped"
  | "not-claimed"
  | "not-observed"
  | "interrupted"
  | "not-run";

/** The smallest script found that breaks a law, with what the limiter answered. */
export interface Counterexample<K extends LawKind = RulesKind> {
  readonly script: K["script"];
  readonly history: K["history"];
  /** The run that it was compared with, where the law compares two. */
  readonly compared?: Compared<K>;
  readonly violation: LawViolation<K>;
}

/** The call at which a limiter failed, and the smallest script found that leads there. */
export interface Failure<K extends LawKind = RulesKind> {
  /** The call as one would write it: `decide({"organization":"acme",...}, 1767225600000)`. */
  readonly call: string;
  readonly got: string;
  readonly allowed: string;
  /** It gave no answer in time. */
  readonly hung: boolean;
  readonly script: K["script"];
  /** Answers until then. */
  readonly history: K["history"];
}

export interface LawReport<K extends LawKind = RulesKind> {
  readonly law: LimiterLawName;
  readonly statement: string;
  readonly outcome: LawOutcome;
  /** The seed of the check; each law draws from it by its name. One more for each known counterexample that was met. */
  readonly seed: number;
  /** Runs up to the first that failed, that one included. */
  readonly runs: number;
  /** Number of answers that it judged in those runs. */
  readonly judged: number;
  /** Counts of what the runs show in which it judged something, if `CheckOptions.evidence` asked for it. */
  readonly evidence?: RunEvidence;
  /** Number of runs that came to a known counterexample. */
  readonly known: number;
  /** Reason why it is void, for `skipped`. */
  readonly reason?: string;
  /** In how many runs a switch made it void, wholly or for a scope, by the reason. */
  readonly voidRuns: Readonly<Record<string, number>>;
  /** In how many runs a switch left it standing in another form (SPEC.md §7, "changed by"), by that form. */
  readonly changedRuns: Readonly<Record<string, number>>;
  /** fast-check's path from the seed to the counterexample. */
  readonly path?: string;
  /** The one command that shows this counterexample again. */
  readonly repeat?: string;
  readonly counterexample?: Counterexample<K>;
  readonly failure?: Failure<K>;
}

export interface CheckReport<K extends LawKind = RulesKind> {
  /** The limiter's name. */
  readonly limiter: string;
  readonly seed: number;
  /** Runs asked for of each law. */
  readonly runs: number;
  readonly laws: readonly LawReport<K>[];
  /** The known counterexamples that were listed, in their order. */
  readonly known: readonly KnownState[];
  readonly interrupted: boolean;
  /** No law was violated in an unknown way and no limiter failed, as far as was looked. */
  readonly ok: boolean;
}
