// Runs the laws: one fast-check property a law, the same scripts for the same seed.
import fc from "fast-check";
import type { LimiterFactory } from "../engine/adapter.ts";
import { type Algorithm, claimsOf } from "../rules/algorithms.ts";
import { SpillwayError } from "../rules/errors.ts";
import {
  type LimiterLawName,
  limiterLawNames,
  limiterLawStatements,
  voidEverywhere,
  voidReason,
} from "../rules/laws.ts";
import { type Rules, type RulesInput, scopes } from "../rules/rules.ts";
import { type Profile, type Subject, scriptArbitrary } from "./arbitraries.ts";
import { laws } from "./catalogue.ts";
import { patient, type Timers } from "./patience.ts";
import type { CheckReport, LawReport, Outcome } from "./report.ts";
import type { Script } from "./script.ts";
import { anySeed, prepare, requireInteger } from "./subject.ts";
import { Broken, Failed, Trials } from "./trials.ts";

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

export interface CheckOptions {
  /** Runs a law; 100 unless told. */
  readonly runs?: number;
  /** A 32-bit integer; drawn unless told. The same seed gives the same report. */
  readonly seed?: number;
  /** The laws to check; all unless told. */
  readonly laws?: readonly LimiterLawName[];
  /** Goes straight to a counterexample found before; needs its seed and its one law. */
  readonly path?: string;
  /**
   * Rules to check under; without them they are drawn, every semantics switch among them. What they leave out is what
   * the limiter says of itself, else the default.
   */
  readonly rules?: RulesInput;
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
  readonly onLaw?: (report: LawReport) => unknown;
}

/** Operations that the scripts may do with a limiter, and their rules. */
interface Setting {
  readonly factory: LimiterFactory;
  readonly options: CheckOptions;
  readonly subject: Subject;
  readonly may: ReadonlySet<keyof Profile>;
  readonly runs: number;
  readonly seed: number;
  readonly names: readonly LimiterLawName[];
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
  const runs = requireInteger("runs", options.runs ?? 100, 1, 10_000_000);
  const seed = requireInteger("seed", options.seed ?? anySeed(), -0x8000_0000, 0x7fff_ffff);
  const wanted = options.laws ?? limiterLawNames;
  const names = limiterLawNames.filter((law) => wanted.includes(law));
  if (options.path !== undefined && (names.length !== 1 || options.seed === undefined))
    throw new RangeError("a path needs the seed and the one law that it was found with");
  const { subject, may } = await prepare(factory, options);
  const setting = { factory, options, subject, may, runs, seed, names };
  const reports: LawReport[] = [];
  for (const law of names) {
    const isOver = options.signal?.aborted || reports.some(({ failure }) => failure?.hung);
    const report = isOver ? unrun(law, seed, "not-run") : await checkLaw(law, setting, reports.length);
    reports.push(report);
    options.onLaw?.(report);
  }
  const cut = reports.some(({ outcome }) => outcome === "interrupted" || outcome === "not-run");
  const ok = reports.every(({ outcome }) => outcome !== "violated" && outcome !== "failed");
  return { limiter: factory.name, seed, runs, laws: reports, interrupted: cut, ok };
}

/** A seed for each law: laws that draw alike should not all see the same scripts. */
const seedOf = (law: LimiterLawName, seed: number): number =>
  (seed + Math.imul(limiterLawNames.indexOf(law) + 1, 0x9e3779b1)) | 0;

/** A law's profile without what this limiter cannot be asked. */
function profileFor(law: LimiterLawName, may: ReadonlySet<keyof Profile>, algorithm: Algorithm): Profile {
  const { profile } = laws[law];
  const weights = Object.entries(profile).map(([kind, weight]) => [
    kind,
    may.has(kind as keyof Profile) ? weight : 0,
  ]);
  // If there is no window whose end could be met, a caller has to stay away for long.
  const beyond = law === "recovers" && algorithm !== "fixed-window" ? 20 : profile.beyond;
  const kept = Object.fromEntries(weights) as Profile;
  // Places are given back about as often as they are taken.
  return { ...kept, beyond, settle: algorithm === "concurrency" ? 2 * kept.settle : kept.settle };
}

function unrun(law: LimiterLawName, seed: number, outcome: Outcome, reason?: string): LawReport {
  const report = {
    law,
    statement: limiterLawStatements[law],
    outcome,
    seed,
    runs: 0,
    judged: 0,
    voidRuns: {},
    changedRuns: {},
  };
  return reason === undefined ? report : { ...report, reason };
}

async function checkLaw(law: LimiterLawName, setting: Setting, done: number): Promise<LawReport> {
  const { factory, options, subject, may, runs, names } = setting;
  if (!claimsOf(factory).includes(law)) return unrun(law, setting.seed, "not-claimed");
  const { rules } = subject;
  if (rules !== undefined && voidEverywhere(law, rules) !== null)
    return unrun(law, setting.seed, "skipped", whyVoid(law, rules));
  const trials = new Trials(factory, law, laws[law].judge, options.signal, (run, shrinking) =>
    options.onProgress?.({ law, run, runs, shrinking, done, laws: names.length }),
  );
  const property = fc.asyncProperty(
    scriptArbitrary(subject, profileFor(law, may, factory.algorithm)),
    (script) => trials.run(script),
  );
  const replay = options.path === undefined ? {} : { path: options.path, endOnFailure: true, numRuns: 1 };
  const details = await walk(() =>
    fc.check(property, { seed: seedOf(law, setting.seed), numRuns: runs, maxSkipsPerRun: 10, ...replay }),
  );
  return reportOf(law, setting, trials, details);
}

const whyVoid = (law: LimiterLawName, rules: Rules): string =>
  scopes.map((scope) => `${scope}: ${voidReason(law, rules, scope)}`).join("; ");

/** fast-check throws a plain Error where a path leads past the last script that it could lead to. */
async function walk<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("Unable to replay")) throw error;
    throw new SpillwayError("USAGE", "this path leads to no script", {
      hint: "a path belongs to the law, seed, rules and limiter that it was printed with",
      cause: error,
    });
  }
}

function reportOf(
  law: LimiterLawName,
  { seed, options }: Setting,
  trials: Trials,
  details: fc.RunDetails<[Script]>,
): LawReport {
  const { errorInstance, counterexamplePath: path, numRuns, interrupted } = details;
  const repeat = repeatCommand(law, seed, path, options.repeatWith);
  const { judged, voidRuns, changedRuns } = trials;
  const report = { ...unrun(law, seed, "no-counterexample"), runs: numRuns, judged, voidRuns, changedRuns };
  if (errorInstance instanceof Failed)
    return { ...report, outcome: "failed", path: path ?? "", repeat, failure: errorInstance.failure };
  if (errorInstance instanceof Broken)
    return {
      ...report,
      outcome: "violated",
      path: path ?? "",
      repeat,
      counterexample: errorInstance.counterexample,
    };
  if (details.failed && errorInstance !== null) throw errorInstance;
  if (interrupted) return { ...report, outcome: "interrupted" };
  if (numRuns === 0) return { ...report, outcome: "skipped", reason: Object.keys(voidRuns).join("; ") };
  return judged === 0 ? { ...report, outcome: "not-observed" } : report;
}

function repeatCommand(
  law: LimiterLawName,
  seed: number,
  path: string | null,
  more: readonly string[] = [],
): string {
  const to = path === null ? [] : [`--path ${path}`];
  return ["npx spillway check", `--law ${law}`, `--seed ${seed}`, ...to, ...more].join(" ");
}
