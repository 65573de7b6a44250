// One law's runs: the predicate that fast-check calls, and its counts. A counterexample stays of one kind while
// it is made smaller: a script that fails in another way is not taken for a smaller one.
import fc from "fast-check";
import { failureIn, type LimiterFailure, type PlaceOf, placeOfThrow } from "../engine/limiter-failure.ts";
import { joined, noEvidence, type RunEvidence } from "./evidence.ts";
import type { Judgement, LawViolation } from "./law.ts";
import { PlayFailure } from "./player.ts";
import type { Counterexample, Failure } from "./report.ts";
import type { LawKind } from "./script.ts";

/** Error that tells fast-check that a law is broken: by the counterexample `found`. */
export class LawBroken<C> extends Error {
  readonly found: C;

  constructor(found: C) {
    super("a law is broken");
    this.found = found;
  }
}

const counterexampleOf = <K extends LawKind>(
  script: K["script"],
  { history, compared }: Judgement<K>,
  violation: LawViolation<K>,
): Counterexample<K> => ({ script, history, ...(compared === undefined ? {} : { compared }), violation });

/** Error that tells fast-check that the limiter failed in a script. */
export class Failed<K extends LawKind> extends Error {
  readonly failure: Failure<K>;

  /** @param history answers before the failure */
  constructor(
    script: K["script"],
    history: K["history"],
    failure: LimiterFailure,
    placeOf: PlaceOf | undefined,
  ) {
    const { call, got, allowed, hung } = failure;
    super(got);
    const at = placeOfThrow(failure, placeOf);
    this.failure = { call, got, allowed, hung, ...(at !== null && { at }), script, history };
  }
}

/** Number of missing answers after which a counterexample is made no smaller, since each costs a wait. */
const hungMost = 30;

/** Judge of one law, over scripts by rules or by a policy. */
export interface LawRuns<K extends LawKind> {
  /** Reports the effects of a script's switches on the law: reasons why it is void, and changed forms. */
  note(script: K["script"], voids: (why: string) => void, changes: (form: string) => void): void;
  isVoid(script: K["script"]): boolean;
  judge(script: K["script"]): Promise<Judgement<K>>;
  evidenceOf?(script: K["script"], history: K["history"]): RunEvidence;
}

/** Tells whether a violation is like a known one. */
export type IsKnown<K extends LawKind> = (violation: LawViolation<K>) => boolean;

export class Trials<K extends LawKind> {
  /** Number of answers judged up to the first failure; `voidRuns` and `changedRuns` as in `LawReport`. */
  judged = 0;
  readonly voidRuns: Record<string, number> = {};
  readonly changedRuns: Record<string, number> = {};
  /** Evidence of the runs in which the law judged something, if asked for. */
  evidence: RunEvidence | undefined;
  /** Number of times that the limiter gave no answer in time. */
  hung = 0;
  readonly #law: LawRuns<K>;
  readonly #signal: { readonly aborted: boolean } | undefined;
  readonly #onRun: (run: number, shrinking: boolean) => void | PromiseLike<void>;
  readonly #placeOf: PlaceOf | undefined;
  #runs = 0;
  #failed: "broken" | "adapter" | null = null;
  #isKnown: IsKnown<K> | null = null;

  constructor(
    law: LawRuns<K>,
    signal: { readonly aborted: boolean } | undefined,
    onRun: (run: number, shrinking: boolean) => void | PromiseLike<void>,
    placeOf?: PlaceOf,
  ) {
    if (law.evidenceOf !== undefined) this.evidence = noEvidence;
    this.#law = law;
    this.#signal = signal;
    this.#onRun = onRun;
    this.#placeOf = placeOf;
  }

  /** Judges one script; throws `LawBroken` or `Failed`. */
  async run(script: K["script"]): Promise<void> {
    const shrinking = this.#failed !== null;
    const isAgain = shrinking || this.#isKnown !== null;
    await this.#onRun(this.#runs, isAgain);
    if (this.#signal?.aborted) throw new fc.PreconditionFailure(true);
    if (!isAgain) this.#law.note(script, adderTo(this.voidRuns), adderTo(this.changedRuns));
    fc.pre(!this.#law.isVoid(script));
    if (!isAgain) this.#runs += 1;
    const judgement = await this.#judgementOf(script);
    if (judgement === null) return;
    if (!isAgain) {
      this.judged += judgement.judged;
      const { evidenceOf } = this.#law;
      if (evidenceOf !== undefined && this.evidence !== undefined && judgement.judged > 0)
        this.evidence = joined(this.evidence, evidenceOf(script, judgement.history));
    }
    if (judgement.violation === null || this.#failed === "adapter") return;
    this.#failed = "broken";
    if (shrinking && this.#isKnown?.(judgement.violation)) return;
    throw new LawBroken(counterexampleOf(script, judgement, judgement.violation));
  }

  /**
   * Forgets earlier failures, so that the next failure is a new one.
   * @param isKnown tells violations that a run seen before is not made smaller to
   */
  begin(isKnown: IsKnown<K> | null = null): void {
    this.#failed = null;
    this.#isKnown = isKnown;
  }

  /** Drops operations that the counterexample does not need. */
  smallest(found: Counterexample<K>): Promise<Counterexample<K>> {
    return minimal(found, async (script) => {
      if (this.#signal?.aborted) return null;
      const judgement = await this.#judgementOf(script);
      if (judgement === null || judgement.violation === null || !isOwn(script, judgement)) return null;
      if (this.#isKnown?.(judgement.violation)) return null;
      return counterexampleOf(script, judgement, judgement.violation);
    });
  }

  async #judgementOf(script: K["script"]): Promise<Judgement<K> | null> {
    try {
      return await this.#law.judge(script);
    } catch (error) {
      const failure = failureIn(error);
      if (failure.ended) throw new fc.PreconditionFailure(true);
      if (this.#failed === "broken") return null;
      this.#failed = "adapter";
      if (failure.hung) this.hung += 1;
      if (this.hung > hungMost) throw new fc.PreconditionFailure(true);
      const { history, op } = failure instanceof PlayFailure ? failure : { history: [], op: null };
      // Only the operations as played: a law may leave some out or shift them, and later ones were not reached.
      const ops = op === null ? [] : [...history.map((event) => event.op), op];
      throw new Failed<K>({ ...script, ops }, history, failure, this.#placeOf);
    }
  }
}

const adderTo =
  (counts: Record<string, number>) =>
  (text: string): void => {
    counts[text] = (counts[text] ?? 0) + 1;
  };

// Makes a counterexample smaller than fast-check can. fast-check drops intents, one of which may be a burst of calls;
// here each single operation is dropped if the law is broken without it too.

/** Greatest number of operations of a script of which each is dropped alone. Each costs a run of the whole script. */
const opsMost = 60;
/** Greatest number of operations that are played to drop parts of a longer script. */
const playedMost = 15_000;

/** Tells whether the law played calls of the script, and not others in their place. */
const isOwn = <K extends LawKind>(
  { ops }: K["script"],
  { history }: Pick<Judgement<K>, "history">,
): boolean => history.some(({ op }) => ops.includes(op));

/** Judges a script; returns `null` if the script breaks nothing. */
type Broken<K extends LawKind> = (script: K["script"]) => Promise<Counterexample<K> | null>;

/** @param broken judges a script */
export async function minimal<K extends LawKind>(
  found: Counterexample<K>,
  broken: Broken<K>,
): Promise<Counterexample<K>> {
  let best = await shortened(await accused(found, broken), broken);
  if (best.script.ops.length > opsMost) return best;
  for (let at = best.script.ops.length - 1; at >= 0; at -= 1)
    best = (await broken(without(best.script, at, 1))) ?? best;
  return best;
}

const without = <K extends LawKind>(script: K["script"], at: number, count: number): K["script"] => ({
  ...script,
  ops: script.ops.toSpliced(at, count),
});

/**
 * Drops the operations after the one that breaks the law. If the law played calls of its own in their place, these become
 * the script.
 */
async function accused<K extends LawKind>(
  found: Counterexample<K>,
  broken: Broken<K>,
): Promise<Counterexample<K>> {
  const { script, history, violation } = found;
  const played = history.slice(0, violation.at + 1).map(({ op }) => op);
  if (!isOwn(script, found)) return (await broken({ ...script, ops: played })) ?? found;
  const last = played.at(-1);
  const kept = last === undefined ? 0 : script.ops.indexOf(last) + 1;
  if (kept === 0 || kept === script.ops.length) return found;
  return (await broken(without(script, kept, script.ops.length))) ?? found;
}

/** Drops parts of a script that is too long for `minimal`: halves, then quarters, and so on. */
async function shortened<K extends LawKind>(
  found: Counterexample<K>,
  broken: Broken<K>,
): Promise<Counterexample<K>> {
  let best = found;
  let played = 0;
  for (let parts = 2; best.script.ops.length > opsMost; parts *= 2) {
    const size = Math.ceil(best.script.ops.length / parts);
    for (let at = best.script.ops.length - size; at > -size; at -= size) {
      played += best.script.ops.length;
      if (played > playedMost) return best;
      const from = Math.max(0, at);
      best = (await broken(without(best.script, from, at + size - from))) ?? best;
    }
    if (size === 1) return best;
  }
  return best;
}
