// Runs the laws: one fast-check property a law, the same scripts for the same seed.
import type { LimiterFactory } from "../engine/adapter.ts";
import { type LimiterLawName, limiterLawNames } from "../rules/laws.ts";
import type { RulesInput } from "../rules/rules.ts";
import { type KnownCounterexample, parseKnown } from "./known.ts";
import { KnownList } from "./known-list.ts";
import type { LawKind, RulesKind } from "./law.ts";
import { patient, type Timers } from "./patience.ts";
import type { CheckReport, LawReport } from "./report.ts";
import { rulesKit } from "./rules-kit.ts";
import { type LawKit, Search, type Setting, unrun } from "./search.ts";
import { anySeed, requireInteger } from "./subject.ts";

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
   * else: return a promise that takes one (`setImmediate` of `node:timers/promises`) to stay responsive.
   */
  readonly onProgress?: (progress: CheckProgress) => void | PromiseLike<void>;
  /** Given each law's report as soon as it is there. */
  readonly onLaw?: (report: LawReport<K>) => unknown;
}

/**
 * Looks for a counterexample to each law.
 *
 * @example
 * const report = await checkLaws(engineFactory, { runs: 1000, rules: {} });
 * for (const law of report.laws) console.log(renderCounterexample(law).join("\n"));
 *
 * @throws SpillwayError `ADAPTER_INVALID` where no limiter can be made (one that fails later is reported as
 *   `failed`); `RULES_INVALID` where the rules contradict it; `USAGE` where the path leads nowhere
 */
export async function checkLaws(given: LimiterFactory, options: CheckOptions = {}): Promise<CheckReport> {
  const factory = options.timers === undefined ? given : patient(given, options.timers, options.answerMsMost);
  return checkKit(() => rulesKit(factory, options), options);
}

/**
 * Looks for a counterexample to each law of a kit.
 * @throws as `checkLaws` does
 */
export async function checkKit<K extends LawKind>(
  prepare: () => Promise<LawKit<K>>,
  options: Omit<CheckOptions<K>, "rules">,
): Promise<CheckReport<K>> {
  const runs = requireInteger("runs", options.runs ?? 100, 1, 10_000_000);
  const seed = requireInteger("seed", options.seed ?? anySeed(), -0x8000_0000, 0x7fff_ffff);
  const wanted = options.laws ?? limiterLawNames;
  const names = limiterLawNames.filter((law) => wanted.includes(law));
  if (options.path !== undefined && (names.length !== 1 || options.seed === undefined))
    throw new RangeError("a path needs the seed and the one law that it was found with");
  const kit = await prepare();
  const known = new KnownList(options.path === undefined ? parseKnown<K>(options.known ?? []) : [], kit);
  const setting = { kit, options, runs, seed, names };
  const reports: LawReport<K>[] = [];
  for (const law of names) {
    const isOver = options.signal?.aborted || reports.some(({ failure }) => failure?.hung);
    const report = isOver
      ? unrun(kit, law, seed, "not-run")
      : await checkLaw(law, setting, known, reports.length);
    reports.push(report);
    options.onLaw?.(report);
  }
  const cut = reports.some(({ outcome }) => outcome === "interrupted" || outcome === "not-run");
  const ok = reports.every(({ outcome }) => outcome !== "violated" && outcome !== "failed");
  return { limiter: kit.name, seed, runs, laws: reports, known: known.states, interrupted: cut, ok };
}

async function checkLaw<K extends LawKind>(
  law: LimiterLawName,
  setting: Setting<K>,
  known: KnownList<K>,
  done: number,
): Promise<LawReport<K>> {
  const { kit, seed } = setting;
  if (!kit.claims.includes(law)) return unrun(kit, law, seed, "not-claimed");
  const reason = kit.voidReason(law);
  if (reason !== null) return unrun(kit, law, seed, "skipped", reason);
  const search = new Search(law, setting, done);
  await known.lookUp(law, search);
  return goOn(await search.run(seed, setting.runs), search, known, setting.runs);
}

/** Looks for another counterexample, as long as the last one is known and there are runs left. */
async function goOn<K extends LawKind>(
  found: LawReport<K>,
  search: Search<K>,
  known: KnownList<K>,
  most: number,
): Promise<LawReport<K>> {
  let report = found;
  let { runs } = report;
  let met = 0;
  while (report.outcome === "violated" && known.has(report)) {
    met += 1;
    if (runs >= most || known.isWhole(report.law)) {
      const { path: _, repeat: __, counterexample: ___, ...quiet } = report;
      return { ...quiet, runs, known: met, outcome: "known" };
    }
    report = await search.run((report.seed + 1) | 0, most - runs);
    runs += report.runs;
  }
  const isQuiet = report.outcome === "no-counterexample" || report.outcome === "not-observed";
  return { ...report, runs, known: met, outcome: met > 0 && isQuiet ? "known" : report.outcome };
}
