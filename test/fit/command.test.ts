// `spillway fit` as a user runs it: what it writes, what it says, how it ends.
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "spillway-fit-")));
  await spillwayHere(["simulate", "herd", "--out", "run"], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...words: string[]) => spillwayHere(words, { cwd: folder });
const text = (...path: string[]): Promise<string> => readFile(join(folder, ...path), "utf8");

async function figuresOf(run: string): Promise<Record<string, number>> {
  return (JSON.parse(await text(run, "summary.json")) as { figures: Record<string, number> }).figures;
}

/** An access log of one that polls and one that pages. */
async function accessLog(): Promise<string> {
  const line = (user: string, second: number): string => {
    const time = new Date(Date.UTC(2026, 0, 1, 10) + second * 1000).toISOString();
    const clock = `01/Jan/2026:${time.slice(11, 19)} +0000`;
    return `203.0.113.1 - ${user} [${clock}] "GET /v2/organizations/acme/pipelines HTTP/1.1" 200 512`;
  };
  const lines = Array.from({ length: 240 }, (_, tick) => line("watcher", tick * 15));
  await writeFile(join(folder, "access.log"), `${lines.join("\n")}\n`);
  return "access.log";
}

test("notes on a log are said once", async () => {
  const rows = Array.from({ length: 30 }, (_, place) => ({
    time: 1_767_323_045 + 60 * place,
    user: "ann",
    path: "/x",
  }));
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  await writeFile(join(folder, "one.ndjson"), text);
  await writeFile(join(folder, "two.ndjson"), text);
  const { stderr } = await spillwayHere(["fit", "one.ndjson", "two.ndjson", "--no-check", "--no-backtest"], {
    cwd: folder,
  });
  expect(stderr.split("two.ndjson is a copy of one.ndjson, which is read once.")).toHaveLength(2);
});

test("logs are fitted with more callers, and by some paths alone", async () => {
  const log = await accessLog();
  const more = await run("fit", log, "--traffic", "3x", "--path", "/v2/**", "-o", "more.ts");
  expect(more.stdout).toContain("more: 1 population of 3 callers");
  const none = await run("fit", log, "--path", "/v3/**");
  expect(none).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("/v2/organizations/acme/pipelines"),
  });
  expect((await run("fit", "run", "--traffic", "2x", "-o", "double.ts")).stdout).toContain("of 60 callers");
});

describe("a trace", () => {
  test("becomes a scenario that simulates to nearly the same figures", async () => {
    const fitted = await run("fit", "run", "-o", "again.ts");
    expect(fitted.code).toBe(0);
    expect(fitted.stdout).toContain("again: 1 population of 30 callers; every call is of one of them.");
    expect(fitted.stdout).toContain("herd: 30 clients, 30 users, 1,150 calls, 150 refused");
    expect(fitted.stdout).toContain("120 of 120 attempts after a refusal came at the reset");
    expect(fitted.stdout).toContain("next: npx spillway simulate again.ts");
    expect((await run("simulate", "again.ts", "--out", "again")).code).toBe(0);
    const [before, after] = [await figuresOf("run"), await figuresOf("again")];
    expect(after["admitted"]).toBe(before["admitted"]);
    expect(after["refused"]).toBe(before["refused"]);
    expect(Math.abs((after["waitP95Ms"] ?? 0) - (before["waitP95Ms"] ?? 0))).toBeLessThan(1100);
  });

  test("is printed as a scenario where no file is named, people's text apart", async () => {
    const { stdout, stderr } = await run("fit", "run");
    expect(stdout).toMatch(/^\/\/ Fitted by spillway/);
    expect(stdout).toContain('name: "fitted"');
    expect(stderr).toContain("fitted: 1 population");
  });

  test("gives its result as JSON alone", async () => {
    const { stdout } = await run("fit", "run", "--json", "--name", "mine");
    expect(JSON.parse(stdout)).toMatchObject({
      format: "spillway-fit",
      version: 1,
      model: { name: "mine", calls: 1150, unexplained: 0, rulesFrom: "trace" },
      source: expect.stringContaining('name: "mine"'),
      backtest: null,
      backtestLeftOut: expect.stringContaining("fewer than 10 windows of 60 s"),
    });
  });

  test("says why it has no backtest, unless nobody wanted one", async () => {
    const why = "the last 5% of the time, which it would predict, has fewer than 10 windows of 60 s";
    const words = ["fit", "run", "-o", "short.ts", "--force", "--report", "short.md", "--share", "95%"];
    expect((await run(...words)).stdout).toContain(`no backtest: ${why}; --backtest makes one all the same`);
    expect(await text("short.md")).toContain(`No backtest: ${why}.`);
    expect((await run(...words, "--no-backtest")).stdout).not.toContain("no backtest");
    expect(await text("short.md")).not.toContain("No backtest");
  });

  test("is held to itself by --backtest, and reported", async () => {
    await run("simulate", "steady", "--duration", "12m", "--out", "long");
    const words = ["fit", "long", "-o", "steady.ts", "--backtest", "--seeds", "9", "--report", "steady.md"];
    const { code, stdout } = await run(...words);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /backtest: fitted to the first 70%, held to \d windows of the rest, 9 simulations/,
    );
    expect(stdout).toMatch(
      /offered, windows expected to be far from full \(\d\): 100% inside the 80% interval/,
    );
    expect(await text("steady.md")).toContain("## Backtest: the first 70% of the time predicts the rest");
  });
});

describe("a log", () => {
  test("becomes a scenario, under rules that are given", async () => {
    const rules = { organization: { rest: { limit: 90 } } };
    await writeFile(join(folder, "rules.json"), JSON.stringify(rules));
    const { code, stdout } = await run("fit", await accessLog(), "-o", "log.ts", "--rules", "rules.json");
    expect(code).toBe(0);
    expect(stdout).toContain("poller, every 15s");
    expect(await text("log.ts")).toContain("limit: 90");
    expect((await run("simulate", "log.ts", "--out", "log")).code).toBe(0);
    expect(Math.abs(((await figuresOf("log"))["calls"] ?? 0) - 240)).toBeLessThanOrEqual(1);
  });
});

describe("mistakes", () => {
  test("nothing is overwritten without --force, and nothing half-written is left", async () => {
    await writeFile(join(folder, "mine.ts"), "// my work\n");
    const { code, stderr } = await run("fit", "run", "-o", "mine.ts");
    expect(code).toBe(2);
    expect(stderr).toContain("FILE_UNWRITABLE nothing is overwritten");
    expect(stderr).toContain("--force overwrites it");
    expect(await text("mine.ts")).toBe("// my work\n");
    expect((await run("fit", "run", "-o", "mine.ts", "--force")).code).toBe(0);
    expect(await text("mine.ts")).toContain("defineScenario");
    expect((await readdir(folder)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a trace without a call", async () => {
    const [header = ""] = (await text("run", "trace.ndjson")).split("\n");
    await writeFile(join(folder, "empty.trace.ndjson"), `${header}\n`);
    const { code, stderr } = await run("fit", "empty.trace.ndjson", "-o", "empty.ts");
    expect(code).toBe(2);
    expect(stderr).toContain("there is nothing to fit");
    expect(await readdir(folder)).not.toContain("empty.ts");
  });

  test.each([
    [["fit", "nowhere.ndjson"], "no such file"],
    [["fit", "run", "--share", "100%"], "--share"],
    [["fit", "run", "--seeds", "2"], "--seeds"],
    [["fit", "run", "--name", "no name"], "--name"],
    [["fit"], "fit needs FILES"],
  ])("%j", async (words, said) => {
    const { code, stderr } = await run(...words);
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });
});
