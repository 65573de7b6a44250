// The order of test files: the longest begin first, so that none of them runs alone at the end.
import { relative } from "node:path";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** Files that take over eleven seconds on an idle machine, the longest first. */
const longest: readonly string[] = [
  "test/readme.test.ts",
  "test/cli/check.test.ts",
  "test/limiters/past-bugs.test.ts",
  "test/audit/faults.test.ts",
  "test/cli/transcripts.test.ts",
  "test/hostile/reads.test.ts",
  "test/load/command.test.ts",
  "test/load/policies.test.ts",
  "test/package.test.ts",
  "test/probe/command.test.ts",
  "test/load/load.test.ts",
  "test/cli/check-target.test.ts",
  "test/load/runs.test.ts",
  "test/plan/command.test.ts",
  "test/cli/user-code.test.ts",
  "test/limiters/limiters.test.ts",
  "test/cli/simulate-adapter.test.ts",
  "test/load/ctrl-c.test.ts",
  "test/service/command.test.ts",
  "test/limiters/redis.test.ts",
  "test/laws/quotas.test.ts",
  "test/fit/wakes.test.ts",
  "test/load/target.test.ts",
  "test/service/workers.test.ts",
  "test/load/connection.test.ts",
  "test/faults/matrix-runs.test.ts",
  "test/fit/pinned.test.ts",
  "test/laws/kinds.test.ts",
  "test/hostile/writes.test.ts",
  "test/audit/command.test.ts",
  "test/fit/rises.test.ts",
  "test/load/arrivals.test.ts",
  "test/laws/interleavings.test.ts",
  "test/laws/broken.test.ts",
  "test/cli/system.test.ts",
  "test/probe/live.test.ts",
  "test/audit/virtual.test.ts",
  "test/probe/wire.test.ts",
];

/** Sorts as vitest does, by the last run's durations if known, and puts the longest files first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification): boolean => placeOf(file) !== -1;
    const first = sorted.filter(isLong).sort((a, b) => placeOf(a) - placeOf(b));
    return [...first, ...sorted.filter((file) => !isLong(file))];
  }
}

const placeOf = ({ moduleId }: TestSpecification): number =>
  longest.indexOf(relative(process.cwd(), moduleId).replaceAll("\\", "/"));
