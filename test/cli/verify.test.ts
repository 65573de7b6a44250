// `spillway verify` as it is typed: what it reads, what it says, and how it ends.
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linesText } from "../../src/cli/verify.ts";
import type { Verdict } from "../../src/verify/verdict.ts";
import { type Ended, main, spillwayHere } from "../support/command.ts";
import { call, headerLine, line, text } from "../trace/samples.ts";

const golden = (name: string): string => new URL(`../golden/${name}.trace.ndjson`, import.meta.url).pathname;
const ok = golden("anchor-epoch-ok");
const bad = golden("status-charged-bad");

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-verify-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** `spillway verify -` with text on standard input. */
function piped(input: string | Uint8Array, words: readonly string[] = []): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, "verify", "-", ...words]);
    const ended = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      ended.stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      ended.stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code, killedBy) => resolve({ code, killedBy, ...ended }));
    child.stdin.on("error", () => undefined).end(input);
  });
}

describe("spillway verify", () => {
  test("a trace that keeps every law: exit 0, what held, and why the rest was skipped", async () => {
    const { code, stdout } = await spillwayHere(["verify", ok]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok .*: \d+ calls, \d+ windows\n/);
    expect(stdout).toMatch(/held .*conserved.*headers-present/);
    expect(stdout).toMatch(
      /skipped time-translates, never-rolls-back, snapshot-equals: one run cannot show it/,
    );
  });

  test("on what each law was tested, and that an ok rests on little", async () => {
    const { stdout } = await spillwayHere(["verify", ok]);
    expect(stdout).toMatch(/\n {4}conserved +52 readings, 12 refusals, 11 windows, 5 resets\n/);
    const little = await piped(text(headerLine, line({ call: 0 })));
    expect(little.code).toBe(0);
    expect(little.stdout).toMatch(
      /^ok standard input: 1 call, 2 windows, on little evidence: only 2 readings .* so call more; no refusal .* so load more; .* so run longer\n/,
    );
  });

  test("one that breaks a law: exit 1, the sentence, the lines, the likely fault", async () => {
    const { code, stdout } = await spillwayHere(["verify", bad]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/violated conserved acme, rest, the window until 2026-01-02/);
    expect(stdout).toMatch(/lines? [\d, ]+; likely status-charged/);
  });

  test.each([
    [1, "line 1"],
    [2, "lines 1, 2"],
    [12, "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"],
    [13, "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ..."],
  ])("names %i lines as %s", (count, said) => {
    expect(linesText(Array.from({ length: count }, (_, at) => at + 1))).toBe(said);
  });

  test("--json prints the verdict alone, --out writes it", async () => {
    const out = join(folder, "deep", "verdict.json");
    const { code, stdout } = await spillwayHere(["verify", bad, "--json", "--out", out]);
    expect(code).toBe(1);
    const expected = JSON.parse(
      await readFile(bad.replace("trace.ndjson", "verdict.json"), "utf8"),
    ) as Verdict;
    expect(JSON.parse(stdout)).toEqual(expected);
    expect(JSON.parse(await readFile(out, "utf8"))).toEqual(expected);
  });

  test("--out writes the verdict as a page, Markdown and JUnit, by the file's ending", async () => {
    const outs = ["page.html", "verdict.md", "junit.xml"].map((name) => join(folder, name));
    const { code } = await spillwayHere(["verify", bad, ...outs.flatMap((out) => ["--out", out])]);
    expect(code).toBe(1);
    const [page = "", markdown = "", junit = ""] = await Promise.all(
      outs.map((out) => readFile(out, "utf8")),
    );
    expect(page).toMatch(/^<!doctype html>[\s\S]*<h3>conserved: <bdi>acme/);
    expect(markdown).toMatch(/^## ❌ .*conserved/);
    expect(junit).toMatch(/^<\?xml[\s\S]*<failure/);
  });

  test.each([
    [["--out", "verdict.pdf"], "a file ending in .json, .html, .md, .xml"],
    [["--expect", "refused<1%"], "'overAdmission<1%', with a share of your own"],
    [["--expect", "overAdmission<<1"], "'overAdmission<1%', with a share of your own"],
  ])("%j: exit 2, before anything is read", async (words, allowed) => {
    const { code, stdout, stderr } = await spillwayHere(["verify", "no-such-trace", ...words]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(allowed);
  });

  test("takes gzip, standard input, and a run's folder", async () => {
    const bytes = await readFile(ok);
    expect((await spillwayHere(["verify", await file("ok.ndjson.gz", gzipSync(bytes))])).code).toBe(0);
    expect((await piped(bytes)).code).toBe(0);
    expect((await piped(gzipSync(bytes), ["--json"])).code).toBe(0);
    await mkdir(join(folder, "run"));
    await file("run/trace.ndjson", bytes);
    expect((await spillwayHere(["verify", join(folder, "run")])).code).toBe(0);
  });

  test("nothing that could be judged: exit 2 and why", async () => {
    const empty = await file("empty.ndjson", text(headerLine));
    const { code, stdout } = await spillwayHere(["verify", empty]);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^unknown .*: 0 calls, 0 windows\n/);
    expect(stdout).toContain("Nothing in this trace could be judged");
  });

  test("lines far out of order: exit 2 and the next step, which helps", async () => {
    const early = call().received - 200_000;
    const path = await file(
      "order.ndjson",
      text(headerLine, line({ call: 0 }), line({ call: 1, sent: early - 5, received: early })),
    );
    const { code, stderr } = await spillwayHere(["verify", path]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/TRACE_INVALID.*\n.*line 3: received.*\n.*--sort/);
    expect((await spillwayHere(["verify", path, "--sort"])).code).toBe(0);
  });

  test.each([
    ["a missing file", () => Promise.resolve(join(folder, "none.ndjson")), "FILE_UNREADABLE"],
    ["a folder without a trace", () => Promise.resolve(folder), "FILE_UNREADABLE"],
    ["an empty file", () => file("void.ndjson", ""), "TRACE_INVALID"],
    ["HTML", () => file("page.html", "<!doctype html>\n<p>"), "TRACE_INVALID"],
    [
      "gzip cut short",
      () => file("cut.gz", gzipSync(text(headerLine, line())).subarray(0, 40)),
      "TRACE_INVALID",
    ],
  ])("%s: exit 2 and a coded error", async (_, path, expected) => {
    const { code, stdout, stderr } = await spillwayHere(["verify", await path()]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toContain(expected);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});
