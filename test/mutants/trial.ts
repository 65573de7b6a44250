// One mutant before the tests that may see it.
import type { Bench, Trial } from "./bench.ts";
import type { Coverage } from "./coverage.ts";
import { type Mutation, mutated } from "./mutations.ts";
import type { Nets } from "./nets.ts";
import type { Workshop } from "./workshop.ts";

export interface Judgement {
  readonly outcome: "killed" | "survived";
  /** The test file that fails, or that never ends, with the mutant; `null` where none does. */
  readonly by: string | null;
  /** Title of the test; empty where the file took too long. */
  readonly test: string;
  /** Test files that passed. */
  readonly passed: number;
  /** Test files that the time for one mutant left out. */
  readonly left: number;
}

/**
 * Ms after which a file with a mutant loops: ten times its own ms, at least 30 s and at most 2 min, but never less than
 * three times its own ms. A busy machine may have measured far too many.
 * @param ownMs of the file without the mutant
 */
export const loopMsOf = (ownMs: number): number => Math.max(30_000, Math.min(10 * ownMs, 120_000), 3 * ownMs);

/** Cost of a file that was not measured: near ones that are known to be quick come before those that may be. */
const unknownMs = 1_000;

export class Trials {
  readonly #workshop: Workshop;
  readonly #bench: Bench;
  readonly #nets: Nets;
  readonly #coverage: Coverage;
  readonly #budgetMs: number;
  /** Least ms that test files took: how busy the machine is matters little so. */
  readonly #times = new Map<string, number>();
  /** Test files that were run here. */
  readonly #begun = new Set<string>();
  /** True for a test file that passes without a mutant, by file, as far as that was asked here. */
  readonly #sound = new Map<string, boolean>();

  /** @param budgetMs time of tests for one mutant */
  constructor(workshop: Workshop, bench: Bench, nets: Nets, coverage: Coverage, budgetMs: number) {
    this.#workshop = workshop;
    this.#bench = bench;
    this.#nets = nets;
    this.#coverage = coverage;
    this.#budgetMs = budgetMs;
    for (const [file, passes] of coverage.passing) this.#sound.set(file, passes);
  }

  /** Test files that fail without any mutant here, and so say nothing. */
  get unsound(): string[] {
    return [...this.#sound].filter(([, isSound]) => !isSound).map(([file]) => file);
  }

  async judge(mutation: Mutation): Promise<Judgement> {
    const cost = (file: string): number => this.#msOf(file) ?? unknownMs;
    const runs = await this.#coverage.runnersOf(mutation);
    const tests = this.#nets.of(mutation.path, cost, runs).filter((file) => this.#sound.get(file) !== false);
    let [passed, left, spentMs] = [0, 0, 0];
    for (let file = tests.shift(); file !== undefined; file = tests.shift()) {
      if (spentMs + cost(file) > this.#budgetMs) {
        left += 1;
        continue;
      }
      const { failed: test, hung, ms } = await this.#with(mutation, file);
      if (test === null) {
        spentMs += this.#spent(file, ms);
        passed += 1;
        continue;
      }
      const alone = await this.#alone(file, hung);
      if (alone === "passes" && (await this.#failsAgain(mutation, file, hung)))
        return { outcome: "killed", by: file, test, passed, left: left + tests.length };
      if (alone === "may pass") tests.unshift(file);
    }
    return { outcome: "survived", by: null, test: "", passed, left };
  }

  /** Notes what a run took. The first one also loads modules that later ones keep, and says little of what those take. */
  #spent(file: string, ms: number): number {
    const known = this.#msOf(file);
    if (known === undefined && !this.#begun.has(file)) {
      this.#begun.add(file);
      return ms;
    }
    const leastMs = Math.min(ms, known ?? ms);
    this.#times.set(file, leastMs);
    return leastMs;
  }

  /** A busy machine may fail what depends on real time, or hold up any file: such a file has to fail twice. */
  async #failsAgain(mutation: Mutation, file: string, hung: boolean): Promise<boolean> {
    return !(hung || this.#nets.isApart(file)) || (await this.#with(mutation, file)).failed !== null;
  }

  #with(mutation: Mutation, test: string): Promise<Trial> {
    const { path } = mutation;
    const text = mutated(this.#workshop.files.get(path) ?? "", mutation);
    const order = { test, changed: this.#nets.dependentsOf(path) };
    return this.#workshop.with(path, text, () => this.#bench.run(order, this.#limitMs(test)));
  }

  #msOf(file: string): number | undefined {
    return this.#times.get(file) ?? this.#coverage.msOf(file);
  }

  #limitMs(file: string): number {
    return loopMsOf(this.#msOf(file) ?? 0);
  }

  /**
   * Outcome of the file without the mutant. It may pass with the mutant where it had too little time, or where an earlier
   * mutant left traces in the process.
   */
  async #alone(file: string, hung: boolean): Promise<"passes" | "fails" | "may pass"> {
    const givenMs = this.#limitMs(file);
    const first = await this.#withoutMutant(file);
    this.#sound.set(file, first.failed === null);
    if (first.failed === null) return hung && 3 * (this.#msOf(file) ?? 0) > givenMs ? "may pass" : "passes";
    this.#bench.end();
    const { failed } = await this.#withoutMutant(file);
    this.#sound.set(file, failed === null);
    return failed === null ? "may pass" : "fails";
  }

  async #withoutMutant(file: string): Promise<Trial> {
    const trial = await this.#bench.run({ test: file, changed: [] }, 240_000);
    this.#times.set(file, trial.ms);
    return trial;
  }
}
