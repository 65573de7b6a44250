// The verbs probe and status as a user types them. It takes long: a probe waits for windows to end.
// @module-tag real-time
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { main, spillway, spillwayHere } from "../support/command.ts";
import { quickClock } from "../support/quick-clock.ts";
import { closeServings, serving, short, token, tokens } from "./short-windows.ts";

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  await closeServings();
});

describe("the verbs", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spillway-probe-"));
    await writeFile(join(folder, "tokens.json"), JSON.stringify(tokens), { mode: 0o600 });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const typed = (words: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    spillwayHere(words, { cwd: folder, env });
  const at = (url: string, ...words: string[]): string[] => ["--target", url, "--org", "acme", ...words];

  test("probe writes rules that simulate takes, and a trace that verify takes", async () => {
    quickClock(20);
    const url = await serving(short);
    const words = ["--tokens", "tokens.json", "--yes", "--out", "rules.json", "--trace", "probe.ndjson"];
    const { code, stdout, stderr } = await typed(["probe", ...at(url, ...words)]);
    expect(stderr).not.toContain("warning");
    expect(code).toBe(0);
    expect(stdout).toContain("at most 80 calls that may count, asking for 30,000 GraphQL points at most");
    expect(stdout).toMatch(/organization's limit {2,}40 {2}certain/);
    expect(stdout).toMatch(/defaults of the rules that were not seen: .*semantics\.userEnforced\.rest/);
    expect(stdout).not.toContain(token);
    const rules = parseRules(JSON.parse(await readFile(join(folder, "rules.json"), "utf8")));
    expect(rules.organization.rest).toEqual({ limit: 40, windowSeconds: 4, enforced: true });
    expect((await typed(["verify", "probe.ndjson"])).code).toBe(0);
    const simulated = await typed([
      "simulate",
      "herd",
      "--duration",
      "20s",
      "--rules",
      "rules.json",
      "--out",
      "run",
    ]);
    expect(simulated.stderr).not.toContain("error");
    expect(await readFile(join(folder, "probe.ndjson"), "utf8")).not.toContain(token);
  });

  test("probe --json is the result alone; few calls and no waiting are kept to", async () => {
    quickClock(20);
    const url = await serving(short);
    const words = ["--tokens", "tokens.json", "--yes", "--json", "--budget", "6", "--max-wait", "0"];
    const { code, stdout } = await typed(["probe", ...at(url, ...words)]);
    const result = JSON.parse(stdout) as { used: { calls: number }; ended: string; findings: unknown[] };
    expect(result.ended).toBe("whole");
    expect(result.used.calls).toBeLessThanOrEqual(6);
    expect(result.findings.length).toBeGreaterThan(30);
    expect(code).toBe(0);
  });

  test("nobody there to say yes", async () => {
    const words = ["probe", "--target", "http://127.0.0.1:1", "--tokens", "tokens.json", "--org", "acme"];
    const { code, stderr } = await spillway(words, { cwd: folder });
    expect(stderr).toMatch(/nobody is there to say yes[\s\S]*--yes goes on without asking/);
    expect(code).toBe(2);
  });

  test.each<[string, readonly string[], NodeJS.ProcessEnv, number, RegExp]>([
    [
      "a host elsewhere",
      ["probe", "--target", "http://192.0.2.1", "--tokens", "tokens.json", "--yes"],
      {},
      2,
      /got 192\.0\.2\.1, which is elsewhere/,
    ],
    [
      "GraphQL elsewhere",
      [
        "probe",
        "--target",
        "http://127.0.0.1:1",
        "--graphql-url",
        "http://192.0.2.1/g",
        "--tokens",
        "tokens.json",
        "--yes",
      ],
      {},
      2,
      /--graphql-url/,
    ],
    [
      "a token without its organization",
      ["status", "--target", "http://127.0.0.1:1"],
      { SPILLWAY_TOKEN: "hunter2" },
      2,
      /the organization of the token in SPILLWAY_TOKEN is needed[\s\S]*--org/,
    ],
    ["no token", ["status", "--target", "http://127.0.0.1:1"], { SPILLWAY_TOKEN: "" }, 2, /SPILLWAY_TOKEN/],
    [
      "nobody listening",
      ["status", "--target", "http://127.0.0.1:1"],
      { SPILLWAY_TOKEN: "hunter2" },
      3,
      /connection refused/,
    ],
    [
      "a budget that is none",
      ["probe", "--target", "http://127.0.0.1:1", "--budget", "1.5", "--tokens", "tokens.json", "--yes"],
      {},
      2,
      /--budget/,
    ],
    [
      "polling too often",
      ["status", "--target", "http://127.0.0.1:1", "--every", "10ms", "--tokens", "tokens.json"],
      {},
      2,
      /1s or more/,
    ],
  ])("%s", async (what, words, env, expected, said) => {
    const { code, stdout, stderr } = await typed(
      what.includes("without") ? words : [...words, "--org", "acme"],
      env,
    );
    expect(stderr).toMatch(said);
    expect(stdout + stderr).not.toContain("hunter2");
    expect(code).toBe(expected);
  });

  test("an organization that the tokens file does not know is named", async () => {
    const words = ["status", "--target", "http://127.0.0.1:1", "--tokens", "tokens.json", "--org", "globex"];
    const { code, stderr } = await typed(words);
    expect(stderr).toContain('no token of "globex" that may read the status');
    expect(code).toBe(2);
  });

  test("the organization is the token's where none is named", async () => {
    const url = await serving(short);
    const { code, stdout } = await typed(["status", "--target", url, "--tokens", "tokens.json"]);
    expect(stdout).toMatch(/^acme at /);
    expect(code).toBe(0);
  });

  test("status draws bars once, takes a token from the environment, and prints JSON", async () => {
    const url = await serving(short);
    const { code, stdout } = await typed(["status", ...at(url)], { SPILLWAY_TOKEN: token });
    expect(stdout).toMatch(/^rest {6}\[\.+\] {2}0 \/ 40 {2}\d s left/m);
    expect(stdout).toContain("GraphQL's user window is on GraphQL's own answers alone");
    expect(code).toBe(0);
    const json = await typed(["status", ...at(url, "--json")], { SPILLWAY_TOKEN: token });
    expect(JSON.parse(json.stdout)).toMatchObject({
      organization: "acme",
      windows: [{ scope: "rest", limit: 40 }, {}, {}],
    });
  });

  test("status --watch prints a line a reading where nobody watches, and ends with 0 on Ctrl-C", async () => {
    const url = await serving(short);
    const child = spawn(
      process.execPath,
      [main, "status", ...at(url, "--tokens", "tokens.json", "--watch", "--every", "1s")],
      { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
    );
    children.push(child);
    let stdout = "";
    const twice = new Promise<void>((resolve) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
        if (stdout.split("\n").length > 2) resolve();
      });
    });
    await twice;
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    for (const line of stdout.trimEnd().split("\n"))
      expect(line).toMatch(
        /^\d\d:\d\d:\d\d rest 0\/40 resets in \d s, rest user 0\/15 resets in \d s, graphql 0\/400 /,
      );
  });

  test("Ctrl-C ends a probe with 130 and what was found", async () => {
    const url = await serving({});
    const child = spawn(
      process.execPath,
      [main, "probe", ...at(url, "--tokens", "tokens.json", "--yes", "--out", "part.json")],
      { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
    );
    children.push(child);
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    while (!stdout.includes("This will call")) await wait(20);
    // It looks on for three seconds before anything else.
    await wait(1500);
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect(code).toBe(130);
    expect(stdout).toMatch(/interrupted.*: what was found until then/);
    expect(stdout).toMatch(/organization's limit {2,}200 {2}certain/);
    expect(JSON.parse(await readFile(join(folder, "part.json"), "utf8"))).toMatchObject({
      organization: { rest: { limit: 200 } },
    });
  });
});
