// The choices of a check, and its progress.
import type { LimiterLawName } from "../rules/laws.ts";
import type { RulesInput } from "../rules/rules.ts";
import type { KnownCounterexample } from "./known.ts";
import type { RulesKind } from "./law.ts";
import type { Timers } from "./patience.ts";
import type { LawReport } from "./report.ts";
import type { LawKind } from "./script.ts";

/** Progress of a check. */
export interface CheckProgress {
  readonly law: LimiterLawName;
  /** Runs of this law so far, and how many there are to be. */
  readonly run: number;
  readonly runs: number;
  /** A counterexample was found and is being made smaller. */
  readonly shrinking: boolean;
  /** Laws finished, of how many. */
  readonly done: number;
  readonly laws: number;
}

export interface CheckOptions<K extends LawKind = RulesKind> {
  /** Runs a law; 100 unless told. */
  readonly runs?: number;
  /** A 32-bit integer; drawn unless told. The same seed gives the same report. */
  readonly seed?: number;
  /** The laws to check; all unless told. */
  readonly laws?: readonly LimiterLawName[];
  /** Goes straight to a counterexample found before; needs its seed and its one law. */
  readonly path?: string;
  /** Counterexamples that the check passes over, to look for others. With a `path` it passes over none. */
  readonly known?: readonly KnownCounterexample<K>[];
  /**
   * Rules to check under; without them they are drawn, every semantics switch among them. What they leave out is what
   * the limiter says of itself, else the default.
   */
  readonly rules?: RulesInput;
  /** Counts on how much each law rests (`LawReport.evidence`). Default: `false`. */
  readonly evidence?: boolean;
  /** About when the scripts take place, ms since the epoch; 2026-01-01T00:00Z unless told. */
  readonly startMs?: number;
  /** Words that the command which repeats a counterexample also needs: `--adapter FILE`, `--rules FILE`. */
  readonly repeatWith?: readonly string[];
  /** Timers that bound a promise of the limiter; without them one that never settles hangs. `globalThis` will do. */
  readonly timers?: Timers;
  /** Longest wait for an answer, ms of those timers. Default: 5,000. */
  readonly answerMsMost?: number;
  /** Ends the check after the run that is under way; what was found so far is reported. */
  readonly signal?: { readonly aborted: boolean };
  /**
   * Called before every run, and awaited. A check of a synchronous limiter leaves the event loop a turn nowhere
   * else, unless it is an `injectLimiter`: return a promise that takes one (`setImmediate` of `node:timers/promises`) to
   * stay responsive, and to let go of memory that waits for such a turn.
   */
  readonly onProgress?: (progress: CheckProgress) => void | PromiseLike<void>;
  /** Given each law's report as soon as it is there. */
  readonly onLaw?: (report: LawReport<K>) => unknown;
}
