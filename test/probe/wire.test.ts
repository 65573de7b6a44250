// The probe and the status over real sockets on loopback: one whole probe of short windows, and the verbs as a user
// types them.
// @module-tag real-time
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { probe } from "../../src/probe/probe.ts";
import { readStatus } from "../../src/probe/status.ts";
import { parseRules } from "../../src/rules/parse.ts";
import type { RulesInput } from "../../src/rules/rules.ts";
import { type Serving, serve } from "../../src/service/serve.ts";
import { readTrace } from "../../src/trace/read.ts";
import { verify } from "../../src/verify/verify.ts";
import { main, spillway, spillwayHere } from "../support/command.ts";
import { mistakes } from "./truth.ts";
import { tokenOf } from "./virtual.ts";

const servings: Serving[] = [];
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  for (const serving of servings.splice(0)) await serving.close();
});

const short: RulesInput = {
  organization: { rest: { limit: 40, windowSeconds: 4 }, graphql: { limit: 400, windowSeconds: 5 } },
  user: { rest: { limit: 15, windowSeconds: 4 }, graphql: { limit: 100, windowSeconds: 5 } },
  semantics: {
    anchor: { graphql: "first-request" },
    reset: { rest: "floor", graphql: "round" },
    refused: { rest: "counted" },
    retryAfter: { graphql: false },
  },
};
const tokens = [tokenOf("prober"), tokenOf("other")];
async function serving(rules: RulesInput): Promise<string> {
  const started = await serve({ rules: parseRules(rules), tokens, port: 0, closeWithinMs: 100 });
  servings.push(started);
  return started.url;
}
const token = tokenOf("prober").token;

describe("a whole probe over HTTP", () => {
  test("of short windows finds what was set, and leaves a trace that holds", async () => {
    const report = await probe({ target: await serving(short), organization: "acme", token, user: "prober" });
    expect(report.ended).toBe("whole");
    expect(mistakes(report, short)).toEqual([]);
    expect(report.rules).toMatchObject({
      organization: { rest: short.organization?.rest, graphql: { limit: 400 } },
      user: { rest: short.user?.rest, graphql: { limit: 100 } },
      semantics: {
        anchor: { rest: "epoch", graphql: "first-request" },
        refused: { rest: "counted" },
        retryAfter: { rest: true, graphql: false },
        graphqlCharge: { graphql: "reserved" },
      },
    });
    const bytes = () => Readable.from([Buffer.from(`${report.trace.join("\n")}\n`)]);
    const read = await readTrace(bytes());
    expect(read.header).toMatchObject({ source: "other", complete: false, rules: null });
    const verdict = await verify(bytes());
    expect(verdict.violations).toEqual([]);
    expect(verdict.verdict).toBe("ok");
  });
});

describe("the status over HTTP", () => {
  test("shows both scopes of the organization, and the user's of the answer; charges nothing", async () => {
    const url = await serving(short);
    const before = Date.now();
    const reading = await readStatus({ target: url, organization: "acme", token });
    expect(
      reading.windows.map(({ scope, owner, limit, used, enforced }) => [scope, owner, limit, used, enforced]),
    ).toEqual([
      ["rest", "organization", 40, 0, true],
      ["rest", "user", 15, 0, null],
      ["graphql", "organization", 400, 0, true],
    ]);
    for (const { endsAtMs } of reading.windows) expect(endsAtMs).toBeGreaterThan(before);
    expect(Math.abs(reading.skewMs ?? Number.NaN)).toBeLessThan(1500);
    expect((await readStatus({ target: url, organization: "acme", token })).windows[0]?.used).toBe(0);
  });

  test("where there is none, says what is there", async () => {
    const url = await serving(short);
    await expect(readStatus({ target: url, organization: "globex", token })).rejects.toMatchObject({
      code: "TARGET_UNREACHABLE",
      problems: [{ got: "404: no such organization there, or the token is not of it" }],
    });
  });
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
  const typedElsewhere = (words: readonly string[]) => spillway(words, { cwd: folder });
  const at = (url: string, ...words: string[]): string[] => ["--target", url, "--org", "acme", ...words];

  test("probe writes rules that simulate takes, and a trace that verify takes", async () => {
    const url = await serving(short);
    const words = ["--tokens", "tokens.json", "--yes", "--out", "rules.json", "--trace", "probe.ndjson"];
    const { code, stdout, stderr } = await typedElsewhere(["probe", ...at(url, ...words)]);
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
    const url = await serving(short);
    const words = ["--tokens", "tokens.json", "--yes", "--json", "--budget", "6", "--max-wait", "0"];
    const { code, stdout } = await typedElsewhere(["probe", ...at(url, ...words)]);
    const result = JSON.parse(stdout) as { used: { calls: number }; ended: string; findings: unknown[] };
    expect(result.ended).toBe("whole");
    expect(result.used.calls).toBeLessThanOrEqual(6);
    expect(result.findings.length).toBeGreaterThan(30);
    expect(code).toBe(0);
  });

  test("nobody there to say yes", async () => {
    const words = ["probe", "--target", "http://127.0.0.1:1", "--tokens", "tokens.json", "--org", "acme"];
    const { code, stderr } = await typedElsewhere(words);
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
