// Plans of two axes, of what to change, and of noise; and questions that cannot be answered.
// @module-tag long
import { describe, expect, test } from "vitest";
import { answerAlong } from "../../src/plan/edge-answer.ts";
import type { Variant } from "../../src/plan/job.ts";
import { replicationSeed } from "../../src/plan/job.ts";
import { type PlanOptions, plan, preparePlan } from "../../src/plan/plan.ts";
import { decide, Outcomes, type PlanSteps, samplingOf, type Tried } from "../../src/plan/sampling.ts";
import { findEdge } from "../../src/plan/search.ts";
import type { PlanAnswer } from "../../src/summary/plan-result.ts";
import { codedError } from "../support/coded-error.ts";
import { crowd, herd } from "./worlds.ts";

test("two axes make a map whose frontier is the diagonal", () => {
  const result = plan(crowd(), {
    vary: ["crowd.clients=5..50:5", "rules.organization.rest.limit=5..50:5"],
    until: ["refused==0"],
  });
  const { heatMap, points, answer } = result;
  expect(answer).toEqual({ kind: "frontier", holding: 55, failing: 45, unclear: 0 });
  expect(heatMap?.xs).toEqual([5, 10, 15, 20, 25, 30, 35, 40, 45, 50]);
  expect(heatMap?.frontier).toEqual(
    [5, 10, 15, 20, 25, 30, 35, 40, 45, 50].map((x) => ({
      x,
      holds: x,
      fails: x === 5 ? null : x - 5,
      monotone: true,
    })),
  );
  heatMap?.cells.forEach((row, y) => {
    row.forEach((place, x) => {
      expect(points[place]?.values).toEqual([heatMap.xs[x], heatMap.ys[y]]);
    });
  });
  expect(result.sentences).toContain(
    "With crowd.clients = 50 the smallest rules.organization.rest.limit that will do is 50.",
  );
});

describe("what to change", () => {
  const result = plan(herd(), { compare: true });
  const alternatives = result.comparison?.alternatives ?? [];

  test("compares the refused populations alone, under each policy and limit", () => {
    expect(result.comparison?.populations).toEqual(["herd"]);
    expect(alternatives[0]).toMatchObject({
      asIs: true,
      population: null,
      policy: "as it is",
      limits: "as they are",
      replications: 16,
    });
    const words = alternatives.slice(1).map(({ policy, limits }) => `${policy}, ${limits}`);
    expect(new Set(words).size).toBe(words.length);
    expect(words).toContain("waitReset+0..5s, as they are");
    expect(words).toContain("own (wait-reset-organization), x2");
  });

  test("says it as measured: twice the limits refuse less", () => {
    const share = (policy: string, limits: string) =>
      alternatives
        .find((one) => one.policy === policy && one.limits === limits)
        ?.figures.find(({ figure }) => figure === "herd.refusedShare")?.mean ?? Number.NaN;
    expect(share("own (wait-reset-organization)", "x2")).toBeLessThan(share("waitReset", "as they are"));
    expect(share("none", "as they are")).toBeGreaterThan(share("waitReset", "as they are"));
    expect(result.sentences[0]).toMatch(
      /^30 herd: waiting for the reset alone refuses [\d.]+% in the first second after it; with 0-5 s jitter [\d.]+%\. Over the whole run: [\d.]+% and [\d.]+%; as things stand [\d.]+%\.$/,
    );
  });

  test("says with which changes goals hold", () => {
    const asked = plan(herd(), { compare: true, until: ["herd.waitP95Ms<30s"] });
    expect(asked.answer).toBeNull();
    const [asIs] = asked.comparison?.alternatives ?? [];
    expect(asIs).toMatchObject({ held: 0, replications: 16 });
    expect(asked.sentences[0]).toMatch(
      /^herd\.waitP95Ms <30s holds in 0 of 16 runs as things stand; it holds in all of them with .*none for herd/,
    );
  });

  test("where nobody is refused there is nothing to change", () => {
    const { sentences, comparison } = plan(crowd(), { compare: true });
    expect(comparison?.alternatives).toHaveLength(1);
    expect(sentences).toEqual(["Nobody is refused as things stand: there is nothing to change."]);
  });
});

describe("noise", () => {
  /** A search over 200 candidates, each of which holds in a share of runs that is known. */
  function search(chance: (place: number) => number, seed: number): PlanAnswer {
    const line = Array.from({ length: 200 }, (_, place) => place + 1);
    const variants = line.map(
      (value): Variant => ({ changes: [{ path: "x", value }], trigger: null, windowMs: null }),
    );
    const sampling = samplingOf(64, 0.95);
    const outcomes = new Outcomes();
    const tried = new Map<number, Tried>();
    const steps = findEdge(line.length, function* (places, later): PlanSteps<Tried[]> {
      const trials = places.map((place) => ({
        variants: [variants[place] ?? variants[0]].filter((one) => one !== undefined),
        holds: (replication: number) => draw(seed, place, replication) < chance(place),
      }));
      const results = yield* decide(trials, outcomes, sampling, later);
      for (const [index, place] of places.entries()) {
        const result = results[index];
        if (result !== undefined) tried.set(place + 1, result);
      }
      return results;
    });
    let step = steps.next();
    while (step.done !== true) step = steps.next(step.value.jobs.map(() => ({ figures: [], windows: null })));
    return answerAlong(step.value, sampling, line, (value) => tried.get(Number(value)) ?? null);
  }

  test("the error bar holds the truth: the last value that holds in more than half of its runs", () => {
    // From 100 on it holds in less than half; over some 30 values it goes from nearly always to hardly ever.
    const chance = (place: number) => 1 / (1 + 1.2 ** (place + 1 - 99.5));
    let missed = 0;
    for (let seed = 0; seed < 200; seed++) {
      const answer = search(chance, seed);
      if (answer.kind !== "value" || answer.holds > 99 || answer.fails < 100) missed += 1;
    }
    // Each point errs in at most 5% of searches, and several near the edge are tried.
    expect(missed).toBeLessThan(20);
  });

  test("too much of it is said, with how many more runs would do", () => {
    // Nearly as often as not all over the middle: nothing there can be decided by 64 runs.
    const answer = search((place) => (place < 10 ? 1 : place < 190 ? 0.55 - place / 2_000 : 0), 1);
    expect(answer).toMatchObject({ kind: "too-noisy", holds: expect.any(Number), fails: expect.any(Number) });
    if (answer.kind === "too-noisy") expect(answer.replicationsMore ?? 64).toBeGreaterThanOrEqual(64);
  });
});

/** A number in [0, 1) that depends on all three alone. */
function draw(seed: number, place: number, replication: number): number {
  return (replicationSeed(seed * 1_000 + place, replication + 1) % 1_000_003) / 1_000_003;
}

describe("questions that cannot be answered", () => {
  const refusal = (options: PlanOptions, scenario = crowd()) =>
    codedError(() => preparePlan(scenario, options));
  const vary = ["crowd.clients=1..5"];

  test.each<[string, PlanOptions, string, string]>([
    ["nothing asked", {}, "--vary", "agents.clients=10..500"],
    ["goals without anything to vary", { until: ["refused==0"] }, "--vary", "agents.clients=10..500"],
    [
      "goals of a storm",
      { until: ["refused==0"], storm: "outage" },
      "--until",
      "goals of --vary or --compare",
    ],
    ["half of the runs or fewer", { vary, inRuns: 0.3 }, "--in-runs", "from 50%"],
    ["three axes", { vary: ["a=1..2", "b=1..2", "c=1..2"] }, "--vary", "two for a heat map"],
    [
      "one path twice",
      { vary: ["crowd.clients=1..5", "crowd.clients=2..9"] },
      "--vary",
      "two different paths",
    ],
    ["an unknown figure", { vary, until: ["refsed<1%"] }, "refsed", '"refused", if that was meant'],
    [
      "an unknown population",
      { vary, until: ["crwd.refused==0"] },
      "crwd.refused",
      '"crowd", if that was meant',
    ],
    ["no bound", { vary, until: ["refused"] }, "--until", "refused<1%"],
    ["an odd bound", { vary, until: ["refused<many"] }, "refused", "an amount"],
    [
      "a figure of the judge",
      { vary, until: ["overAdmission<1%"] },
      "overAdmission",
      "a figure of the summary",
    ],
    [
      "too few replications",
      { vary, until: ["refused==0"], replications: 58 },
      "--replications",
      "59 to 10000: fewer than 59",
    ],
    ["too few for most runs", { vary, replications: 3, inRuns: 0.5 }, "--replications", "6 to 10000"],
    ["no confidence", { vary, confidence: 1 }, "--confidence", "below 1"],
    ["windows without a storm", { vary, within: 2 }, "--within", "with --storm"],
    ["an unknown storm", { storm: "flood" }, "--storm", "outage, burst"],
    ["a storm in too short a run", { storm: "outage" }, "duration", "240000 ms or more"],
  ])("%s", (_, options, path, allowed) => {
    const { code, problems } = refusal(options);
    expect(code).toBe("USAGE");
    expect(problems[0]?.path).toBe(path);
    expect(problems[0]?.allowed).toContain(allowed);
  });
});
