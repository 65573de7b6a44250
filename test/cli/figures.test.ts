// `spillway figures`: each figure with its unit and meaning, and which of them the judge works out.
import { expect, test } from "vitest";
import { boundExamples, figureKinds, judgedFigureKinds } from "../../src/rules/figures.ts";
import { replayFigureNames } from "../../src/summary/replay-figures.ts";
import { spillwayHere } from "../support/command.ts";

const all = { ...figureKinds, ...judgedFigureKinds };

test("figures are listed as JSON with their bounds, and with who works them out", async () => {
  const { stdout, code } = await spillwayHere(["figures", "--json"]);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    Object.entries(all).map(([name, kind]) => ({
      ...{ name, ...kind, judged: name in judgedFigureKinds, bounds: boundExamples[kind.unit] },
      replay: replayFigureNames.includes(name as never),
    })),
  ]);
});

test("figures are listed in columns, and the judge's by name", async () => {
  const { stdout } = await spillwayHere(["figures"]);
  const lines = stdout.split("\n");
  const widest = Math.max(...Object.keys(all).map((name) => name.length));
  const units = { count: "number", share: "share ", ms: "time  " };
  expect(lines.slice(0, Object.keys(all).length)).toEqual(
    Object.entries(all).map(
      ([name, { unit, meaning }]) => `${name.padEnd(widest)}  ${units[unit]}  ${meaning}`,
    ),
  );
  expect(lines.at(-3)).toBe(
    `The judge works out ${Object.keys(judgedFigureKinds).join(", ")}: a scenario's expect takes them, plan --until does not.`,
  );
});
