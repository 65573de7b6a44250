// The search for counterexamples to one law: fast-check's runs of it, from a seed or straight to a path.
import fc from "fast-check";
import type { LimiterFactory } from "../engine/adapter.ts";
import type { Algorithm } from "../rules/algorithms.ts";
import { SpillwayError } from "../rules/errors.ts";
import { type LimiterLawName, limiterLawNames, limiterLawStatements } from "../rules/laws.ts";
import { type Profile, type Subject, scriptArbitrary } from "./arbitraries.ts";
import { laws } from "./catalogue.ts";
import { breaks } from "./causes.ts";
import type { CheckOptions } from "./check.ts";
import type { LawReport, Outcome } from "./report.ts";
import type { Script } from "./script.ts";
import { Broken, Failed, Trials } from "./trials.ts";

/** Operations that the scripts may do with a limiter, and their rules. */
export interface Setting {
  readonly factory: LimiterFactory;
  readonly options: CheckOptions;
  readonly subject: Subject;
  readonly may: ReadonlySet<keyof Profile>;
  readonly runs: number;
  readonly seed: number;
  readonly names: readonly LimiterLawName[];
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

export function unrun(law: LimiterLawName, seed: number, outcome: Outcome, reason?: string): LawReport {
  const report = {
    law,
    statement: limiterLawStatements[law],
    outcome,
    seed,
    runs: 0,
    judged: 0,
    known: 0,
    voidRuns: {},
    changedRuns: {},
  };
  return reason === undefined ? report : { ...report, reason };
}

/** The search for counterexamples to one law. */
export class Search {
  readonly #law: LimiterLawName;
  readonly #setting: Setting;
  readonly #trials: Trials;

  constructor(law: LimiterLawName, setting: Setting, done: number) {
    const { factory, options, runs, names } = setting;
    this.#law = law;
    this.#setting = setting;
    const onRun = (run: number, shrinking: boolean) =>
      options.onProgress?.({ law, run, runs, shrinking, done, laws: names.length });
    this.#trials = new Trials(factory, law, laws[law].judge, options.signal, onRun, options.evidence);
  }

  /** Runs scripts of a seed until one breaks the law, or goes straight to the one at a path. */
  async run(seed: number, runs: number, path = this.#setting.options.path): Promise<LawReport> {
    const { factory, subject, may } = this.#setting;
    const trials = this.#trials;
    trials.begin();
    const property = fc.asyncProperty(
      scriptArbitrary(subject, profileFor(this.#law, may, factory.algorithm)),
      (script) => trials.run(script),
    );
    const replay = path === undefined ? {} : { path, endOnFailure: true, numRuns: 1 };
    const details = await walk(() =>
      fc.check(property, { seed: seedOf(this.#law, seed), numRuns: runs, maxSkipsPerRun: 10, ...replay }),
    );
    return reportOf(this.#law, { ...this.#setting, seed }, trials, details);
  }

  /** Tells whether a script still breaks the law. */
  breaks(script: Script): Promise<boolean> {
    return breaks(this.#setting.factory, this.#law, script);
  }
}

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

async function reportOf(
  law: LimiterLawName,
  { seed, options }: Setting,
  trials: Trials,
  details: fc.RunDetails<[Script]>,
): Promise<LawReport> {
  const { errorInstance, counterexamplePath: path, numRuns, interrupted } = details;
  const repeat = repeatCommand(law, seed, path, options.repeatWith);
  const { judged, voidRuns, changedRuns, evidence } = trials;
  const tested = { runs: numRuns, judged, voidRuns, changedRuns, ...(evidence && { evidence }) };
  const report = { ...unrun(law, seed, "no-counterexample"), ...tested };
  if (errorInstance instanceof Failed)
    return { ...report, outcome: "failed", path: path ?? "", repeat, failure: errorInstance.failure };
  if (errorInstance instanceof Broken)
    return {
      ...report,
      outcome: "violated",
      path: path ?? "",
      repeat,
      counterexample: await trials.smallest(errorInstance.counterexample),
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
