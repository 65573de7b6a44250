// The search over synthetic truths: right whenever the truth is monotone and without noise, and honest where not.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decide,
  hastened,
  Outcomes,
  type PlanSteps,
  type Sampling,
  samplingOf,
  stateOf,
  type Tried,
} from "../../src/plan/sampling.ts";
import { type Edge, findEdge, gridOf, proveEdge } from "../../src/plan/search.ts";

/** Drives a search whose trials need no runs. */
function edgeOf(length: number, stateAt: (place: number) => Tried["state"]): { edge: Edge; tried: number[] } {
  const tried: number[] = [];
  const tryOut = function* (places: readonly number[]): PlanSteps<Tried[]> {
    tried.push(...places);
    return places.map((place) => ({ held: 0, replications: 8, state: stateAt(place) }));
  };
  const steps = findEdge(length, tryOut);
  const step = steps.next();
  if (step.done !== true) throw new Error("a batch of nothing was asked for");
  return { edge: step.value, tried };
}

describe("a truth that is monotone and without noise", () => {
  test("is found exactly, wherever its edge is, with few tries, none of them twice", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100_000 }), fc.nat(), (length, drawn) => {
        const holding = 1 + (drawn % (length - 1));
        const { edge, tried } = edgeOf(length, (place) => (place < holding ? "holds" : "fails"));
        expect(edge).toEqual({ kind: "edge", holds: holding - 1, fails: holding, unclear: [] });
        expect(new Set(tried).size).toBe(tried.length);
        expect(tried.length).toBeLessThanOrEqual(9 + 15);
      }),
    );
  });

  test("that holds everywhere, or nowhere, is told", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), (length) => {
        expect(edgeOf(length, () => "holds").edge).toEqual({ kind: "all" });
        expect(edgeOf(length, () => "fails").edge).toEqual({ kind: "none" });
      }),
    );
  });

  test("and goes the other way is called reversed", () => {
    const { edge } = edgeOf(500, (place) => (place < 200 ? "fails" : "holds"));
    expect(edge).toEqual({ kind: "reversed" });
  });
});

describe("a proof of an edge that was found by most runs", () => {
  /** Holds in most runs below one place, and in nearly all below another. */
  function proved(length: number, mostly: number, surely: number): { edge: Edge; proof: number[] } {
    const { edge: found } = edgeOf(length, (place) => (place < mostly ? "holds" : "fails"));
    const proof: number[] = [];
    const steps = proveEdge(found, length, function* (places): PlanSteps<Tried[]> {
      proof.push(...places);
      return places.map((place) => ({ held: 0, replications: 8, state: place < surely ? "holds" : "fails" }));
    });
    const step = steps.next();
    if (step.done !== true) throw new Error("a batch of nothing was asked for");
    return { edge: step.value, proof };
  }

  test("is exact, from the edge downwards, with few tries", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 100_000 }), fc.nat(), fc.nat(), (length, some, fewer) => {
        const mostly = 1 + (some % length);
        const surely = 1 + (fewer % mostly);
        const { edge, proof } = proved(length, mostly, surely);
        const whole: Edge = { kind: "edge", holds: surely - 1, fails: surely, unclear: [] };
        expect(edge).toEqual(surely === length ? { kind: "all" } : whole);
        expect(proof[0]).toBe(mostly - 1);
        expect(new Set(proof).size).toBe(proof.length);
        expect(proof.length).toBeLessThanOrEqual(2 + 2 * Math.ceil(Math.log2(mostly - surely + 2)));
      }),
    );
  });

  test("finds none where none holds in nearly all runs", () => {
    expect(proved(500, 300, 0).edge).toEqual({ kind: "none" });
  });
});

test("a truth that alternates where the grid looks is called not monotone", () => {
  const island = (place: number): Tried["state"] => (place > 100 && place < 300 ? "fails" : "holds");
  expect(edgeOf(500, island).edge).toEqual({ kind: "not-monotone" });
  const twoHills = (place: number): Tried["state"] => (Math.floor(place / 130) % 2 === 0 ? "holds" : "fails");
  expect(edgeOf(500, twoHills).edge).toEqual({ kind: "not-monotone" });
});

test("a band that stays unclear is bracketed from both sides as tightly as there are candidates", () => {
  fc.assert(
    fc.property(fc.integer({ min: 20, max: 5_000 }), fc.nat(), fc.nat(100), (length, drawn, wide) => {
      const from = 1 + (drawn % (length - 2));
      const to = Math.min(length - 1, from + 1 + wide);
      const { edge } = edgeOf(length, (place) => (place < from ? "holds" : place < to ? "unclear" : "fails"));
      expect(edge).toMatchObject({ kind: "edge", holds: from - 1, fails: to });
    }),
  );
});

test("an unclear band at an end leaves that side open", () => {
  expect(edgeOf(100, (place) => (place < 50 ? "holds" : "unclear")).edge).toMatchObject({
    holds: 49,
    fails: null,
  });
  expect(edgeOf(100, (place) => (place < 50 ? "unclear" : "fails")).edge).toMatchObject({
    holds: null,
    fails: 50,
  });
});

test("the grid has both ends, rises, and is everything where that is little", () => {
  expect(gridOf(1, 9)).toEqual([0]);
  expect(gridOf(4, 9)).toEqual([0, 1, 2, 3]);
  expect(gridOf(491, 9)).toEqual([0, 61, 123, 184, 245, 306, 368, 429, 490]);
});

describe("sampling", () => {
  const sampling = samplingOf(64, 0.95);

  test("looks as soon as runs that agree could decide, doubling up to the most", () => {
    expect(sampling.looks).toEqual([8, 16, 32, 64]);
    expect(stateOf(8, 8, sampling)).toBe("holds");
    expect(stateOf(0, 8, sampling)).toBe("fails");
    expect(stateOf(7, 8, sampling)).toBe("unclear");
    expect(stateOf(32, 64, sampling)).toBe("unclear");
  });

  test("a larger share of runs is sure of itself later, and of its failing as soon", () => {
    const strict = samplingOf(128, 0.95, 0.95);
    expect(strict.looks).toEqual([8, 16, 32, 64, 128]);
    expect(stateOf(64, 64, strict)).toBe("unclear");
    expect(stateOf(128, 128, strict)).toBe("holds");
    expect(stateOf(4, 8, strict)).toBe("fails");
    expect(() => samplingOf(64, 0.95, 0.95)).toThrow("replications must be 104 or more, got 64");
  });

  test("on the way to an edge a point fails as soon as it surely misses what is asked; it holds as before", () => {
    const quick = hastened(samplingOf(128, 0.95), samplingOf(128, 0.95, 0.95));
    expect(quick.looks).toEqual([2, 8, 16, 32, 64, 128]);
    expect(stateOf(0, 2, quick)).toBe("fails");
    expect(stateOf(1, 2, quick)).toBe("unclear");
    expect(stateOf(4, 8, quick)).toBe("fails");
    expect(stateOf(7, 8, quick)).toBe("unclear");
    expect(stateOf(8, 8, quick)).toBe("holds");
    const half = samplingOf(64, 0.95);
    expect(hastened(half, half)).toBe(half);
  });

  test("too few replications to decide anything are refused, with how many would do", () => {
    expect(samplingOf(6, 0.95).looks).toEqual([6]);
    expect(() => samplingOf(5, 0.95)).toThrow("replications must be 6 or more, got 5");
  });

  test("replicates what is close most, and each run once", () => {
    // One trial always holds, one never, one in every second replication.
    const variants = [0, 1, 2].map((value) => ({
      changes: [{ path: "x", value }],
      trigger: null,
      windowMs: null,
    }));
    const outcomes = new Outcomes();
    const held = [() => true, () => false, (replication: number) => replication % 2 === 0];
    const trials = variants.map((variant, index) => ({
      variants: [variant],
      holds: (replication: number) => {
        outcomes.of(variant, replication);
        return held[index]?.(replication) === true;
      },
    }));
    const { value, runs } = drive(decide(trials, outcomes, sampling, 0));
    expect(value).toEqual([
      { held: 8, replications: 8, state: "holds" },
      { held: 0, replications: 8, state: "fails" },
      { held: 32, replications: 64, state: "unclear" },
    ]);
    expect(runs).toBe(8 + 8 + 64);
  });

  test("decides wrongly no more often than it says, looks and all", () => {
    // A thing that holds in 50% of runs is decided either way in less than 5% of tries; it should stay unclear.
    let state = 7;
    const coin = (): boolean => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >= 0x8000_0000;
    };
    let wrong = 0;
    for (let round = 0; round < 2_000; round++) wrong += Number(decided(coin, sampling) !== "unclear");
    expect(wrong / 2_000).toBeLessThan(0.05);
  });
});

function decided(coin: () => boolean, sampling: Sampling): Tried["state"] {
  let held = 0;
  let n = 0;
  for (const look of sampling.looks) {
    for (; n < look; n++) held += Number(coin());
    const state = stateOf(held, n, sampling);
    if (state !== "unclear") return state;
  }
  return "unclear";
}

function drive<T>(steps: PlanSteps<T>): { value: T; runs: number } {
  let runs = 0;
  let step = steps.next();
  while (step.done !== true) {
    runs += step.value.jobs.length;
    step = steps.next(step.value.jobs.map(() => ({ figures: [], windows: null })));
  }
  return { value: step.value, runs };
}
