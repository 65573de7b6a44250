// Findings of probes, word for word, under each value of every switch that is not the default: see told.ts.
import { test } from "vitest";
import { switchValues } from "../../src/rules/switches.ts";
import { expectTold } from "./told.ts";

const worlds = Object.entries(switchValues).flatMap(([name, [, ...values]]) =>
  values.map((value) => [`${name} ${String(value)}`, { [name]: value }] as const),
);

test.each(worlds)("%s", (name, semantics) => expectTold(name, { rules: { semantics } }));
