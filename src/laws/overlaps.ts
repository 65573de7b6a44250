// Checks overlapping calls, by rules or by a policy. Whatever a limiter awaits, some order of the calls, one after the
// other, must explain who was admitted. A lost update has no such order. The claimed laws that look at one run judge
// the orders.
import fc from "fast-check";
import { failureIn } from "../engine/limiter-failure.ts";
import { type OpFrequencies, usualProfile } from "./arbitraries.ts";
import type { CheckOptions, CheckProgress } from "./check-options.ts";
import type { RulesKind } from "./law.ts";
import { OrderSearch, type Round, type UnexplainedScript } from "./orders.ts";
import { aloneText, type Drawn, type OverlapKit, playOverlapping, schedulerOf } from "./overlapped-play.ts";
import { answeredAlike, scriptsTwice } from "./repeats.ts";
import type { Failure } from "./report.ts";
import type { LawKind } from "./script.ts";
import { anySeed, requireInteger } from "./subject.ts";
import { Failed, LawBroken } from "./trials.ts";

export interface OverlapOptions
  extends Pick<
    CheckOptions,
    "runs" | "seed" | "path" | "startMs" | "timers" | "answerMsMost" | "placeOf" | "signal"
  > {
  /** Greatest number of calls that overlap, 2 to 5, or 1 to 5 if the clock moves. Default: 3. */
  readonly overlap?: number;
  /**
   * True to let 1 ms or a second pass between two steps of a call, such as two commands to a store. A stored key may
   * expire in between, and the call may count before or after. The limiter must take the `seam`. Default: `false`.
   */
  readonly clockMoves?: boolean;
  /** Function called and awaited before every run. */
  readonly onProgress?: (progress: OverlapProgress) => void | PromiseLike<void>;
}

/** State of a check of overlapping calls under way. */
export type OverlapProgress = Pick<CheckProgress, "run" | "runs" | "shrinking">;

export interface InterleavingReport<K extends LawKind = RulesKind> {
  readonly limiter: string;
  readonly seed: number;
  readonly runs: number;
  /** Number of rounds in which calls overlapped, or the clock moved, up to the first failure. 0: none was judged. */
  readonly overlapped: number;
  /**
   * `not-claimed`: the limiter claims none of the laws by which orders are judged. `not-repeatable`: it answers calls
   * otherwise when they are played again, one after the other, so that orders tell nothing.
   */
  readonly outcome:
    | "no-counterexample"
    | "violated"
    | "not-repeatable"
    | "failed"
    | "not-claimed"
    | "interrupted";
  readonly ok: boolean;
  readonly path?: string;
  readonly repeat?: string;
  readonly counterexample?: UnexplainedScript<K>;
  readonly failure?: Failure<K>;
}

/** Profile of scripts with calls only, at few instants. */
const profile: OpFrequencies = { ...usualProfile, settle: 0, status: 0, enforce: 0, sweep: 0, back: 0 };
/** Profile of scripts whose calls come near the ends of windows, where a moving clock matters. */
const atEnds: OpFrequencies = { ...profile, edge: 40, beyond: 10 };
const intentsMost = 8;
/** Number of a round's first steps before which the clock may move. */
const stepsMost = 3;
const roundsTicked = { minLength: 8, maxLength: 8 };

/** Looks for overlapping calls whose answers no order explains. */
export async function checkOverlaps<K extends LawKind>(
  kit: OverlapKit<K>,
  options: OverlapOptions,
): Promise<InterleavingReport<K>> {
  const runs = requireInteger("runs", options.runs ?? 100, 1, 10_000_000);
  const seed = requireInteger("seed", options.seed ?? anySeed(), -0x8000_0000, 0x7fff_ffff);
  const most = requireInteger("overlap", options.overlap ?? 3, options.clockMoves ? 1 : 2, 5);
  const report = { limiter: kit.name, seed, runs: 0, overlapped: 0, ok: true };
  if (kit.laws.length === 0) return { ...report, outcome: "not-claimed" };
  const trial = new OverlapTrial(kit, options);
  const drawn = fc.record({
    script: kit.scripts(options.clockMoves ? atEnds : profile, intentsMost),
    overlap: fc.integer({ min: Math.min(2, most), max: most }),
    staggered: fc.nat({ max: 255 }),
    ticks: options.clockMoves ? fc.array(fc.nat({ max: stepsMost }), roundsTicked) : fc.constant([]),
    tickMs: options.clockMoves ? fc.constantFrom(1, 1000) : fc.constant(0),
    weave: fc.nat(),
  });
  let run = 0;
  const property = fc.asyncProperty(drawn, async (one) => {
    const shrinking = trial.hasFailed;
    if (!shrinking) run += 1;
    await options.onProgress?.({ run, runs, shrinking });
    await trial.run(one);
  });
  const { path } = options;
  const times = path === undefined ? { numRuns: runs } : { numRuns: 1, path, endOnFailure: true };
  const details = await fc.check(property, { seed, ...times });
  const { errorInstance, counterexamplePath, numRuns, interrupted } = details;
  const seen = { ...report, runs: numRuns, overlapped: trial.overlapped };
  const found = { ...seen, ok: false, path: counterexamplePath ?? "" };
  if (errorInstance instanceof LawBroken) {
    const { found: unexplained }: LawBroken<UnexplainedScript<K>> = errorInstance;
    // Longer scripts show what a small counterexample may not.
    const others = fc.sample(kit.scripts(profile, 4 * intentsMost), { seed, numRuns: scriptsTwice });
    const twice = [unexplained.script, ...others];
    const repeats = await answeredAlike(twice, (script) => aloneText(kit, script));
    return { ...found, outcome: repeats ? "violated" : "not-repeatable", counterexample: unexplained };
  }
  if (errorInstance instanceof Failed)
    return { ...found, outcome: "failed", failure: (errorInstance as Failed<K>).failure };
  if (details.failed && errorInstance !== null) throw errorInstance;
  return { ...seen, outcome: interrupted ? "interrupted" : "no-counterexample" };
}

/** The runs of one check. A script that fails in another way is not taken for a smaller counterexample. */
class OverlapTrial<K extends LawKind> {
  overlapped = 0;
  readonly #kit: OverlapKit<K>;
  readonly #options: Pick<OverlapOptions, "signal" | "path" | "placeOf">;
  #kind: "broken" | "failed" | null = null;
  #hung = 0;

  constructor(kit: OverlapKit<K>, options: Pick<OverlapOptions, "signal" | "path" | "placeOf">) {
    this.#kit = kit;
    this.#options = options;
  }

  /** True once a run failed; later runs make its script smaller. */
  get hasFailed(): boolean {
    return this.#kind !== null;
  }

  async run(drawn: Drawn<K>): Promise<void> {
    // After ten missing answers, stop making the counterexample smaller: each costs a wait.
    if (this.#options.signal?.aborted || this.#hung > 10) throw new fc.PreconditionFailure(true);
    // fast-check drops calls but keeps the scheduler's seed. Fewer calls may need other interleavings.
    const shrinking = this.#kind === "broken" || this.#options.path !== undefined;
    for (const weave of [drawn.weave, ...(shrinking ? moreWeaves : [])])
      if (!(await this.#try(drawn, schedulerOf(weave)))) return;
  }

  /** @returns true if the scheduler had a choice, so that another seed may do otherwise */
  async #try(drawn: Drawn<K>, scheduler: fc.Scheduler): Promise<boolean> {
    const { script } = drawn;
    const rounds: Round<K>[] = [];
    let overlaps = 0;
    try {
      overlaps = await playOverlapping(this.#kit, drawn, scheduler, rounds);
    } catch (error) {
      const failure = failureIn(error);
      if (this.#kind === "broken") return true;
      this.#kind = "failed";
      if (failure.hung) this.#hung += 1;
      const history = rounds.flatMap(({ events }) => events);
      throw new Failed(script, history, failure, this.#options.placeOf);
    }
    if (this.#kind === "failed") return true;
    const found = await new OrderSearch(this.#kit, script, rounds).unexplained();
    if (this.#kind === null) this.overlapped += overlaps;
    if (found === null) return rounds.some(({ events, steps }) => events.length > 1 && steps.length > 0);
    this.#kind = "broken";
    throw new LawBroken({ script, ...found });
  }
}

const moreWeaves: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8];
