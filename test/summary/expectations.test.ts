// Expectations of a scenario: as they are written, and as they end.
import { describe, expect, it } from "vitest";
import { SpillwayError } from "../../src/rules/errors.ts";
import {
  figureNames,
  judgedFigureKinds,
  parseExpectation,
  parseExpectations,
  parseFigure,
} from "../../src/rules/figures.ts";
import { figure, judgeExpectations } from "../../src/summary/expectations.ts";
import { summarize } from "../../src/summary/summarizer.ts";
import { traceCall, traceHeader } from "./traces.ts";

describe("the syntax of a bound", () => {
  it.each([
    ["refusedShare", "<5%", "<", 0.05],
    ["refusedShare", "<= 2.5 %", "<=", 0.025],
    ["refusedShare", "<0.05", "<", 0.05],
    ["refused", "==0", "==", 0],
    ["refused", "=0", "==", 0],
    ["admitted", ">=100", ">=", 100],
    ["admitted", "> 100", ">", 100],
    ["waitP95Ms", "<=2s", "<=", 2000],
    ["waitP95Ms", "<250ms", "<", 250],
    ["waitP95Ms", "<250", "<", 250],
    ["waitMaxMs", "<1m30s", "<", 90_000],
    ["fairness", ">=0.9", ">=", 0.9],
  ])("reads %s %s", (name, bound, operator, value) => {
    expect(parseExpectation(name, bound)).toEqual({
      figure: name,
      population: null,
      name,
      bound,
      operator,
      value,
    });
  });

  it.each([
    ["refused", "0"],
    ["refused", "<"],
    ["refused", "<5%"],
    ["refused", "<-1"],
    ["refused", "<1e3"],
    ["refused", "<2s"],
    ["refusedShare", "<5"],
    ["refusedShare", "<120%"],
    ["refusedShare", "<5s"],
    ["waitP95Ms", "<2 parsecs"],
    ["waitP95Ms", "<5%"],
    ["waitP95Ms", "!=2s"],
    ["refused", 5],
    ["refused", null],
  ])("refuses %s %j, quoting it and showing what is allowed", (name, bound) => {
    const problem = parseExpectation(name, bound);
    expect(problem).toMatchObject({ path: name, got: bound === null ? "null" : JSON.stringify(bound) });
    expect((problem as { allowed: string }).allowed).not.toBe("");
  });

  it("reads a population's figure, whose name may have dots", () => {
    expect(parseFigure("eu.agents.gaveUp")).toEqual({ population: "eu.agents", name: "gaveUp" });
  });

  it("suggests the nearest figure and the nearest population", () => {
    expect(parseFigure("refusdShare")).toMatchObject({ allowed: '"refusedShare", if that was meant' });
    expect(parseFigure("agent.refused", ["agents", "noisy"])).toMatchObject({
      got: '"agent"',
      allowed: '"agents", if that was meant',
    });
    const all = [...figureNames, ...Object.keys(judgedFigureKinds)].join(", ");
    expect(parseFigure("speed")).toMatchObject({ allowed: `one of ${all}` });
  });

  it("knows the figures that only the oracle tells, of the whole run alone", () => {
    expect(parseExpectation("overAdmission", "<1%")).toMatchObject({
      name: "overAdmission",
      operator: "<",
      value: 0.01,
    });
    expect(parseFigure("agents.overAdmission", ["agents"])).toMatchObject({
      allowed: "overAdmission, of the whole run",
    });
  });

  it("finds every mistake of a scenario's expectations, by its place", () => {
    const { expectations, problems } = parseExpectations(
      { refused: "==0", "robots.refused": "==0", waitP5Ms: "<1s", fairness: "high" },
      ["agents"],
    );
    expect(expectations.map(({ figure }) => figure)).toEqual(["refused"]);
    expect(problems.map(({ path }) => path)).toEqual([
      'expect["robots.refused"]',
      'expect["waitP5Ms"]',
      'expect["fairness"]',
    ]);
  });
});

describe("judging", () => {
  const calls = Array.from({ length: 20 }, (_, index) =>
    traceCall({ call: index, sent: 0, received: 100, status: index === 0 ? 429 : 200 }),
  );
  const summary = summarize(traceHeader(), calls);

  it("holds or breaks each bound, in the scenario's order", () => {
    const expected = {
      refusedShare: "<5%",
      refused: "<=1",
      "agents.waitP95Ms": "<=100ms",
      admitted: ">=20",
    };
    expect(judgeExpectations(expected, summary)).toEqual([
      { figure: "refusedShare", bound: "<5%", actual: 0.05, held: false },
      { figure: "refused", bound: "<=1", actual: 1, held: true },
      { figure: "agents.waitP95Ms", bound: "<=100ms", actual: 100, held: true },
      { figure: "admitted", bound: ">=20", actual: 19, held: false },
    ]);
  });

  it("holds nothing of what could not be measured", () => {
    const nothing = summarize(traceHeader(), []);
    expect(judgeExpectations({ refusedShare: "<5%", "ghosts.refused": "==0" }, nothing)).toMatchObject([
      { actual: null, held: false },
      { actual: null, held: false },
    ]);
  });

  it("takes what only the oracle tells from the verdict; without one it holds nothing", () => {
    const expected = { overAdmission: "<1%", wronglyRefused: "==0", stalenessMs: "<1s" };
    const judged = { overAdmission: 0.004, wronglyRefused: 2, stalenessMs: 40 };
    expect(judgeExpectations(expected, summary, judged).map(({ held }) => held)).toEqual([true, false, true]);
    expect(judgeExpectations(expected, summary)).toMatchObject(
      Array.from({ length: 3 }, () => ({ actual: null, held: false })),
    );
    expect(figure(summary, "overAdmission", judged)).toBe(0.004);
  });

  it("reports expectations that cannot be read with their code", () => {
    expect(() => judgeExpectations({ refused: "few" }, summary)).toThrowError(
      expect.objectContaining({ code: "SCENARIO_INVALID" }),
    );
  });

  it("answers for a figure by name, and suggests one for a name that is none", () => {
    expect(figure(summary, "waitMaxMs")).toBe(100);
    expect(() => figure(summary, "agnts.refused")).toThrowError(SpillwayError);
    expect(() => figure(summary, "agnts.refused")).toThrowError(/"agents"/);
    expect(() => figure(summary, ".refused")).toThrowError(SpillwayError);
  });
});
