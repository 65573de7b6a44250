// A fit's check in words and as a table; and its recorded figures, counted anew from the recording.
import { describe, expect, test } from "vitest";
import { checkSteps } from "../../sim/fit/check.ts";
import type { CheckRow, FitCheck } from "../../sim/fit/check-result.ts";
import { checkedText, checkTable, checkText, findingText } from "../../sim/fit/check-text.ts";
import { fitTo } from "../../sim/fit/fit.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { poller } from "../../src/scenario/behaviours/poller.ts";
import { rest } from "../../src/scenario/calls.ts";
import { waitReset } from "../../src/scenario/retries/wait-reset.ts";
import { resultOf } from "../support/result-of.ts";
import { traced, world } from "./recordings.ts";

const row = (members: Partial<CheckRow>): CheckRow => ({
  population: null,
  figure: "calls",
  recorded: 1_234,
  least: 1_100,
  middle: 1_200,
  most: 1_300,
  off: false,
  ...members,
});
const check = (members: Partial<FitCheck>): FitCheck => ({
  seeds: 20,
  rows: [],
  error: { calls: 0, refused: 0, waitP95Ms: 0 },
  why: null,
  findings: [],
  ...members,
});

describe("words", () => {
  test("a figure that is off is said with what simulations have", () => {
    expect(findingText(row({}))).toBe("all: calls: 1,234 recorded, 1,100 to 1,300 simulated");
    expect(
      findingText(row({ population: "agents", figure: "refused", recorded: 3, least: 0.2, most: 0.4 })),
    ).toBe("agents: refused: 3 recorded, 0 simulated");
    expect(checkedText("waitP95Ms")).toBe("p95 wait, ms");
    expect(checkedText("busiest")).toBe("calls of the busiest window");
  });

  test("the first line has the first of them, and counts the others", () => {
    expect(checkText(check({ seeds: 1 }))).toBe(
      "check: 1 simulation of the scenario are as the recording, within chance",
    );
    expect(checkText(check({ findings: ["a"] }))).toBe("check: off by more than chance: a");
    expect(checkText(check({ findings: ["a", "b"] }))).toBe(
      "check: off by more than chance: a; and 1 other figure",
    );
    expect(checkText(check({ findings: ["a", "b", "c"] }))).toContain("; and 2 other figures");
  });

  test("the table has the whole first, then six populations, and a mark at what is off", () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const rows = [
      ...names.map((population) => row({ population })),
      row({ figure: "waitP50Ms", recorded: 1_500, off: true }),
    ];
    const lines = checkTable(check({ rows }));
    expect(lines[0]?.trim().split(/ {2,}/)).toEqual(["recorded", "simulated", "of all simulations"]);
    expect(lines[1]).toMatch(/^ {2}all: median wait {2,}1500ms {2,}1200ms {2}1100ms to 1300ms !$/);
    expect(lines.slice(2, 8).map((line) => line.trim().split(/ {2,}/))).toEqual(
      names.slice(0, 6).map((name) => [`${name}: calls`, "1,234", "1,200", "1,100 to 1,300"]),
    );
    expect(lines.slice(8)).toEqual(["  (2 other populations in --json and --report)"]);
    expect(new Set(lines.slice(0, 8).map((line) => line.search(/of all|\S+ to /))).size).toBe(1);
  });
});

test("recorded figures are the recording's, counted anew", () => {
  const agents = {
    clients: 30,
    startWithin: "5s",
    behaviour: poller({ every: "5s", call: rest("/v2/user") }),
    onRefused: waitReset({ of: "both" }),
  };
  const recording = traced(world({ agents }));
  const rules = recording.rules ?? parseRules({});
  const fit = fitTo(recording, { rules });
  const windowMs = rules.organization.rest.windowSeconds * 1000;
  const { rows } = resultOf(checkSteps(fit, 1));

  const calls = recording.callers.flatMap((caller) => caller.calls);
  const countBy = (counted: typeof calls): number[] => {
    const first = Math.floor(fit.model.startAtMs / windowMs);
    const windows = Array.from(
      { length: Math.ceil(recording.endedAtMs / windowMs) - first },
      (_, at) => counted.filter(({ atMs }) => Math.floor(atMs / windowMs) === first + at).length,
    );
    return windows.sort((a, b) => a - b);
  };
  const rank = (values: readonly number[], share: number): number =>
    values[Math.ceil(share * values.length) - 1] ?? 0;
  const admitted = countBy(calls.filter(({ status }) => status === 200));
  expect(admitted.length).toBeGreaterThan(3);
  const recorded = Object.fromEntries(
    rows.flatMap(({ population, figure, recorded }) => (population === null ? [[figure, recorded]] : [])),
  );
  expect(recorded).toMatchObject({
    calls: calls.length,
    refused: calls.filter(({ status }) => status === 429).length,
    admittedP50: rank(admitted, 0.5),
    admittedP95: rank(admitted, 0.95),
    admittedMost: admitted.at(-1),
    busiest: countBy(calls).at(-1),
  });
});
