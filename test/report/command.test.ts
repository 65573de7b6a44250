// `spillway report`: what it says, where it writes, what it makes of a folder that is none.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runCommand } from "../../src/cli/command-line.ts";
import { writeRun } from "../../src/report/result-writer.ts";
import { fixture } from "./fixtures.ts";
import { replayed, searched } from "./results.ts";

const one = fixture({ seconds: 6 });
const other = fixture({ seconds: 6, latencyMs: 5, record: { driver: "simulator" } });
let root: string;
let run: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "spillway-report-"));
  run = join(root, "run");
  await writeRun(run, { ...one.run, trace: one.lines });
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

/** Runs the verb as main.ts does; what it printed on each stream. */
async function report(...words: string[]): Promise<{ out: string; err: string }> {
  const printed = { out: "", err: "" };
  const capture = (stream: "out" | "err") => (text: string | Uint8Array) => {
    printed[stream] += text;
    return true;
  };
  const out = vi.spyOn(process.stdout, "write").mockImplementation(capture("out"));
  const err = vi.spyOn(process.stderr, "write").mockImplementation(capture("err"));
  try {
    await runCommand(["report", ...words]);
  } finally {
    out.mockRestore();
    err.mockRestore();
  }
  return printed;
}

it("makes the documents and says where they are", async () => {
  const { out } = await report(run);
  expect(out).toContain("fleet");
  expect(out).toContain("No law is broken");
  for (const name of ["report.html", "summary.md", "junit.xml"]) {
    expect(out).toContain(join(run, name));
    expect(existsSync(join(run, name))).toBe(true);
  }
  expect(existsSync(join(run, "pictures", "traffic.csv"))).toBe(true);
});

it("puts the page elsewhere, its pictures beside it, and another run into it", async () => {
  const beside = join(root, "simulated");
  await writeRun(beside, { ...other.run, trace: other.lines });
  const page = join(root, "new", "page.html");
  const { out } = await report(run, "--compare", beside, "--out", page);
  expect(out).toContain(page);
  expect(existsSync(page)).toBe(true);
  expect(existsSync(join(run, "report.html"))).toBe(false);
  expect(existsSync(join(root, "new", "page-pictures", "compared-waits.svg"))).toBe(true);
  expect(existsSync(join(run, "pictures"))).toBe(false);
});

it("replaces no file of its folder by the page", async () => {
  const trace = join(run, "trace.ndjson");
  const before = await readFile(trace, "utf8");
  await expect(report(run, "--out", trace)).rejects.toMatchObject({
    code: "USAGE",
    problems: [{ path: "--out", got: expect.stringContaining("trace.ndjson") }],
  });
  expect(await readFile(trace, "utf8")).toBe(before);
  const page = join(run, "page.html");
  expect((await report(run, "--out", page)).out).toContain(page);
});

it("prints the paths as JSON, and nothing else, on standard output", async () => {
  const { out, err } = await report(run, "--json", "--no-pictures");
  expect(JSON.parse(out)).toEqual({
    html: join(run, "report.html"),
    markdown: join(run, "summary.md"),
    junit: join(run, "junit.xml"),
    pictures: [],
  });
  expect(err).toContain("No law is broken");
});

it("names what is wrong with a folder: not there, a file, not a run's, broken", async () => {
  const failure = { code: "FILE_UNREADABLE", exitCode: 2 };
  await expect(report(join(root, "nowhere"))).rejects.toMatchObject(failure);
  await expect(report(join(run, "run.json"))).rejects.toMatchObject(failure);
  await expect(report(root)).rejects.toMatchObject({
    ...failure,
    problems: [{ path: join(root, "run.json"), got: "no such file" }],
  });
  await expect(report(run, "--compare", root)).rejects.toMatchObject(failure);
  await writeFile(join(run, "summary.json"), "{}");
  await expect(report(run)).rejects.toMatchObject({ code: "RUN_INVALID", exitCode: 2 });
});

it("refuses a folder for the page before anything is written", async () => {
  const before = await readdir(root);
  await expect(report(run, "--out", root)).rejects.toMatchObject({
    code: "FILE_UNWRITABLE",
    problems: [{ path: root, got: "a folder" }],
  });
  await expect(report(run, "--out", join(root, "elsewhere/"))).rejects.toMatchObject({
    code: "FILE_UNWRITABLE",
    problems: [{ got: "a folder", allowed: "the path of an .html file" }],
  });
  expect(await readdir(root)).toEqual(before);
  expect(await readdir(dirname(root))).not.toContain(`${basename(root)}-pictures`);
});

it("leaves no pictures of an earlier page elsewhere behind", async () => {
  const html = join(root, "page.html");
  await report(run, "--out", html);
  const stale = join(root, "page-pictures", "stale.svg");
  await writeFile(stale, "");
  await writeFile(html, `${await readFile(html, "utf8")}<a href="page-pictures/stale.svg">`);
  await report(run, "--out", html);
  expect(existsSync(stale)).toBe(false);
});

it("wants a folder", async () => {
  await expect(report()).rejects.toThrow(/report needs FOLDER/);
});

it("makes the documents of a plan and of a replay, and compares neither with a run", async () => {
  const plan = join(root, "plan");
  await mkdir(plan);
  await writeFile(join(plan, "plan.json"), JSON.stringify(searched));
  expect((await report(plan)).out).toContain("agents.clients = 28 is the largest");
  expect(existsSync(join(plan, "pictures", "sweep-1.svg"))).toBe(true);
  await expect(report(plan, "--compare", run)).rejects.toMatchObject({ code: "USAGE", exitCode: 2 });
  const log = join(root, "replay");
  await mkdir(log);
  await writeFile(join(log, "replay.json"), JSON.stringify(await replayed()));
  const { out, err } = await report(log, "--json");
  expect(JSON.parse(out)).toMatchObject({ html: join(log, "report.html") });
  expect(err).toContain("would have been refused");
});
