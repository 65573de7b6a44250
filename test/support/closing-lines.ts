// Closing lines of a test run: its slowest files; tests that passed at their second try; failures, with commands that
// repeat them; missing programs, with the number of tests left out for each; files that were left to another run.
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { Program } from "./programs.ts";
import { seedWords } from "./seed.ts";

const slowestMost = 20;

const fileOf = ({ moduleId }: TestModule): string => relative(process.cwd(), moduleId);

function slowestFiles(modules: readonly TestModule[]): string[] {
  if (modules.length <= slowestMost) return [];
  const timed = modules.map((module) => {
    const { collectDuration, duration } = module.diagnostic();
    return { file: fileOf(module), seconds: (collectDuration + duration) / 1_000 };
  });
  timed.sort((a, b) => b.seconds - a.seconds);
  const lines = timed
    .slice(0, slowestMost)
    .map(({ file, seconds }) => `${seconds.toFixed(0).padStart(4)} s  ${file}`);
  return ["slowest files:", ...lines];
}

/** Returns the tests that failed once and passed when they were repeated. */
const secondTries = (modules: readonly TestModule[]): string[] =>
  modules
    .flatMap((module) => [...module.children.allTests("passed")])
    .filter((test) => test.diagnostic()?.flaky === true)
    .map(({ module, fullName }) => `passed at the second try: ${fileOf(module)}: ${fullName}`);

/** Returns the names of failures, the first line of each error, and commands that repeat them with the same seed. */
const repeats = (modules: readonly TestModule[]): string[] =>
  modules
    .filter((module) => !module.ok())
    .flatMap((module) => [
      ...[...module.children.allTests("failed")].map(
        (test) => `failed: ${test.fullName}: ${test.result().errors?.[0]?.message.split("\n")[0] ?? ""}`,
      ),
      `repeat: ${seedWords}npm test -- ${fileOf(module)}`,
    ]);

/** Counts skipped tests by missing program; a test that misses two programs counts for both. */
function leftOut(missing: readonly Program[], modules: readonly TestModule[]): string[] {
  const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
  return missing.flatMap(({ name, get }) => {
    const tests = skipped.filter(({ tags }) => tags.includes(name)).length;
    return tests === 0 ? [] : [`left out ${tests} test${tests === 1 ? "" : "s"}: no ${name}. Get it: ${get}`];
  });
}

/** Prints the closing lines. In CI no test may be left out: the run fails. */
export class ClosingLines implements Reporter {
  readonly #missing: readonly Program[];
  readonly #others: string | null;
  readonly #mayLeaveOut: boolean;

  /** @param others the last line: which files this run leaves to another one, if any */
  constructor(
    programs: readonly Program[],
    others: string | null,
    options: { readonly mayLeaveOut: boolean },
  ) {
    this.#missing = programs.filter(({ path }) => path === null);
    this.#others = others;
    this.#mayLeaveOut = options.mayLeaveOut;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const omitted = leftOut(this.#missing, modules);
    const lines = [...slowestFiles(modules), ...secondTries(modules), ...repeats(modules), ...omitted];
    if (this.#others !== null) lines.push(this.#others);
    for (const line of lines) console.log(line);
    if (omitted.length === 0 || this.#mayLeaveOut) return;
    console.error("nothing may be left out in CI");
    process.exitCode = 1;
  }
}
