// Options of verify: traces by their names, what is accepted, and documents by their endings.

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keptTerms, linesText, openNamed, overAdmission, writerOf } from "../../src/cli/verify.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { fixture } from "../report/fixtures.ts";
import { recorded } from "../support/recorded.ts";
import { TypedIn } from "./typed.ts";

const golden = fileURLToPath(new URL("../golden/documented-ok.trace.ndjson", import.meta.url));
const { run } = fixture();
let folder = "";
const file = (...name: string[]) => join(folder, ...name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-verify-options-"));
  await mkdir(file("run"));
  await cp(golden, file("run", "trace.ndjson"));
  await writeFile(file("run", "run.json"), JSON.stringify(run.record));
  await mkdir(file("bare"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["overAdmission<1%", { overAdmission: "<1%" }],
  [" overAdmission <= 0.5% ", { overAdmission: "<= 0.5% " }],
])("%s is accepted", (written, expected) => {
  expect(overAdmission(written)).toEqual(expected);
});

test.each(["overAdmission", "refused<1%", "overAdmission<x", "<1%", ""])(
  "%j is no bound to accept",
  (written) => {
    expect(() => overAdmission(written)).toThrow(
      expect.objectContaining({
        problems: [
          {
            ...{ path: "--expect", got: JSON.stringify(written) },
            allowed: "'overAdmission<1%', with a share of your own",
          },
        ],
      }),
    );
  },
);

test("a run's folder has expectations of its own; a trace has none", async () => {
  expect((await keptTerms(file("run"))).expect).toEqual(run.record.expect);
  for (const name of ["-", golden, file("bare"), file("none")])
    expect(await keptTerms(name)).toEqual({ expect: {} });
});

test("a document is written in the form of its ending", async () => {
  const verdict = run.verdict as Verdict;
  const written = async (name: string) => {
    await writerOf(file(name))("-", verdict);
    return readFile(file(name), "utf8");
  };
  expect(await written("v.json")).toBe(`${JSON.stringify(verdict, null, 2)}\n`);
  expect(await written("V.HTML")).toMatch(/^<!doctype html>/i);
  expect(await written("v.md")).toContain("-");
  expect(await written("v.xml")).toMatch(/^<\?xml/);
  expect(() => writerOf("v.txt")).toThrow(
    expect.objectContaining({
      problems: [{ path: "--out", got: '"v.txt"', allowed: "a file ending in .json, .html, .md, .xml" }],
    }),
  );
});

test("a trace is a file's or a run's folder's", async () => {
  const opened = async (name: string) => {
    const kept = recorded();
    const { signal } = new AbortController();
    const { first, close } = await openNamed(name, false, signal, kept.terminal);
    const { version } = await first;
    await close();
    return [version, kept.lines];
  };
  expect(await opened(golden)).toEqual([1, []]);
  expect(await opened(file("run"))).toEqual([1, []]);
  await expect(opened(file("bare"))).rejects.toMatchObject({
    problems: [{ path: file("bare", "trace.ndjson"), got: "no such file" }],
  });
  await expect(opened(file("none"))).rejects.toMatchObject({ problems: [{ path: file("none") }] });
});

test("lines are named to the twelfth", () => {
  const lines = Array.from({ length: 13 }, (_, at) => at + 1);
  expect([linesText([3]), linesText([3, 5]), linesText([])]).toEqual(["line 3", "lines 3, 5", "lines "]);
  expect(linesText(lines.slice(1))).toBe("lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13");
  expect(linesText(lines)).toBe("lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ...");
});

describe("as it is typed", () => {
  let here: TypedIn;
  beforeAll(async () => {
    const bad = golden.replace("documented-ok", "one-extra-bad");
    here = await TypedIn.of({
      "ok.ndjson": await readFile(golden, "utf8"),
      "bad.ndjson": await readFile(bad, "utf8"),
    });
  });
  afterAll(() => here.remove());
  const verify = (words: string) => here.run(`verify ${words}`);

  test("a verdict is said, written, and its status is set", async () => {
    const fine = await verify("ok.ndjson --out v.json --out v.md");
    expect([fine.code, fine.said[0], fine.said.at(-1)]).toEqual([
      0,
      expect.stringMatching(/^ok ok\.ndjson: [\d,]+ calls, \d+ windows/),
      "wrote v.json, v.md",
    ]);
    const bad = await verify("bad.ndjson --json");
    expect([bad.code, bad.json()]).toEqual([1, expect.objectContaining({ verdict: "violated" })]);
    expect(bad.aside[0]).toMatch(/^violated bad\.ndjson: /);
    expect(bad.aside.at(-1)).not.toMatch(/^wrote/);
    const accepted = await verify("bad.ndjson --expect overAdmission<99% --json");
    expect(accepted.json()).toHaveProperty("accepted");
    expect((await verify("ok.ndjson --open --out v.md")).aside).toEqual([
      "error USAGE --open needs an .html file in --out, which it opens",
    ]);
  });
});
