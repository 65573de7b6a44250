// The search over synthetic truths: right whenever the truth is monotone and without noise, and honest where not.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  boundsOf,
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

test("a line that the grid sees whole is told by the order of its states", () => {
  const drawnStates = fc.array(fc.constantFrom("holds", "fails", "unclear"), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(drawnStates, (states) => {
      const letters = states.map((state) => state[0]).join("");
      const told = (): Edge => {
        if (/f.*h/.test(letters)) return { kind: /h.*f/.test(letters) ? "not-monotone" : "reversed" };
        if (/^[hu]*h$/.test(letters)) return { kind: "all" };
        if (/^f[fu]*$/.test(letters)) return { kind: "none" };
        const [, before = "", between = ""] = /^(.*h|)(u*)/.exec(letters) ?? [];
        const [holds, fails] = [before.length - 1, letters.indexOf("f")];
        const unclear = Array.from(between, (_, place) => before.length + place);
        return {
          kind: "edge",
          holds: holds < 0 ? null : holds,
          fails: fails < 0 ? null : fails,
          unclear,
        };
      };
      expect(edgeOf(states.length, (place) => states[place] ?? "unclear").edge).toEqual(told());
    }),
    { numRuns: 500 },
  );
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
    expect(strict.looks).toEqual(Array.from({ length: 16 }, (_, index) => 8 * (index + 1)));
    expect(stateOf(64, 64, strict)).toBe("unclear");
    expect(stateOf(72, 72, strict)).toBe("holds");
    expect(stateOf(111, 112, strict)).toBe("holds");
    expect(stateOf(4, 8, strict)).toBe("fails");
    expect(() => samplingOf(58, 0.95, 0.95)).toThrow("replications must be 59 or more, got 58");
    expect(stateOf(59, 59, samplingOf(59, 0.95, 0.95))).toBe("holds");
    expect(samplingOf(1000, 0.95, 0.95).looks).toHaveLength(16);
  });

  test("looks that share a risk add their parts of it, by the chance that none decided before", () => {
    // Both of two have a chance of 1/4, as much as a look may add. Of the four after one of two, 3 have 1/8, 2 have 1/4.
    expect(boundsOf([2, 4], 0.5, 0.5)).toEqual([
      { holds: 2, fails: 0 },
      { holds: 3, fails: 1 },
    ]);
    // No part is 1/4: the second look has both. All of four have 1/16; three more have 1/4, which is too much.
    expect(boundsOf([2, 4], 0.5, 0.3)).toEqual([
      { holds: 3, fails: -1 },
      { holds: 4, fails: 0 },
    ]);
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

  test("gives a point up that can hold no more, unless it goes on to fail", () => {
    const strict = samplingOf(128, 0.95, 0.95);
    const missing = (misses: readonly number[]): Tried | undefined => {
      const variants = [{ changes: [], trigger: null, windowMs: null }];
      const trial = { variants, holds: (replication: number) => !misses.includes(replication) };
      return drive(decide([trial], new Outcomes(), strict, 0)).value[0];
    };
    expect(missing([])).toEqual({ held: 72, replications: 72, state: "holds" });
    expect(missing([3])).toEqual({ held: 111, replications: 112, state: "holds" });
    expect(missing([3, 30])).toEqual({ held: 30, replications: 32, state: "unclear" });
    expect(missing([3, 5, 6])).toEqual({ held: 37, replications: 40, state: "unclear" });
    expect(missing([3, 5, 6, 10, 20])).toEqual({ held: 19, replications: 24, state: "fails" });
  });

  test.each([0.5, 0.8, 0.95])(
    "decides wrongly no more often than it says, looks and all: %d of runs",
    (share) => {
      // Of a thing that holds in just this share of runs.
      const { holds, fails } = decided(share, samplingOf(128, 0.95, share));
      expect(holds).toBeLessThan(0.05);
      expect(fails).toBeLessThan(0.05);
      expect(Math.min(holds, fails)).toBeGreaterThan(0.005);
    },
  );
});

/** The chances that a thing which holds in a share of runs is decided at a look. */
function decided(share: number, sampling: Sampling): Record<Tried["state"], number> {
  const sums = { holds: 0, fails: 0, unclear: 0 };
  let open = new Map([[0, 1]]);
  for (let n = 1; n <= (sampling.looks.at(-1) ?? 0); n++) {
    const next = new Map<number, number>();
    for (const [held, chance] of open)
      for (const [one, part] of [
        [1, share],
        [0, 1 - share],
      ] as const)
        next.set(held + one, (next.get(held + one) ?? 0) + chance * part);
    open = next;
    if (!sampling.looks.includes(n)) continue;
    for (const [held, chance] of open) {
      const state = stateOf(held, n, sampling);
      if (state === "unclear") continue;
      sums[state] += chance;
      open.delete(held);
    }
  }
  return sums;
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
