// One law's runs: the predicate that fast-check calls, and what it has seen. A counterexample stays of one
// kind while it is made smaller: a script that fails in another way is not taken for a smaller one.
import fc from "fast-check";
import type { LimiterFactory } from "../engine/adapter.ts";
import { changedForms, type LimiterLawName, voidEverywhere, voidReason } from "../rules/laws.ts";
import { type Rules, scopes } from "../rules/rules.ts";
import { evidenceOf, joined, noEvidence, type RunEvidence } from "./evidence.ts";
import { AdapterFailure, play } from "./history.ts";
import type { Judge, Judgement, Violation } from "./law.ts";
import { minimal } from "./minimum.ts";
import type { Counterexample, Failure } from "./report.ts";
import type { Script } from "./script.ts";

/** A law that a script breaks, as fast-check sees it. */
export class Broken extends Error {
  readonly counterexample: Counterexample;

  constructor(script: Script, judgement: Judgement, violation: Violation) {
    super(violation.got);
    this.counterexample = counterexampleOf(script, judgement, violation);
  }
}

const counterexampleOf = (
  script: Script,
  { history, compared }: Judgement,
  violation: Violation,
): Counterexample => ({ script, history, ...(compared === undefined ? {} : { compared }), violation });

/** A limiter that failed in a script, as fast-check sees it. */
export class Failed extends Error {
  readonly failure: Failure;

  constructor(script: Script, { call, got, allowed, hung, history, op }: AdapterFailure) {
    super(got);
    // The operations until then: a law may leave some out, or shift them, and the rest was not reached.
    const ops = op === null ? [] : [...history.map((event) => event.op), op];
    this.failure = { call, got, allowed, hung, script: { ...script, ops }, history };
  }
}

/** After so many answers that never came a counterexample is as small as it gets. */
const hungMost = 30;

export class Trials {
  /** Answers judged, and in how many runs a switch made the law void or changed it, up to the first failure. */
  judged = 0;
  readonly voidRuns: Record<string, number> = {};
  readonly changedRuns: Record<string, number> = {};
  /** Counts of what those runs show in which the law judged something, if they are asked for. */
  evidence: RunEvidence | undefined;
  /** Number of times that the limiter gave no answer in time. */
  hung = 0;
  readonly #factory: LimiterFactory;
  readonly #law: LimiterLawName;
  readonly #judge: Judge;
  readonly #signal: { readonly aborted: boolean } | undefined;
  readonly #onRun: (run: number, shrinking: boolean) => void | PromiseLike<void>;
  #runs = 0;
  #failed: "broken" | "adapter" | null = null;

  constructor(
    factory: LimiterFactory,
    law: LimiterLawName,
    judge: Judge,
    signal: { readonly aborted: boolean } | undefined,
    onRun: (run: number, shrinking: boolean) => void | PromiseLike<void>,
    withEvidence = false,
  ) {
    if (withEvidence) this.evidence = noEvidence;
    this.#factory = factory;
    this.#law = law;
    this.#judge = judge;
    this.#signal = signal;
    this.#onRun = onRun;
  }

  /** Judges one script; throws `Broken` or `Failed`. */
  async run(script: Script): Promise<void> {
    const shrinking = this.#failed !== null;
    await this.#onRun(this.#runs, shrinking);
    if (this.#signal?.aborted) throw new fc.PreconditionFailure(true);
    if (!shrinking) this.#note(script.rules);
    fc.pre(voidEverywhere(this.#law, script.rules) === null);
    this.#runs += 1;
    const judgement = await this.#judgementOf(script);
    if (judgement === null) return;
    if (!shrinking) {
      this.judged += judgement.judged;
      if (this.evidence !== undefined && judgement.judged > 0)
        this.evidence = joined(this.evidence, evidenceOf(script, judgement.history));
    }
    if (judgement.violation === null || this.#failed === "adapter") return;
    this.#failed = "broken";
    throw new Broken(script, judgement, judgement.violation);
  }

  /** Forgets that a run failed: the next failure is another one. */
  begin(): void {
    this.#failed = null;
  }

  /** Leaves out what the counterexample does not need. */
  smallest(found: Counterexample): Promise<Counterexample> {
    return minimal(found, async (script) => {
      if (this.#signal?.aborted) return null;
      const judgement = await this.#judgementOf(script);
      if (judgement === null || judgement.violation === null) return null;
      return counterexampleOf(script, judgement, judgement.violation);
    });
  }

  async #judgementOf(script: Script): Promise<Judgement | null> {
    try {
      return await this.#judge({ script, play: (ops) => play(this.#factory, script.rules, ops) });
    } catch (error) {
      if (!(error instanceof AdapterFailure)) throw error;
      if (error.ended) throw new fc.PreconditionFailure(true);
      if (this.#failed === "broken") return null;
      this.#failed = "adapter";
      if (error.hung) this.hung += 1;
      if (this.hung > hungMost) throw new fc.PreconditionFailure(true);
      throw new Failed(script, error);
    }
  }

  /** Counts what the switches do to the law under these rules. */
  #note(rules: Rules): void {
    const add = (counts: Record<string, number>, text: string): void => {
      counts[text] = (counts[text] ?? 0) + 1;
    };
    for (const scope of scopes) {
      const reason = voidReason(this.#law, rules, scope);
      if (reason !== null) add(this.voidRuns, `${scope}: ${reason}`);
      for (const form of changedForms(this.#law, rules, scope)) add(this.changedRuns, `${scope}: ${form}`);
    }
  }
}
