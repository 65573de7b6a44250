// Amounts and comparisons in words: the numbers are those that were measured, each in its unit.
import { describe, expect, test } from "vitest";
import { comparisonSentences } from "../../src/plan/comparison-sentences.ts";
import { meanText, shareText, spreadText, sureText } from "../../src/plan/words.ts";
import type { PlanAlternative, PlanFigure, PlanGoal } from "../../src/summary/plan-result.ts";
import { herd } from "./worlds.ts";

const figure = (name: string, mean: number | null, half = 0): PlanFigure => ({
  figure: name,
  measured: mean === null ? 0 : 8,
  mean,
  interval: mean === null ? null : { low: mean - half, high: mean + half },
  least: mean === null ? null : mean - half,
  most: mean === null ? null : mean + half,
});

describe("an amount", () => {
  test.each([
    [0.00456, "0.46%"],
    [0.0999, "10%"],
    [0.1, "10%"],
    [0.12345, "12.3%"],
    [1, "100%"],
  ])("a share of %s is %s", (share, text) => {
    expect(shareText(share)).toBe(text);
  });

  test("of confidence has all its digits", () => {
    expect([0.95, 0.9999].map(sureText)).toEqual(["(95% confidence)", "(99.99% confidence)"]);
  });

  test("of a figure is in the figure's unit, with its spread by run", () => {
    expect(spreadText(figure("agents.waitP95Ms", 2_000, 500))).toBe("2 s on average, 1.5 s to 2.5 s by run");
    expect(spreadText(figure("refusedShare", 0.5))).toBe("50%");
    expect(spreadText(figure("gaveUp", null))).toBe("nothing to measure");
    expect([meanText(figure("admitted", 12)), meanText(figure("admitted", null))]).toEqual(["12", "–"]);
    expect(meanText(figure("agents.fairness", 0.98765))).toBe("0.988");
  });
});

describe("a comparison", () => {
  const goal = { figure: "herd.gaveUp", bound: "=0", value: 0 } as PlanGoal;

  interface Tried {
    readonly policy: string;
    readonly limits?: string;
    readonly refused: number;
    readonly gaveUp?: number;
    readonly half?: number;
    /** Half of the interval of the refused share; `null` if one run gives none. */
    readonly spread?: number | null;
    readonly held?: number;
    readonly hasFirst?: boolean;
    readonly first?: number | null;
  }
  const alternative = ({
    policy,
    limits = "as they are",
    refused,
    gaveUp = 5,
    half = 1,
    spread = 0,
    held = 0,
    hasFirst = true,
    first = refused / 2,
  }: Tried): PlanAlternative => ({
    population: policy === "as it is" ? null : "herd",
    policy,
    limits,
    asIs: policy === "as it is",
    replications: 8,
    held,
    figures: [
      {
        ...figure("herd.refusedShare", refused, spread ?? 0),
        ...(spread === null ? { interval: null } : {}),
      },
      ...(hasFirst ? [figure("herd.refusedFirstSecondShare", first)] : []),
      figure("herd.waitP95Ms", 1_000),
      figure("herd.gaveUp", gaveUp, half),
    ],
  });
  const sentences = (goals: readonly PlanGoal[], ...tried: readonly Tried[]): string[] =>
    comparisonSentences(
      {
        populations: ["herd"],
        alternatives: [{ policy: "as it is", refused: 0.4 }, ...tried].map(alternative),
      },
      herd(),
      goals,
    );
  const alone: Tried = { policy: "waitReset", refused: 0.3 };
  const jittered: Tried = { policy: "waitReset+0..5s", refused: 0.2 };

  test("says what jitter does, and which policy is refused least", () => {
    expect(sentences([], alone, jittered)).toEqual([
      "30 herd: waiting for the reset alone refuses 15% in the first second after it; with 0-5 s jitter 10%. " +
        "Over the whole run: 30% and 20%; as things stand 40%.",
      "With the limits as they are, waiting for the reset with 0-5 s jitter refuses herd least without losing more: " +
        "20% of calls, 95% of jobs within 1 s (as things stand 40%, 1 s).",
    ]);
  });

  test("names no policy of which the runs do not tell that it refuses less", () => {
    const unsure =
      "With the limits as they are, no policy that was tried surely refuses herd less than now without losing more " +
      "(as things stand 40%, 1 s).";
    expect(sentences([], { ...jittered, spread: 0.2 })[1]).toBe(unsure);
    expect(sentences([], { ...jittered, spread: null })[1]).toBe(unsure);
    expect(sentences([], { ...jittered, spread: 0.19 })[1]).toContain("refuses herd least");
  });

  test("names all policies that the runs do not tell from the one that refuses least", () => {
    expect(sentences([], { ...alone, spread: 0.05 }, { ...jittered, spread: 0.05 })[1]).toBe(
      "With the limits as they are, waiting for the reset with 0-5 s jitter and waiting for the reset alone refuse herd " +
        "least without losing more, and the runs do not tell which of them least: 20% and 30% of calls, 95% of jobs " +
        "within 1 s and 1 s (as things stand 40%, 1 s).",
    );
    expect(sentences([], { ...alone, spread: 0.05 }, { ...jittered, spread: 0.04 })[1]).toContain(
      "waiting for the reset with 0-5 s jitter refuses herd least",
    );
  });

  test("says nothing of the first second where no run has one", () => {
    const plain =
      "30 herd: waiting for the reset alone refuses 30%; with 0-5 s jitter 20%; as things stand 40%.";
    const none = { hasFirst: false };
    expect(sentences([], { ...alone, ...none }, { ...jittered, ...none })[0]).toBe(plain);
    // Under a policy the figure is there, and nothing was measured.
    expect(sentences([], { ...alone, first: null }, { ...jittered, first: null })[0]).toBe(plain);
    expect(sentences([], alone, { ...jittered, first: null })[0]).toBe(plain);
  });

  test("names no policy that surely loses more jobs, nor one that is refused as much as now", () => {
    // 5 ± 1 jobs are lost now: 8 ± 1 are surely more, 6 ± 1 are not.
    const losing = (gaveUp: number) => sentences([], { ...alone, refused: 0.4 }, { ...jittered, gaveUp });
    expect(losing(8)[1]).toContain("no policy that was tried surely refuses herd less");
    expect(losing(6)[1]).toContain("refuses herd least");
    expect(losing(7)[1]).toContain("refuses herd least");
  });

  test("says what larger limits alone bring, and takes none of them for a policy", () => {
    const own = "own (wait-reset-organization)";
    expect(
      sentences(
        [],
        { policy: own, limits: "+50%", refused: 0.1 },
        { policy: own, limits: "x2", refused: 0 },
      ).slice(1),
    ).toEqual(["Larger limits alone refuse herd 10% at +50% and 0% at x2, in place of 40%."]);
  });

  test("says with which changes the goals hold in every run", () => {
    const larger = { ...jittered, limits: "x2", held: 8 };
    expect(sentences([goal], { ...alone, held: 7 }, jittered)[0]).toBe(
      "herd.gaveUp =0 holds in 0 of 8 runs as things stand; it holds in all of them with none of the changes tried.",
    );
    const holding =
      "herd.gaveUp =0 and herd.gaveUp =0 hold in 0 of 8 runs as things stand; they hold in all of them";
    const always = { ...alone, held: 8 };
    expect(sentences([goal, goal], always, larger, { ...alone, held: 7 })[0]).toBe(
      `${holding} with waitReset for herd and waitReset+0..5s for herd and limits x2.`,
    );
    expect(sentences([goal, goal], always, larger)[0]).toBe(`${holding} with each of the 2 changes tried.`);
    const names = "waitReset for herd, waitReset+0..5s for herd and limits x2, waitReset for herd";
    expect(sentences([goal, goal], always, larger, always, always, jittered)[0]).toBe(
      `${holding} with ${names} and 1 other change.`,
    );
    expect(sentences([goal, goal], always, larger, always, always, always, jittered)[0]).toBe(
      `${holding} with ${names} and 2 other changes.`,
    );
    expect(sentences([goal, goal], always, larger, always, jittered)[0]).toBe(
      `${holding} with ${names.replace(/, (?=waitReset for herd$)/, " and ")}.`,
    );
  });
});
