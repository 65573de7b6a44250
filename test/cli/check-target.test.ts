// `spillway check --target` as it is typed: a live target, in its own time and by a clock of ours.
// @module-tag waiting
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Store } from "../../src/engine/store.ts";
import { injectFault, parseFault } from "../../src/faults/choice.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { buildApp } from "../../src/service/app.ts";
import { spillwayHere } from "../support/command.ts";
import { quickClock, tellsTime } from "../support/quick-clock.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-check-target-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a live target", () => {
  const rules = {
    organization: { rest: { limit: 5, windowSeconds: 3 } },
    user: { rest: { limit: 3, windowSeconds: 3 } },
  };
  const tokens: Token[] = ["ann", "bob"].map((user) => ({
    token: `secret-of-${user}`,
    user,
    organization: "acme",
    scopes: tokenScopes,
  }));
  const closers: (() => Promise<unknown>)[] = [];
  afterAll(() => Promise.all(closers.map((close) => close())));
  beforeAll(async () => {
    await writeFile(join(folder, "tokens.json"), JSON.stringify(tokens));
    await writeFile(join(folder, "rules.json"), JSON.stringify(rules));
    const bare = tokens.map((token) => ({ ...token, scopes: ["graphql"] }));
    await writeFile(join(folder, "no-scopes.json"), JSON.stringify(bare));
  });

  /** The reference service on a free port, with a fault's store, or with its time from a header. */
  async function listening(options: { fault?: string; clockHeader?: string } = {}): Promise<string> {
    const complete = parseRules(rules);
    let clockMs = 0;
    const { fault, clockHeader } = options;
    const store = fault === undefined ? undefined : injectFault(parseFault(fault), complete, () => 0).store;
    const app = buildApp({
      rules: complete,
      tokens,
      now: clockHeader === undefined ? Date.now : () => clockMs,
      ...(store !== undefined && { store: store as Store }),
    });
    if (clockHeader !== undefined)
      app.addHook("onRequest", async ({ headers }) => {
        clockMs = Number(headers[clockHeader] ?? Date.now());
      });
    tellsTime(app.server);
    await app.listen({ port: 0, host: "127.0.0.1" });
    closers.push(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }
  const check = (target: string, ...words: string[]) =>
    spillwayHere(["check", "--target", target, "--tokens", "tokens.json", "--seed", "2", ...words], {
      cwd: folder,
    });

  test("in real time is not accused where it is right; what is used is said beforehand", async () => {
    quickClock(20);
    const url = await listening();
    const words = ["--rules", "rules.json", "--alone", "--runs", "2", "--calls", "90", "--seconds", "20"];
    const { code, stdout, stderr } = await check(url, ...words);
    expect(stdout.split("\n")[0]).toBe(`up to 90 calls in up to 20 s to ${url}, as 2 callers of tokens.json`);
    expect(stdout).toContain("in real time, seed 2");
    expect(stdout).toMatch(/bounded +no counterexample in [\d,]+ readings, /);
    expect(stdout).toMatch(/snapshot-equals +skipped: /);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).not.toContain("secret-of");
  });

  test("in real time, too few calls judge nothing, and the first line says so", async () => {
    quickClock(20);
    const url = await listening();
    const { code, stdout } = await check(url, "--runs", "1", "--calls", "3", "--seconds", "3");
    const [, first] = stdout.split("\n");
    expect(first).toMatch(
      /: \d+ of \d+ laws judged(?:, on little evidence: only .* judged, so call more; .*load more; .*run longer)?; could not judge .*refusal-justified.*snapshot-equals/,
    );
    expect(stdout).not.toContain("no law violated");
    expect(stdout).toMatch(/none of the \d+ laws that could be judged is violated|no law could be judged/);
    expect([0, 2]).toContain(code);
  });

  test("in real time is accused where it is wrong, with the run's answers", async () => {
    quickClock(20);
    const url = await listening({ fault: "double-count" });
    const words = [
      "--rules",
      "rules.json",
      "--alone",
      "--runs",
      "10",
      "--calls",
      "300",
      "--seconds",
      "8",
      "--json",
    ];
    const { code, stdout } = await check(url, ...words);
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ ok: false, counterexample: { verdict: { verdict: "violated" } } });
    expect(report.calls).toBeLessThanOrEqual(300);
    expect(stdout).not.toContain("secret-of");
  });

  test("whose clock is moved by a header is checked by every law that shows from outside", async () => {
    const url = await listening({ clockHeader: "x-now" });
    const words = ["--clock-header", "X-Now", "--rules", "rules.json", "--runs", "2", "--calls", "5000"];
    const { code, stdout } = await check(url, ...words);
    expect(stdout).toMatch(/never-rolls-back +no counterexample in 2 runs.*: \d+ readings/);
    expect(stdout).toMatch(
      /refusal-justified +no counterexample.*: \d+ readings, \d+ refusals?, \d+ windows/,
    );
    expect(stdout).toMatch(/time-translates +not claimed/);
    expect(code, stdout).toBe(0);
  });

  test("and a law that it breaks is shown as a timeline, with the command that repeats it", async () => {
    const url = await listening({ fault: "one-extra", clockHeader: "x-now" });
    const words = [
      "--clock-header",
      "x-now",
      "--rules",
      "rules.json",
      "--law",
      "refusal-justified",
      "--calls",
      "5000",
    ];
    const { code, stdout } = await check(url, ...words);
    expect(code, stdout).toBe(1);
    expect(stdout).toContain("^ expected a refusal");
    expect(stdout).toContain(`--rules rules.json --target ${url} --tokens tokens.json --clock-header x-now`);
  });

  test.each([
    [["--target", "http://example.com", "--tokens", "tokens.json"], 2, "TARGET_NOT_ALLOWED"],
    [["--target", "http://127.0.0.1:1"], 2, "--target needs --tokens"],
    [["--ca", "ca.pem"], 2, "--ca needs --target URL"],
    [
      ["--target", "http://127.0.0.1:1", "--tokens", "no-scopes.json"],
      2,
      "no token that can be checked with",
    ],
    [["--target", "http://127.0.0.1:1", "--tokens", "tokens.json", "--calls", "0"], 2, "--calls: got 0"],
    [
      ["--target", "http://127.0.0.1:1", "--tokens", "tokens.json", "--law", "bounded"],
      2,
      "--law cannot be used",
    ],
    [["--target", "http://127.0.0.1:1", "--tokens", "tokens.json"], 3, "TARGET_UNREACHABLE"],
  ])("%j ends with %i", async (words, status, said) => {
    const { code, stderr } = await spillwayHere(["check", ...words], { cwd: folder });
    expect(stderr).toContain(said);
    expect(code).toBe(status);
  });

  test("--clock-header needs the rules that the target follows", async () => {
    const { code, stderr } = await check(await listening(), "--clock-header", "x-now");
    expect(code).toBe(2);
    expect(stderr).toContain("--clock-header needs --rules");
  });
});
