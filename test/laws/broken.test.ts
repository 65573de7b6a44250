// Each law can fail: it finds the limiter that breaks it, in 100 runs, and makes the counterexample small.
import { describe, expect, test } from "vitest";
import { checkLaws, judgeScript, limiterLawNames } from "../../src/laws/index.ts";
import { brokenLimiters } from "./broken-limiters.ts";
import { expectKept, only } from "./expectations.ts";
import { tinyFactory } from "./tiny-limiter.ts";

const seed = 4;

test("every law has a limiter that breaks it", () => {
  const broken = new Set(brokenLimiters.map(({ law }) => law));
  expect(limiterLawNames.filter((law) => !broken.has(law))).toEqual([]);
});

test("the limiter that all of them are made from keeps every law", async () => {
  // Those below show in at most 38 runs, most of them in 5.
  expectKept(await checkLaws(tinyFactory("tiny"), { seed, runs: 40 }));
});

describe.each(brokenLimiters)("$law finds $fault", ({ law, fault, Kind, ops }) => {
  test(`in 100 runs of seed ${seed}, in at most ${ops} operations`, async () => {
    const factory = tinyFactory(fault, Kind);
    const report = only(await checkLaws(factory, { seed, laws: [law] }));
    expect(report.outcome).toBe("violated");
    const script = report.counterexample?.script;
    if (script === undefined) throw new Error("a violation without a counterexample");
    expect(script.ops.length).toBeLessThanOrEqual(ops);
    // The counterexample is data: judged again, from JSON and without its seed, it breaks the law again.
    const again = await judgeScript(factory, law, JSON.parse(JSON.stringify(script)));
    expect(again.violation).toEqual(report.counterexample?.violation);
    expect((await judgeScript(tinyFactory("tiny"), law, script)).violation).toBeNull();
  });
});
