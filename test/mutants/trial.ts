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

/** A file that takes longer than this, and than ten times as long as without the mutant, loops. */
const loopMs = 30_000;
const loopTimes = 10;
/** Files of one order: the time for a mutant is looked at between orders. */
const orderSize = 8;

export class Trials {
  readonly #workshop: Workshop;
  readonly #bench: Bench;
  readonly #nets: Nets;
  readonly #coverage: Coverage;
  readonly #budgetMs: number;
  /** Least ms that test files took: how busy the machine is matters little so. */
  readonly #times = new Map<string, number>();
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
    const cost = (file: string): number => this.#msOf(file) ?? 0;
    const running = await this.#coverage.testsOf(mutation);
    const tests = this.#nets
      .of(mutation.path, cost, running)
      .filter((file) => this.#sound.get(file) !== false);
    let passed = 0;
    let spentMs = 0;
    while (tests.length > 0 && spentMs < this.#budgetMs) {
      const order = tests.splice(0, orderSize);
      const { failed, times } = await this.#with(mutation, order);
      for (const [file, ms] of times) spentMs += this.#least(file, ms);
      if (failed === null) {
        passed += order.length;
        for (const [file, ms] of times) this.#times.set(file, this.#least(file, ms));
        continue;
      }
      const { file, test, hung } = failed;
      const alone = await this.#alone(file, hung);
      if (alone === "passes" && (await this.#failsAgain(mutation, file, hung)))
        return { outcome: "killed", by: file, test, passed, left: tests.length };
      passed += times.size - (times.has(file) ? 1 : 0);
      // Those behind it were not run; where it is slow by itself it has more time now.
      const again = alone === "is slow" ? [file] : [];
      tests.unshift(...again, ...order.filter((one) => one !== file && !times.has(one)));
    }
    return { outcome: "survived", by: null, test: "", passed, left: tests.length };
  }

  /** A busy machine may fail what depends on real time, or hold up any file: such a file has to fail twice. */
  async #failsAgain(mutation: Mutation, file: string, hung: boolean): Promise<boolean> {
    return !(hung || this.#nets.isApart(file)) || (await this.#with(mutation, [file])).failed !== null;
  }

  #with(mutation: Mutation, tests: readonly string[]): Promise<Trial> {
    const { path } = mutation;
    const text = mutated(this.#workshop.files.get(path) ?? "", mutation);
    return this.#workshop.with(path, text, () => this.#bench.run({ tests }, (file) => this.#limitMs(file)));
  }

  #least(file: string, ms: number): number {
    return Math.min(ms, this.#msOf(file) ?? ms);
  }

  #msOf(file: string): number | undefined {
    return this.#times.get(file) ?? this.#coverage.msOf(file);
  }

  #limitMs(file: string): number {
    return Math.max(loopMs, loopTimes * (this.#msOf(file) ?? 0));
  }

  /** Outcome of the file without the mutant; it is slow if its time may have been too short. */
  async #alone(file: string, hung: boolean): Promise<"passes" | "fails" | "is slow"> {
    const known = this.#sound.get(file);
    if (known === true && !hung) return "passes";
    const givenMs = this.#limitMs(file);
    const { failed, times } = await this.#bench.run({ tests: [file] }, () => 240_000);
    const ms = times.get(file) ?? 0;
    this.#times.set(file, ms);
    this.#sound.set(file, failed === null);
    if (failed !== null) return "fails";
    return hung && 3 * ms >= givenMs ? "is slow" : "passes";
  }
}
