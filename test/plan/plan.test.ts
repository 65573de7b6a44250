// Whole plans over scenarios whose answers can be worked out by hand, and over noise whose truth is known. It takes
// long: an answer takes hundreds of simulated runs.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { replicationSeed } from "../../src/plan/job.ts";
import { plan } from "../../src/plan/plan.ts";
import type { Scenario } from "../../src/scenario/scenario.ts";
import { crowd, herd } from "./worlds.ts";

describe("one axis", () => {
  test("the largest crowd of which nobody is refused is the limit, whatever the limit is", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 59 }), (limit) => {
        const { answer } = plan(crowd({ limit }), { vary: ["crowd.clients=1..60"], until: ["refused==0"] });
        expect(answer).toEqual({ kind: "value", value: limit, holds: limit, fails: limit + 1 });
      }),
      { numRuns: 5 },
    );
  });

  test("the smallest limit under which nobody of 25 is refused is 25: limits are searched from above", () => {
    const result = plan(crowd({ clients: 25 }), {
      vary: ["rules.organization.rest.limit=1..100"],
      until: ["refused==0"],
    });
    expect(result.answer).toEqual({ kind: "value", value: 25, holds: 25, fails: 24 });
    expect(result.question.find).toBe("smallest");
    expect(result.sentences[0]).toBe(
      "rules.organization.rest.limit = 25 is the smallest for which refused ==0 surely holds in 95% of runs; at 24 it fails (95% confidence).",
    );
  });

  test("a guess of the wrong end is set right by what is measured; one that was given is not", () => {
    // The more are refused the more clients there are: "at least 10 refused" holds from 30 clients on.
    const asked = { vary: ["crowd.clients=1..60"], until: ["refused>=10"] };
    const guessed = plan(crowd(), asked);
    expect(guessed.answer).toEqual({ kind: "value", value: 30, holds: 30, fails: 29 });
    expect(guessed.question.find).toBe("smallest");
    expect(guessed.notes).toContain(
      "the smallest value is looked for, since the larger values of crowd.clients are those that hold; --find says otherwise",
    );
    const given = plan(crowd(), { ...asked, find: "largest" });
    expect(given.answer?.kind).toBe("not-monotone");
    expect(given.sentences[0]).toContain("ask for the other end (--find smallest)");
    expect(given.notes.join()).not.toContain("--find says otherwise");
    // Of 10 clients, at least 3 are refused under limits up to 7.
    const limited = plan(crowd(), { vary: ["rules.organization.rest.limit=1..20"], until: ["refused>=3"] });
    expect(limited.answer).toMatchObject({ value: 7 });
    expect(limited.notes).toContain(
      "the largest value is looked for, since the smaller values of rules.organization.rest.limit are those that hold; --find says otherwise",
    );
  });

  test("all hold, none holds", () => {
    const all = plan(crowd(), { vary: ["crowd.clients=1..20"], until: ["refused==0"] });
    expect(all.answer).toEqual({ kind: "all" });
    expect(all.sentences[0]).toContain("the largest value is 20, or lies beyond that range");
    const one = plan(crowd(), { vary: ["crowd.clients=7"], until: ["refused==0"] });
    expect(one.sentences[0]).toBe("refused ==0 holds in 95% of runs all over crowd.clients = 7.");
    const none = plan(crowd(), { vary: ["crowd.clients=21..40"], until: ["refused==0"] });
    expect(none.answer).toEqual({ kind: "none" });
    expect(none.sentences[0]).toBe(
      "refused ==0 holds in 95% of runs at none of 9 points tried in crowd.clients = 21..40.",
    );
  });

  test("an answer that is not monotone is told with its evidence", () => {
    // Between 5 and 15 refused: holds for 25 to 35 clients alone.
    const result = plan(crowd(), { vary: ["crowd.clients=1..61"], until: ["refused<5", "refused<=15"] });
    expect(result.answer).toMatchObject({ kind: "value", value: 24 });
    const island = plan(crowd(), { vary: ["crowd.clients=10..60:10"], until: ["refused>5", "refused<15"] });
    expect(island.answer).toMatchObject({
      kind: "not-monotone",
      evidence: [
        { value: 10, state: "fails", held: 0 },
        { value: 20, state: "fails" },
        { value: 30, state: "holds", held: 72, replications: 72 },
        { value: 40, state: "fails" },
        { value: 50, state: "fails" },
        { value: 60, state: "fails" },
      ],
    });
    expect(island.sentences[0]).toContain("fail from 10, hold from 30 and fail from 40 on");
  });

  test("goals that hold between two points of the grid alone are found by a finer look", () => {
    const asked = { vary: ["crowd.clients=1..81"], until: ["refused>=2", "refused<=6"] };
    const { answer, sentences } = plan(crowd(), asked);
    expect(answer).toMatchObject({ kind: "not-monotone" });
    expect(sentences[0]).toMatch(/hold from 2[2-6] /);
  });

  test("what must hold in 95% of runs takes more of them than what must hold in most", () => {
    const asked = { vary: ["crowd.clients=1..40"], until: ["refused==0"] };
    const sure = plan(crowd(), asked);
    const mostly = plan(crowd(), { ...asked, inRuns: 0.5 });
    expect(sure.answer).toEqual(mostly.answer);
    expect([sure.question.replicationsMost, mostly.question.replicationsMost]).toEqual([128, 64]);
    expect(mostly.sentences[0]).toContain("surely holds in 50% of runs; at 21 it fails");
    const at20 = sure.points.find(({ values }) => values[0] === 20);
    expect(at20).toMatchObject({ state: "holds", held: 72, replications: 72 });
  });

  test("intervals of a fitted scenario are wider by the error that the fit found in itself", () => {
    const asked = { vary: ["herd.clients=20,30"] };
    const figuresOf = (scenario: Scenario) =>
      new Map(plan(scenario, asked).points[0]?.figures.map((one) => [one.figure, one]));
    const fitted = { ...herd(), fitError: { calls: 0.1, refused: -0.5, waitP95Ms: 0 } };
    const [plain, wide] = [figuresOf(herd()), figuresOf(fitted)];
    const share = plain.get("refusedShare")?.interval ?? { low: 0, high: 0 };
    expect(share.high).toBeGreaterThan(0);
    expect(wide.get("refusedShare")?.interval).toEqual({ low: share.low * 0.5, high: share.high / 0.5 });
    expect(wide.get("refusedShare")?.mean).toBe(plain.get("refusedShare")?.mean);
    expect(wide.get("waitP95Ms")).toEqual(plain.get("waitP95Ms"));
    expect(wide.get("fairness")).toEqual(plain.get("fairness"));
    expect(plan(fitted, asked).notes).toContain(
      "the fit of this scenario simulated calls by 10% too low, refusals by 50% too high: intervals are wider by that, and a goal counts as kept only where it holds in spite of it",
    );
  });

  test("what the recording behind a fitted scenario does not tell is repeated where calls are refused", () => {
    const fitError = {
      calls: 0,
      refused: 0,
      waitP95Ms: 0,
      untold: ["reactions", "attempts", "caller"] as const,
    };
    const notesOf = (clients: string): string =>
      plan({ ...crowd(), fitError }, { vary: [`crowd.clients=${clients}`] }).notes.join("\n");
    expect(notesOf("30,40")).toMatch(
      /^what callers do when refused was not seen .* --vary crowd\.onRefused=none,waitReset,exponential\nnobody gave a call up when .*\none caller had most of the refusals/m,
    );
    expect(notesOf("1,2")).not.toContain("refus");
  });

  test("a goal is kept only where it holds in spite of the error that the fit found", () => {
    const largest = (refused: number, until: string): number | null => {
      const scenario = { ...crowd(), fitError: { calls: 0, refused, waitP95Ms: 0 } };
      const { answer } = plan(scenario, { vary: ["crowd.clients=1..60"], until: [until] });
      return answer?.kind === "value" ? answer.value : null;
    };
    // Twenty of so many are admitted: a half is refused from forty on, a quarter from 27 on.
    expect(largest(0, "crowd.refused < 50%")).toBe(39);
    // The fit simulated half of what was refused: half of all is refused where it simulates a quarter.
    expect(largest(0.5, "crowd.refused < 50%")).toBe(26);
    // It simulated more than was refused: nothing is taken off.
    expect(largest(-0.5, "crowd.refused < 50%")).toBe(39);
  });

  test("refused<50% means the share of calls", () => {
    const { question, answer } = plan(crowd(), {
      vary: ["crowd.clients=1..60"],
      until: ["crowd.refused < 50%"],
    });
    expect(question.goals).toEqual([{ figure: "crowd.refusedShare", bound: "< 50%", value: 0.5 }]);
    expect(answer).toMatchObject({ value: 39 });
  });

  test("choices have no order: which hold is told", () => {
    const { answer, sentences } = plan(crowd({ clients: 30 }), {
      vary: ["rules.organization.rest.enforced=true,false"],
      until: ["refused==0"],
    });
    expect(answer).toEqual({ kind: "choices", holding: ["false"], failing: ["true"], unclear: [] });
    expect(sentences).toEqual(["refused ==0 holds with false and fails with true."]);
  });

  test("without a goal the scenario's expectations are the goals; without these a grid is measured", () => {
    expect(plan(herd(3), { vary: ["herd.clients=1..3"] }).question.goals).toEqual([
      { figure: "quiet.refused", bound: "==0", value: 0 },
    ]);
    const { answer, points, notes } = plan(crowd(), { vary: ["crowd.clients=1..100"] });
    expect(answer).toBeNull();
    expect(points.map(({ values }) => values[0])).toEqual([1, 13, 26, 38, 51, 63, 75, 88, 100]);
    expect(points.at(-1)).toMatchObject({ replications: 8, held: null, heldShare: null, state: null });
    expect(notes[0]).toContain("the scenario expects nothing");
  });

  test("the first replication is the scenario's own seed; the others are others, the same at every point", () => {
    expect(replicationSeed(30, 0)).toBe(30);
    const seeds = Array.from({ length: 1_000 }, (_, replication) => replicationSeed(30, replication));
    expect(new Set(seeds).size).toBe(1_000);
    expect(seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0)).toBe(true);
    // Of all whole numbers below 2^53.
    expect(Math.max(...seeds)).toBeGreaterThan(0.98 * 2 ** 53);
    expect(Math.min(...seeds.slice(1))).toBeLessThan(0.02 * 2 ** 53);
    expect(replicationSeed(31, 1)).not.toBe(replicationSeed(30, 1));
  });
});
