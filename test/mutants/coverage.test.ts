// The places of a module that a test file ran, read from V8's counts.
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Coverage, spansOf, unionOf } from "./coverage.ts";
import { mutationsOf } from "./mutations.ts";
import type { Nets } from "./nets.ts";
import type { Workshop } from "./workshop.ts";

const range = (startOffset: number, endOffset: number, count: number) => ({ startOffset, endOffset, count });

test("a place was run as often as its innermost range says", () => {
  const module = range(0, 100, 1);
  const called = range(10, 50, 3);
  const branchNotTaken = range(20, 30, 0);
  const branchTakenInIt = range(22, 24, 1);
  const neverCalled = range(60, 90, 0);
  expect(spansOf([module, called, branchNotTaken, branchTakenInIt, neverCalled])).toEqual([
    0, 20, 22, 24, 30, 60, 90, 100,
  ]);
  expect(spansOf([range(0, 100, 0), range(10, 20, 1)])).toEqual([10, 20]);
  expect(spansOf([])).toEqual([]);
});

test("two processes run what either of them runs", () => {
  expect(unionOf([0, 20, 50, 60], [10, 30, 60, 70, 80, 90])).toEqual([0, 30, 50, 70, 80, 90]);
  expect(unionOf([], [5, 6])).toEqual([5, 6]);
});

test("what was measured of a test file counts until its text is another one", async () => {
  const [path, module] = ["src/one.ts", "export const one = (x: number): number => (x > 5 ? 1 : 2);\n"];
  const [was, is] = ["test/same.test.ts", "test/changed.test.ts"];
  const markOf = (text: string) => createHash("sha256").update(text).digest("base64url").slice(0, 12);
  const measured = { key: markOf("before"), ms: 1, passes: true, ran: {} };
  const loading = { ...measured, ran: { [path]: { key: markOf(module), spans: [] } } };
  const folder = await mkdtemp(join(tmpdir(), "spillway-coverage-"));
  try {
    const file = join(folder, "measured.json");
    await writeFile(file, JSON.stringify({ [was]: measured, [is]: measured, "test/other.test.ts": loading }));
    const files = new Map([
      [path, module],
      [was, "before"],
      [is, "after"],
    ]);
    const nets = { importsOf: (test: string) => [test, path] };
    const coverage = await Coverage.of({ files } as unknown as Workshop, nets as unknown as Nets, file);
    const [mutation] = mutationsOf(path, module);
    if (mutation === undefined) throw new RangeError("no mutation");
    const runs = await coverage.runnersOf(mutation);
    expect([was, is, "test/new.test.ts"].map(runs)).toEqual([false, null, null]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
