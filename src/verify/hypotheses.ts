// Hypotheses: the ways in which a scope's counts may be kept. With rules there is one. Without rules there is one for
// each combination of the switches that counts depend on. The trace rules out those that it contradicts. A deployment
// follows one of them all the time, so that it is accused only if none is left. A switch is known if all that are left
// agree on it.
import type { Scope } from "../rules/rules.ts";
import { possibleTerms, type Terms } from "./terms.ts";

export interface Exhibit {
  readonly lines: readonly number[];
  readonly explanation: string;
}

export interface Hypothesis {
  readonly terms: Terms;
  /** Contradiction that ruled it out; `null` while it is left. Only `ruleOut` sets it. */
  against: Exhibit | null;
}

interface Contradiction {
  readonly exhibit: Exhibit;
  readonly weight: number;
}

export class Hypotheses {
  /** All hypotheses, the likeliest first: the defaults of SPEC.md §8. */
  readonly all: readonly Hypothesis[];
  #left: readonly Hypothesis[];
  #isExhausted = false;
  /** True if the rules give the only hypothesis. */
  readonly isGiven: boolean;

  /** @param given terms of the rules; `null` without rules */
  constructor(scope: Scope, given: Terms | null) {
    this.isGiven = given !== null;
    this.all = (given === null ? possibleTerms(scope) : [given]).map((terms) => ({ terms, against: null }));
    this.#left = this.all;
  }

  /** Hypotheses that nothing contradicts; if all are contradicted, the least contradicted one. Never empty. */
  get left(): readonly Hypothesis[] {
    return this.#left;
  }

  /** True if each hypothesis is contradicted. */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Rules out contradicted hypotheses. @param out hypotheses with their contradictions, and the weight of each */
  ruleOut(out: ReadonlyMap<Hypothesis, Contradiction>): void {
    const survivors = this.#left.filter((each) => !out.has(each));
    for (const [hypothesis, { exhibit }] of out) hypothesis.against ??= exhibit;
    if (survivors.length > 0) {
      this.#left = survivors;
      return;
    }
    this.#isExhausted = true;
    const weightOf = (each: Hypothesis) => (out.get(each) as Contradiction).weight;
    this.#left = this.#left.toSorted((a, b) => weightOf(a) - weightOf(b)).slice(0, 1);
  }
}
