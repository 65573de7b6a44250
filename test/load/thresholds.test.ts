import { describe, expect, test } from "vitest";
import { measuredBy, refusalsExpected, thresholdsOf } from "../../src/load/thresholds.ts";
import { parseExpectations } from "../../src/rules/figures.ts";

const expectations = (expect: Record<string, string>) => parseExpectations(expect).expectations;

describe("expectations as k6's thresholds", () => {
  test("checks are one: each failed one is a law broken", () => {
    expect(thresholdsOf([], true)).toEqual({ checks: ["rate==1"] });
    expect(thresholdsOf([], false)).toEqual({});
  });

  test("shares and waits, of the run and of populations; what k6 cannot measure is left to the summary", () => {
    const expect_ = {
      refusedShare: "<5%",
      "agents.refusedShare": ">=1%",
      waitP95Ms: "<=2s",
      "agents.waitMaxMs": "<1m",
      fairness: ">90%",
      calls: ">10",
    };
    expect(thresholdsOf(expectations(expect_), true)).toEqual({
      checks: ["rate==1"],
      spillway_refused: ["rate<0.05"],
      "spillway_refused{scenario:agents}": ["rate>=0.01"],
      spillway_wait: ["p(95)<=2000"],
      "spillway_wait{scenario:agents}": ["max<60000"],
    });
  });

  test("two bounds of one figure are two thresholds", () => {
    const bounds = [...expectations({ waitP50Ms: ">10ms" }), ...expectations({ waitP50Ms: "<1s" })];
    expect(thresholdsOf(bounds, false)["spillway_wait"]).toEqual(["p(50)>10", "p(50)<1000"]);
  });
});

describe("a refusal is a failed request only where the scenario forbids it", () => {
  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ refusedShare: "<5%" }, true],
    [{ refused: ">0" }, true],
    [{ refused: "<=10" }, true],
    [{ "others.refused": "==0" }, true],
    [{ refused: "==0" }, false],
    [{ refused: "<1" }, false],
    [{ refusedShare: "<=0%" }, false],
    [{ "agents.refusedShare": "==0" }, false],
  ])("%o", (expect_, expected) => {
    expect(refusalsExpected(expectations(expect_), "agents")).toBe(expected);
  });
});

describe("our own metrics are kept only where an expectation needs them", () => {
  test.each<[Record<string, string>, ReturnType<typeof measuredBy>]>([
    [{}, null],
    [{ calls: ">1", fairness: ">90%" }, null],
    [{ refusedShare: "<5%" }, { refused: true, wait: false }],
    [{ "agents.waitMaxMs": "<1m" }, { refused: false, wait: true }],
    [
      { calls: ">1", waitP50Ms: "<1s", refusedShare: "<5%" },
      { refused: true, wait: true },
    ],
  ])("%o", (expect_, measured) => {
    expect(measuredBy(expectations(expect_))).toEqual(measured);
  });
});
