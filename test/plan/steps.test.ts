// Plans step by step, without runs: which jobs are asked for, how many more are told to follow, and what is made of
// outcomes that are given.
import { burst, defineScenario, fixed, rest } from "spillway/scenario";
import { describe, expect, test } from "vitest";
import { compare, comparedFigures } from "../../src/plan/comparison.ts";
import { goalsOf, parseGoal, parseMeasured } from "../../src/plan/goals.ts";
import type { JobOutcome, PlanJob } from "../../src/plan/job.ts";
import type { Workshop } from "../../src/plan/points.ts";
import { decide, heldOf, Outcomes, type PlanSteps, samplingOf, type Tried } from "../../src/plan/sampling.ts";
import { findEdge, proveEdge } from "../../src/plan/search.ts";
import { driven } from "./driven.ts";

describe("a search says how many more candidates it may try", () => {
  const told = (length: number, stateAt: (place: number) => Tried["state"], prove = false) => {
    const laters: [number, number][] = [];
    const tryOut = function* (places: readonly number[], later: number): PlanSteps<Tried[]> {
      laters.push([places.length, later]);
      return places.map((place) => ({ held: 0, replications: 8, state: stateAt(place) }));
    };
    const edge = { kind: "edge", holds: 60, fails: 61, unclear: [] } as const;
    const { result } = driven(prove ? proveEdge(edge, length, tryOut) : findEdge(length, tryOut), () => {
      throw new Error("no job was asked for");
    });
    return { result, laters };
  };

  test("on the grid as often as what lies between two of its places can be halved, then once less each time", () => {
    expect(told(9, () => "holds").laters).toEqual([[9, 0]]);
    expect(told(10, (place) => (place < 5 ? "holds" : "fails")).laters).toEqual([
      [9, 1],
      [1, 1],
    ]);
    expect(told(90, (place) => (place < 60 ? "holds" : "fails")).laters).toEqual([
      [9, 4],
      [1, 4],
      [1, 3],
      [1, 2],
      [1, 1],
    ]);
  });

  test("without an end that holds or fails, up to the line's own", () => {
    expect(told(17, (place) => (place === 0 ? "unclear" : "fails")).laters).toEqual([
      [9, 1],
      [1, 2],
    ]);
  });

  test("a proof goes back by steps that double, then halves", () => {
    const { laters, result } = told(100, (place) => (place < 50 ? "holds" : "fails"), true);
    expect(result).toEqual({ kind: "edge", holds: 49, fails: 50, unclear: [] });
    // 60, 59, 58, 56, 52 fail, 44 holds; then 48, 50 and 49.
    expect(laters).toEqual([...[7, 7, 7, 7, 7, 7].map((later) => [1, later]), [1, 3], [1, 2], [1, 1]]);
  });
});

describe("trials", () => {
  test("are looked at until they are decided; each look asks for what is missing, and says what may follow", () => {
    const sampling = samplingOf(32, 0.95);
    const [first = 0, second = 0] = sampling.looks;
    const variant = (name: string) => ({
      changes: [{ path: name, value: 1 }],
      trigger: null,
      windowMs: null,
    });
    const trial = (name: string, holds: (replication: number) => boolean) => ({
      variants: [variant(name)],
      holds,
    });
    const outcomes = new Outcomes();
    const { result, batches } = driven(
      decide([trial("yes", () => true), trial("half", (at) => at % 2 === 0)], outcomes, sampling, 3),
      () => ({ figures: [], windows: null }),
    );
    expect(batches.map(({ jobs, later }) => [jobs.length, later])).toEqual([
      [2 * first, 3 * first],
      ...sampling.looks.slice(1).map((look, at) => [look - (sampling.looks[at] ?? 0), 3 * first]),
    ]);
    expect(second).toBe(2 * first);
    expect(result).toEqual([
      { held: first, replications: first, state: "holds" },
      { held: 16, replications: 32, state: "unclear" },
    ]);
    expect(outcomes.size).toBe(first + 32);
    expect(
      heldOf(
        trial("half", (at) => at % 2 === 0),
        5,
      ),
    ).toBe(3);
    expect(() => outcomes.of(variant("no"), 0)).toThrow(new RangeError("no=1#0 has not been run"));
    const steps = outcomes.replicate([variant("no")], 1, 0);
    steps.next();
    expect(() => steps.next([])).toThrow(new RangeError("no=1#0 came back without an outcome"));
  });
});

describe("a comparison", () => {
  const names = ["a", "b", "c", "d", "e"];
  const scenario = defineScenario({
    name: "five",
    duration: "10s",
    populations: Object.fromEntries(
      names.map((name) => [
        name,
        {
          clients: 1,
          behaviour: burst({ call: rest("/v2/user"), size: 1 }),
          ...(name === "b" ? { onRefused: fixed({ wait: "2s" }) } : {}),
        },
      ]),
    ),
  });
  const figures = comparedFigures(scenario);
  const shop = (until: readonly string[] = [], sampling = samplingOf(16, 0.95)): Workshop => {
    const goals = until.map((text) => parseGoal(text, scenario));
    return {
      ...{ outcomes: new Outcomes(), sampling, screen: sampling, goals, fitError: null },
      figures: figures.map((name) => [name, parseMeasured(name, scenario)] as const),
    };
  };
  /** Shares of refusals: nobody of a, the others the more the later they come, less with other policies and limits. */
  const outcomeOf = ({ variant: { changes } }: PlanJob): JobOutcome => ({
    windows: null,
    figures: figures.map((figure) => {
      const [name = "", of] = figure.split(".");
      return of === "refusedShare"
        ? names.indexOf(name) / 10 / (1 + changes.length)
        : 0.5 / (1 + changes.length);
    }),
  });

  test("measures the three most refused populations, under each other policy and limit", () => {
    const { result, batches } = driven(compare(shop(), scenario), outcomeOf);
    expect(result.populations).toEqual(["e", "d", "c"]);
    const times = 2 * (samplingOf(16, 0.95).looks[0] ?? 0);
    expect(batches.map(({ jobs, later }) => [jobs.length, later])).toEqual([
      [times, 15 * times],
      // Larger limits alone are one change, whoever it is for.
      [(3 * 14 - 2 * 2) * times, 0],
    ]);
    const rows = result.alternatives.map(({ population, policy, limits, asIs }) => [
      population,
      policy,
      limits,
      asIs,
    ]);
    expect(rows[0]).toEqual([null, "as it is", "as they are", true]);
    const policies = ["waitReset", "waitReset+0..5s", "exponential", "retryAfter"];
    expect(rows.slice(1, 15)).toEqual([
      ...policies.map((policy) => ["e", policy, "as they are", false]),
      ...["own (none)", ...policies].map((policy) => ["e", policy, "+50%", false]),
      ...["own (none)", ...policies].map((policy) => ["e", policy, "x2", false]),
    ]);
    expect(
      result.alternatives.every(({ held, replications }) => held === null && replications === times),
    ).toBe(true);
    const changes = batches[1]?.jobs
      .filter(({ replication }) => replication === 0)
      .map(({ variant }) => variant.changes);
    expect(changes?.slice(3, 6)).toEqual([
      [{ path: "e.onRefused", value: "retryAfter" }],
      [{ path: "limits", value: 1.5 }],
      [
        { path: "e.onRefused", value: "waitReset" },
        { path: "limits", value: 1.5 },
      ],
    ]);
  });

  test("holds each to the goals, where there are some", () => {
    const { result } = driven(compare(shop(["refusedShare < 30%"]), scenario), outcomeOf);
    const times = result.alternatives[0]?.replications;
    expect(result.alternatives.slice(0, 2).map(({ held }) => held)).toEqual([0, times]);
  });

  test("takes the runs of the only look where there is no second one", () => {
    const sampling = samplingOf(6, 0.95);
    expect(sampling.looks).toEqual([6]);
    const { result } = driven(compare(shop([], sampling), scenario), outcomeOf);
    expect(new Set(result.alternatives.map(({ replications }) => replications))).toEqual(new Set([6]));
  });

  test("of nobody who is refused asks for no more", () => {
    const none = (): JobOutcome => ({ windows: null, figures: figures.map(() => 0) });
    const { result, batches } = driven(compare(shop(), scenario), none);
    expect([result.populations, result.alternatives.length, batches.length]).toEqual([[], 1, 1]);
  });

  test("is of figures of the whole run and of each population", () => {
    const each = ["refusedShare", "refusedFirstSecondShare", "waitP95Ms", "gaveUp", "admitted"];
    expect(figures).toEqual([...each, ...names.flatMap((name) => each.map((figure) => `${name}.${figure}`))]);
    expect(goalsOf(scenario)).toEqual([]);
  });
});
