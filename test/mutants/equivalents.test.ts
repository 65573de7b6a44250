// Mutants that no test can see are of lines that still stand in their sources.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { equivalents, whyEquivalent } from "./equivalents.ts";

test("each is of a line that its source has, and is known by it", async () => {
  expect(equivalents.length).toBeGreaterThan(100);
  const linesOf = new Map<string, ReadonlySet<string>>();
  for (const { path } of equivalents)
    if (!linesOf.has(path)) {
      const source = await readFile(new URL(`../../${path}`, import.meta.url), "utf8");
      linesOf.set(path, new Set(source.split("\n").map((line) => line.trim())));
    }
  const stale = equivalents.filter(({ path, text }) => !linesOf.get(path)?.has(text));
  expect(stale).toEqual([]);
  for (const known of equivalents) expect(whyEquivalent(known, known.text)).toBeTypeOf("string");
});
