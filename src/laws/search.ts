// Searches for counterexamples to one law, by fast-check's runs from a seed or straight at a path.
import fc from "fast-check";
import { SpillwayError } from "../rules/errors.ts";
import { type LimiterLawName, limiterLawNames } from "../rules/laws.ts";
import { violationOf } from "./causes.ts";
import type { CheckOptions } from "./check-options.ts";
import type { ScriptLimits } from "./known.ts";
import type { LawViolation } from "./law.ts";
import { unrepeated } from "./repeats.ts";
import type { Counterexample, LawOutcome, LawReport } from "./report.ts";
import type { LawKind } from "./script.ts";
import { Failed, type IsKnown, LawBroken, type LawRuns, Trials } from "./trials.ts";

/** A limiter, with the laws that judge it and their scripts, by rules or by a policy. */
export interface LawKit<K extends LawKind> {
  /** The limiter's name. */
  readonly name: string;
  readonly claims: readonly LimiterLawName[];
  readonly statements: Readonly<Record<LimiterLawName, string>>;
  /** Returns why a law is void in every run; `null` if it is not. */
  voidReason(law: LimiterLawName): string | null;
  scripts(law: LimiterLawName): fc.Arbitrary<K["script"]>;
  runs(law: LimiterLawName): LawRuns<K>;
  readonly limits: ScriptLimits;
  /**
   * Returns a text that is equal for two scripts of one counterexample.
   * @param window window at fault, if one is
   */
  formOf(script: K["script"], window: K["window"] | null): string;
}

/** Settings of a check of one limiter. */
export interface Setting<K extends LawKind> {
  readonly kit: LawKit<K>;
  readonly options: Omit<CheckOptions<K>, "rules">;
  readonly runs: number;
  readonly seed: number;
  readonly names: readonly LimiterLawName[];
  /** Tells whether the limiter decides the same calls alike when they are played again. It looks once. */
  isSteady(): Promise<boolean>;
}

/** Returns a law's own seed, so that laws with equal profiles see different scripts. */
const seedOf = (law: LimiterLawName, seed: number): number =>
  (seed + Math.imul(limiterLawNames.indexOf(law) + 1, 0x9e3779b1)) | 0;

export function unrun<K extends LawKind>(
  { statements }: LawKit<K>,
  law: LimiterLawName,
  seed: number,
  outcome: LawOutcome,
  reason?: string,
): LawReport<K> {
  const report = {
    law,
    statement: statements[law],
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
export class Search<K extends LawKind> {
  readonly #law: LimiterLawName;
  readonly #setting: Setting<K>;
  readonly #runs: LawRuns<K>;
  readonly #trials: Trials<K>;

  constructor(law: LimiterLawName, setting: Setting<K>, done: number) {
    const { kit, options, runs, names } = setting;
    this.#law = law;
    this.#setting = setting;
    const onRun = (run: number, shrinking: boolean) =>
      options.onProgress?.({ law, run, runs, shrinking, done, laws: names.length });
    this.#runs = kit.runs(law);
    this.#trials = new Trials(this.#runs, options.signal, onRun, options.placeOf);
  }

  /**
   * Runs scripts of a seed until one breaks the law, or only the script at a path.
   * @throws SpillwayError `USAGE` if the path leads to no script
   */
  async run(seed: number, runs: number, path = this.#setting.options.path): Promise<LawReport<K>> {
    this.#trials.begin();
    if (path === undefined) return this.#report(seed, await this.#checked(seed, { numRuns: runs }));
    const script = scriptAt(this.#setting.kit.scripts(this.#law), seedOf(this.#law, seed), path);
    const only = { examples: [script], numRuns: 1, endOnFailure: true };
    return this.#report(seed, await this.#checked(seed, only), path);
  }

  /**
   * Makes a run that came to a known counterexample smaller once more.
   * @param isKnown tells violations like those that are known, to which it is not made smaller
   * @returns the report of another counterexample in it; `null` if there is none
   */
  async past({ seed, path }: LawReport<K>, isKnown: IsKnown<K>): Promise<LawReport<K> | null> {
    this.#trials.begin(isKnown);
    const [run] = String(path).split(":");
    const report = await this.#report(seed, await this.#checked(seed, { path: String(run), numRuns: 1 }));
    const { counterexample } = report;
    return counterexample === undefined || isKnown(counterexample.violation) ? null : report;
  }

  #checked(seed: number, how: fc.Parameters<[K["script"]]>): Promise<fc.RunDetails<[K["script"]]>> {
    const property = fc.asyncProperty(this.#setting.kit.scripts(this.#law), (script) =>
      this.#trials.run(script),
    );
    return fc.check(property, { seed: seedOf(this.#law, seed), maxSkipsPerRun: 10, ...how });
  }

  async #report(
    seed: number,
    details: fc.RunDetails<[K["script"]]>,
    path = details.counterexamplePath,
  ): Promise<LawReport<K>> {
    const { kit, options } = this.#setting;
    const { errorInstance, numRuns, interrupted } = details;
    const { judged, voidRuns, changedRuns, evidence } = this.#trials;
    const tested = { runs: numRuns, judged, voidRuns, changedRuns, ...(evidence && { evidence }) };
    const report = { ...unrun(kit, this.#law, seed, "no-counterexample"), ...tested };
    const repeat = repeatCommand(this.#law, seed, path, options.repeatWith);
    const found = { ...report, path: path ?? "", repeat };
    if (errorInstance instanceof Failed)
      return { ...found, outcome: "failed", failure: (errorInstance as Failed<K>).failure };
    if (errorInstance instanceof LawBroken) {
      const { found: first }: LawBroken<Counterexample<K>> = errorInstance;
      return { ...found, ...(await this.#told(await this.#trials.smallest(first))) };
    }
    if (details.failed && errorInstance !== null) throw errorInstance;
    if (interrupted) return { ...report, outcome: "interrupted" };
    if (numRuns === 0) return { ...report, outcome: "skipped", reason: Object.keys(voidRuns).join("; ") };
    return judged === 0 ? { ...report, outcome: "not-observed" } : report;
  }

  async #told(
    counterexample: Counterexample<K>,
  ): Promise<Pick<LawReport<K>, "outcome" | "plays" | "counterexample">> {
    const { judge } = this.#runs;
    const plays = await unrepeated(counterexample, judge, this.#setting.isSteady);
    if (plays === null) return { outcome: "violated", counterexample };
    return { outcome: "not-repeatable", plays, counterexample };
  }

  /** Returns the violation if a script still breaks the law. */
  violationOf(script: K["script"]): Promise<LawViolation<K> | null> {
    return violationOf(() => this.#runs.judge(script));
  }
}

/**
 * Returns the script at a path. fast-check throws a plain Error if the path ends early, and finds none at its end.
 * @throws SpillwayError `USAGE` if the path leads to no script
 */
function scriptAt<S>(scripts: fc.Arbitrary<S>, seed: number, path: string): [S] {
  try {
    const [found] = fc.sample(fc.tuple(scripts), { seed, path, numRuns: 1 });
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith("Unable to replay")) throw error;
  }
  throw new SpillwayError("USAGE", "this path leads to no script", {
    hint: "a path belongs to the law, seed, rules and limiter that it was printed with",
  });
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
