// `spillway replay` as a user starts it.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UnderstoodLogs } from "../../src/cli/log-text.ts";
import type { ReplayResult } from "../../src/summary/replay-result.ts";
import { main, spillwayHere } from "../support/command.ts";

let folder = "";
const at = (name: string): string => join(folder, name);

/** Sixty calls of each of two users within a minute, and a status call: each is ten above the user's limit. */
function accessLog(): string {
  const lines = Array.from({ length: 120 }, (_, place) => {
    const second = String(Math.floor(place / 2)).padStart(2, "0");
    const user = place % 2 === 0 ? "ann" : "bob";
    const request = "GET /v2/organizations/acme/pipelines HTTP/1.1";
    return `10.0.0.1 - ${user} [05/Jan/2026:12:00:${second} +0000] "${request}" 200 12 "-" "curl"`;
  });
  const status = `10.0.0.1 - ann [05/Jan/2026:12:01:00 +0000] "GET /v2/organizations/acme/rate_limit HTTP/1.1" 200 12 "-" "curl"`;
  return `${[...lines, status].join("\n")}\n`;
}

/** Runs `spillway` with this on its standard input. */
function spillwayFed(words: readonly string[], input: string): Promise<{ readonly stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [main, ...words], (error, stdout) =>
      error === null ? resolve({ stdout }) : reject(error),
    );
    child.stdin?.end(input);
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-replay-"));
  await writeFile(at("access.log"), accessLog());
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("spillway replay", () => {
  test("says who would have been refused, when, and which limit would have done", async () => {
    const { code, stdout } = await spillwayHere(["replay", "access.log"], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain("access.log: 20 of 120 calls (16.7%) would have been refused");
    expect(stdout).toContain("2 of 2 users would have been hit");
    expect(stdout).toContain("2026-01-05 12:00:50 UTC");
    expect(stdout).toMatch(/60 instead of 50 requests for a user/);
    expect(stdout).toMatch(/ann +60 +10 +16.7% +2026-01-05 12:00:50 UTC/);
  });

  test("standard input, alone and beside a file", async () => {
    const alone = await spillwayFed(["replay", "-"], accessLog());
    expect(alone.stdout).toContain("standard input: 20 of 120 calls (16.7%) would have been refused");
    const others = accessLog().replaceAll("ann", "cy").replaceAll("bob", "di");
    const both = await spillwayFed(["replay", at("access.log"), "-", "--json"], others);
    expect((JSON.parse(both.stdout) as ReplayResult).totals.calls).toBe(240);
  });

  test("notes on the log stand on the terminal, in the result and on the page", async () => {
    const hour = (text: string): string => text.replaceAll("2026:12:", "2026:11:");
    await writeFile(at("back.log"), `${accessLog()}${hour(accessLog())}`);
    await writeFile(at("copy.log"), `${accessLog()}${hour(accessLog())}`);
    const words = ["replay", "back.log", "copy.log", "--out", "noted"];
    const { stdout } = await spillwayHere(words, { cwd: folder });
    const notes = [
      "copy.log is a copy of back.log, which is read once.",
      "Times go back by 3,660 s at back.log:122, from 2026-01-05T12:01:00.000Z on. If a clock was set back, calls before and behind are read as of the same time.",
    ];
    const { log } = JSON.parse(await readFile(at("noted/replay.json"), "utf8")) as ReplayResult;
    expect(log).toMatchObject({ rows: 242, notes });
    const page = await readFile(at("noted/report.html"), "utf8");
    for (const note of notes) {
      expect(stdout).toContain(note);
      expect(page).toContain(`<p>${note}</p>`);
    }
  });

  test("names from the log give the terminal no commands", async () => {
    const row = { time: "2026-01-05T12:00:00Z", user: "\u001b[31mann\n", path: "/v2/user", status: 200 };
    await writeFile(at("rows.ndjson"), `${JSON.stringify(row)}\n`.repeat(51));
    const { stdout } = await spillwayHere(["replay", "rows.ndjson"], { cwd: folder });
    expect(stdout).toMatch(/^ {2}\ufffd\[31mann +51 +1 /m);
  });

  test("changed rules, and what is expected of them", async () => {
    const words = ["replay", "access.log", "--set", "user.rest.limit=60", "--expect", "refused==0"];
    expect(await spillwayHere(words, { cwd: folder })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("None of 120 calls would have been refused"),
    });
    const missed = await spillwayHere(["replay", "access.log", "--expect", "refusedShare<1%"], {
      cwd: folder,
    });
    expect(missed).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("missed refusedShare <1%: 16.7%"),
    });
  });

  test("callers that wait", async () => {
    const words = ["replay", "access.log", "--on-refused", "waitReset", "--json"];
    const { code, stdout } = await spillwayHere(words, { cwd: folder });
    const { reaction } = JSON.parse(stdout) as ReplayResult;
    expect(code).toBe(0);
    // Each waits at its 51st call, 10 s before the minute ends, and goes on from there.
    expect(reaction).toMatchObject({ calls: 120, refusals: 2, admittedLater: 2, gaveUp: 0, unfinished: 0 });
  });

  test("--json prints the result alone", async () => {
    const { stdout } = await spillwayHere(["replay", "access.log", "--json"], { cwd: folder });
    const result = JSON.parse(stdout) as ReplayResult;
    expect(result).toMatchObject({
      format: "spillway-replay",
      version: 1,
      interrupted: false,
      reaction: null,
    });
    expect(result.log).toMatchObject({ files: ["access.log"], rows: 121, rest: 120, status: 1, unread: 0 });
  });

  test.each(["replay", "fit"])(
    "%s names those whose organization no row does, and the option",
    async (verb) => {
      const rows = [
        "time,user,path,cost",
        "1767323045,ann,/v2/organizations/acme/x,",
        "1767323046,bob,/v2/organizations/globex/x,",
        "1767323047,eve,/v1/graphql,9",
        "1767323048,eve,/v1/graphql,9",
      ];
      await writeFile(at("apart.csv"), `${rows.join("\n")}\n`);
      const { stdout, stderr } = await spillwayHere([verb, "apart.csv"], { cwd: folder });
      expect(stdout + stderr).toContain(
        "No row names the organization of 1 user: they are in one of their own, default, apart from the others. --organization SLUG puts them there.",
      );
      const mended = await spillwayHere([verb, "apart.csv", "--organization", "acme"], { cwd: folder });
      expect(mended.stdout + mended.stderr).not.toContain("No row names");
    },
  );

  test("--out keeps the result and its tables", async () => {
    const { code } = await spillwayHere(["replay", "access.log", "--out", "kept"], { cwd: folder });
    expect(code).toBe(0);
    const kept = JSON.parse(await readFile(at("kept/replay.json"), "utf8")) as ReplayResult;
    expect(kept.totals).toMatchObject({ calls: 120, refused: 20 });
    const [columns, first] = (await readFile(at("kept/users.csv"), "utf8")).split("\r\n");
    expect(columns).toMatch(/^organization,user,calls,refused,/);
    expect(first).toMatch(/^acme,ann,60,10,0,10,/);
    const windows = await readFile(at("kept/windows.csv"), "utf8");
    expect(windows.split("\r\n")[1]).toMatch(/^acme,ann,rest,\d+,\d+,50,10,/);
  });

  test("--dry-run shows what the file was taken for, and replays nothing", async () => {
    const { code, stdout } = await spillwayHere(["replay", "access.log", "--dry-run"], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain("acme/ann");
    expect(stdout).not.toContain("would have been refused");
  });

  test("--dry-run --json prints the same as JSON", async () => {
    const { stdout } = await spillwayHere(["replay", "access.log", "--dry-run", "--json"], { cwd: folder });
    const { files, rows, unread } = JSON.parse(stdout) as UnderstoodLogs;
    expect(files).toMatchObject([{ name: "access.log", format: "access-log" }]);
    expect(files[0]?.columns.map(({ role }) => role)).toEqual(
      expect.arrayContaining(["time", "user", "path"]),
    );
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatchObject({ organization: "acme", user: "ann", kind: "rest", cost: 1, status: 200 });
    expect(unread).toEqual([]);
  });

  test("a trace is replayed under its own rules", async () => {
    const rules = { user: { rest: { limit: 3, windowSeconds: 60 } } };
    await writeFile(at("rules.json"), JSON.stringify(rules));
    const words = [
      "simulate",
      "herd",
      "--duration",
      "10s",
      "--rules",
      "rules.json",
      "--out",
      "run",
      "--json",
    ];
    await spillwayHere(words, { cwd: folder });
    const { stdout } = await spillwayHere(["replay", "run/trace.ndjson", "--json"], { cwd: folder });
    const { rules: used, recorded } = JSON.parse(stdout) as ReplayResult;
    expect(used.user.rest.limit).toBe(3);
    expect(recorded?.both).toBeGreaterThan(0);
  });
});

describe("what cannot be done is said, with the next step", () => {
  test.each([
    [["--on-refused", "waitRest"], "waitReset"],
    [["--on-refused", "own"], "a log does not tell its own"],
    [["--set", "user.rest=100"], "user.rest"],
    [["--set", "user.rest.limt=100"], "user.rest.limt"],
    [["--set", "limit"], "user.rest.limit=100"],
    [["--expect", "refusedshare<1%"], "refusedShare"],
    [["--expect", "fairness>0.5"], "a figure that a log has"],
    [["--expect", "1%"], "refusedShare<1%"],
    [["--seed", "-1"], "a whole number"],
    [["--keep-refused"], "add --on-refused"],
    [["--traffic", "0x"], "a factor above 0"],
    [["--path", "/v3/**"], "none of 121 rows is of such a path"],
  ])("replay access.log %j", async (words, said) => {
    const { code, stderr } = await spillwayHere(["replay", "access.log", ...words], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });

  test("a file that is not there, and one with nothing in it", async () => {
    expect(await spillwayHere(["replay", "none.log"], { cwd: folder })).toMatchObject({ code: 2 });
    await writeFile(at("empty.log"), "");
    const empty = await spillwayHere(["replay", "empty.log"], { cwd: folder });
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining("LOG_INVALID") });
  });
});
