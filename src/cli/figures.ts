// `spillway figures`: lists the names of a run's figures.
import { boundExamples, figureKinds, judgedFigureKinds } from "../rules/figures.ts";
import { replayFigureNames } from "../summary/replay-figures.ts";
import { openTerminal } from "./terminal.ts";
import { defineVerb } from "./verb.ts";

const unitWords = { count: "number", share: "share", ms: "time" } as const;

export const verb = defineVerb({
  name: "figures",
  summary: "list the figures that expect, --expect and --until take, with units and meanings",
  options: {},
  examples: {
    "$0 figures": "list them",
    "$0 plan herd --vary herd.clients=5..60 --until 'refusedShare<5%'": "bound one in a plan",
  },
  handler: ({ json }) => {
    const terminal = openTerminal(json);
    const found = [
      ...Object.entries(figureKinds).map(([name, kind]) => ({ name, ...kind, judged: false })),
      ...Object.entries(judgedFigureKinds).map(([name, kind]) => ({ name, ...kind, judged: true })),
    ].map((one) => ({
      ...one,
      bounds: boundExamples[one.unit],
      replay: replayFigureNames.includes(one.name),
    }));
    const widest = Math.max(...found.map(({ name }) => name.length));
    for (const { name, unit, meaning } of found)
      terminal.say(`${name.padEnd(widest)}  ${unitWords[unit].padEnd(6)}  ${meaning}`);
    const named = (fits: (one: (typeof found)[number]) => boolean): string =>
      found
        .filter(fits)
        .map(({ name }) => name)
        .join(", ");
    for (const text of [
      "",
      ...Object.entries(unitWords).map(
        ([unit, word]) => `Bounds of a ${word}: ${boundExamples[unit as keyof typeof unitWords]}.`,
      ),
      "A population's name before a figure bounds that population alone: agents.refusedShare.",
      `The judge works out ${named(({ judged }) => judged)}: a scenario's expect takes them, plan --until does not.`,
      `replay --expect takes ${named(({ replay }) => replay)}.`,
    ])
      terminal.say(text);
    terminal.result(found);
  },
});
