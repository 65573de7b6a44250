// The options of a check of the laws, and its progress.
import type { PlaceOf } from "../engine/limiter-failure.ts";
import type { LimiterLawName } from "../rules/laws.ts";
import type { RulesInput } from "../rules/rules.ts";
import type { KnownCounterexample } from "./known.ts";
import type { RulesKind } from "./law.ts";
import type { Timers } from "./patience.ts";
import type { LawReport } from "./report.ts";
import type { LawKind } from "./script.ts";

/** State of a check under way. */
export interface CheckProgress {
  readonly law: LimiterLawName;
  /** Number of this law's runs so far; `runs` is the number planned. */
  readonly run: number;
  readonly runs: number;
  /** True while a counterexample that was found is made smaller. */
  readonly shrinking: boolean;
  /** Number of laws finished; `laws` is the number of all. */
  readonly done: number;
  readonly laws: number;
}

export interface CheckOptions<K extends LawKind = RulesKind> {
  /** Number of runs for each law. Default: 100. */
  readonly runs?: number;
  /** Seed, a 32-bit integer. The same seed gives the same report. Default: drawn. */
  readonly seed?: number;
  /** Laws to check. Default: all. */
  readonly laws?: readonly LimiterLawName[];
  /** Path to a counterexample found before, to which the check goes at once. Needs its seed and its one law. */
  readonly path?: string;
  /** Counterexamples that the check passes over, to look for others. With a `path` it passes over none. */
  readonly known?: readonly KnownCounterexample<K>[];
  /**
   * Rules to check under. Members left out are as the limiter says of itself, else the default. Default: drawn, with
   * every semantics switch.
   */
  readonly rules?: RulesInput;
  /** True to count the evidence for each law (`LawReport.evidence`). Default: `false`. */
  readonly evidence?: boolean;
  /** Time about which the scripts take place, ms since the epoch. Default: 2026-01-01T00:00Z. */
  readonly startMs?: number;
  /** Further words of the command that repeats a counterexample: `--adapter FILE`, `--rules FILE`. */
  readonly repeatWith?: readonly string[];
  /** Timers that bound each promise of the limiter, such as `globalThis`. Without them, one that never settles hangs. */
  readonly timers?: Timers;
  /** Longest wait for an answer, ms by `timers`. Default: 5,000. */
  readonly answerMsMost?: number;
  /** Finds the limiter's own code in a stack, if it is not in files outside of packages: in a bundle, by its map. */
  readonly placeOf?: PlaceOf;
  /** Signal that ends the check after the run under way. The report has what was found so far. */
  readonly signal?: { readonly aborted: boolean };
  /**
   * Function called and awaited before every run. A check of a synchronous limiter, except an `injectLimiter`, leaves
   * the event loop no other turn. So return a promise that takes one (`setImmediate` of `node:timers/promises`), to
   * stay responsive and to free memory that waits for a turn.
   */
  readonly onProgress?: (progress: CheckProgress) => void | PromiseLike<void>;
  /** Function that gets each law's report as soon as it is there. */
  readonly onLaw?: (report: LawReport<K>) => unknown;
}
