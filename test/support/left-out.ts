// Closing lines of a test run: which programs are missing, and how many tests were left out for each.
import type { Reporter, TestModule } from "vitest/node";
import type { Program } from "./programs.ts";

/** Names each missing program that tests were left out for, their number, and how to get it. */
function closingLines(programs: readonly Program[], leftOut: ReadonlyMap<string, number>): string[] {
  return programs.flatMap(({ name, get }) => {
    const tests = leftOut.get(name) ?? 0;
    return tests === 0 ? [] : [`left out ${tests} test${tests === 1 ? "" : "s"}: no ${name}. Get it: ${get}`];
  });
}

/** Number of skipped tests by missing program; a test that misses two programs counts for both. */
function countLeftOut(missing: readonly Program[], modules: readonly TestModule[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const module of modules)
    for (const test of module.children.allTests("skipped"))
      for (const { name } of missing)
        if (test.tags.includes(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Reports what was left out. In CI nothing may be: the run fails. */
export class LeftOut implements Reporter {
  readonly #missing: readonly Program[];
  readonly #mayLeaveOut: boolean;

  constructor(programs: readonly Program[], mayLeaveOut: boolean) {
    this.#missing = programs.filter(({ path }) => path === null);
    this.#mayLeaveOut = mayLeaveOut;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = closingLines(this.#missing, countLeftOut(this.#missing, modules));
    if (lines.length === 0) return;
    console.log(lines.join("\n"));
    if (this.#mayLeaveOut) return;
    console.error("nothing may be left out in CI");
    process.exitCode = 1;
  }
}
