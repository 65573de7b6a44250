// An edge that a search found, as an answer: with an error bar where it is short, and with the runs that would make it so.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerAlong } from "../../src/plan/edge-answer.ts";
import { replicationsMost, type Sampling, stateOf, type Tried } from "../../src/plan/sampling.ts";
import type { Edge } from "../../src/plan/search.ts";

const sampling: Sampling = { share: 0.5, confidence: 0.95, looks: [8, 16] };
const edge = (holds: number | null, fails: number | null): Edge => ({
  kind: "edge",
  holds,
  fails,
  unclear: [],
});
const line = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
const nothing = (): null => null;
const tried = (shares: Readonly<Record<number, number>>) => (value: unknown) => {
  const share = shares[Number(value)];
  return share === undefined ? null : ({ held: share * 16, replications: 16, state: "unclear" } as Tried);
};

test.each(["all", "none"] as const)("%s is an answer by itself", (kind) => {
  expect(answerAlong({ kind }, sampling, line, nothing)).toEqual({ kind });
});

describe("an error bar", () => {
  test("is short over one unclear candidate, or a quarter of its greater end", () => {
    expect(answerAlong(edge(0, 2), sampling, line, nothing)).toEqual({
      kind: "value",
      value: 10,
      holds: 10,
      fails: 30,
    });
    expect(answerAlong(edge(4, 7), sampling, [1, 2, 3, 4, 75, 80, 90, 100], nothing)).toMatchObject({
      kind: "value",
    });
    expect(answerAlong(edge(4, 7), sampling, [1, 2, 3, 4, 74, 80, 90, 100], nothing)).toMatchObject({
      kind: "too-noisy",
    });
  });

  test("without one of its ends is none, and no runs would help", () => {
    const none = { kind: "too-noisy", replicationsMore: null };
    expect(answerAlong(edge(3, null), sampling, line, nothing)).toEqual({ ...none, holds: 40, fails: null });
    expect(answerAlong(edge(null, 3), sampling, line, nothing)).toEqual({ ...none, holds: null, fails: 40 });
  });

  test("that is long says by how many runs more it would be short, if shares stayed as they were", () => {
    const answer = (shares: Readonly<Record<number, number>>) =>
      answerAlong(edge(0, 9), sampling, line, tried(shares));
    // A share of 15 in 16 surely holds and one of 1 in 16 surely fails at the next doubling; those between lie on a line.
    const clear = answer({ 10: 1, 50: 0.9375, 60: 0.0625, 100: 0 });
    expect(clear).toEqual({ kind: "too-noisy", holds: 10, fails: 100, replicationsMore: 16 });
    const steady = answer({ 10: 1, 100: 0 });
    // Each doubling beyond the most runs of a point: 16, then 48, 112, ...
    expect(steady).toMatchObject({ kind: "too-noisy" });
    const { replicationsMore } = steady as { readonly replicationsMore: number };
    expect(replicationsMore).toBeGreaterThan(16);
    expect(Math.log2((replicationsMore + 16) / 16) % 1).toBe(0);
    // So near to half, only more runs than a plan makes would tell.
    expect(answer(Object.fromEntries(line.map((value) => [value, 0.505])))).toMatchObject({
      replicationsMore: null,
    });
    // Half of the runs hold everywhere: no number of runs tells.
    expect(answer(Object.fromEntries(line.map((value) => [value, 0.5])))).toMatchObject({
      replicationsMore: null,
    });
  });
});

/** The same number, place by place: the share of one that was not tried lies between those of the nearest that were. */
function moreSlowly(shares: Readonly<Record<number, number>>): number | null {
  const places = line.map((_, place) => place);
  const shareOf = (place: number): number | undefined => shares[line[place] as number];
  const shareAt = (place: number): number => {
    const isTried = (other: number): boolean => shareOf(other) !== undefined;
    const [left = 0, right = 9] = [
      places.findLast((other) => other <= place && isTried(other)),
      places.find((other) => other >= place && isTried(other)),
    ];
    const [from = 0, to = 0] = [shareOf(left), shareOf(right)];
    return left === right ? from : from + ((to - from) * (place - left)) / (right - left);
  };
  for (let runs = 32; runs <= replicationsMost; runs *= 2) {
    const states = places.map((place) => stateOf(Math.round(shareAt(place) * runs), runs, sampling));
    const low = places.findLast((place) => place === 0 || states[place] === "holds") ?? 0;
    const high = places.find((place) => place === 9 || states[place] === "fails") ?? 9;
    const [holds, fails] = [line[low] as number, line[high] as number];
    if (high - low <= 2 || Math.abs(fails - holds) <= Math.max(holds, fails) / 4) return runs - 16;
  }
  return null;
}

test("the runs that would make a bar short follow from the shares at each place", () => {
  const sixteenths = fc.integer({ min: 0, max: 16 }).map((held) => held / 16);
  const between = fc.dictionary(fc.constantFrom(...line.map(String)), sixteenths);
  fc.assert(
    fc.property(between, sixteenths, sixteenths, (some, first, last) => {
      const shares = { ...some, 10: first, 100: last };
      expect(answerAlong(edge(0, 9), sampling, line, tried(shares))).toEqual({
        ...{ kind: "too-noisy", holds: 10, fails: 100 },
        replicationsMore: moreSlowly(shares),
      });
    }),
  );
});

test("what goes to and fro is shown, by rising values", () => {
  const values = [30, 10, 20];
  expect(answerAlong({ kind: "not-monotone" }, sampling, values, tried({ 30: 1, 20: 0.5 }))).toEqual({
    kind: "not-monotone",
    evidence: [
      { value: 20, held: 8, replications: 16, state: "unclear" },
      { value: 30, held: 16, replications: 16, state: "unclear" },
    ],
  });
  expect(answerAlong({ kind: "reversed" }, sampling, values, nothing)).toEqual({
    kind: "not-monotone",
    evidence: [],
  });
});
