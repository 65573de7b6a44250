// `spillway check` as it is typed: exit status, the table, JSON, and limiters of one's own.
// @module-tag real-time
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleAdapterFile, importAdapter } from "../../src/cli/adapter-file.ts";
import type { Store } from "../../src/engine/store.ts";
import { injectFault, parseFault } from "../../src/faults/choice.ts";
import type { CheckReport } from "../../src/laws/index.ts";
import { type PlacedModule, placeModules } from "../../src/load/user-module.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { type Token, tokenScopes } from "../../src/rules/tokens.ts";
import { buildApp } from "../../src/service/app.ts";
import { spillway } from "../support/command.ts";

/** A limiter that forgets the organization's window: users in TypeScript, one window each. */
const userOnly = `
import { type LimiterFactory, parseRules } from "spillway/laws";
const windows: LimiterFactory = {
  name: "user only", algorithm: "fixed-window",
  claims: ["refusal-justified", "recovers", "snapshot-equals"],
  semantics: { anchor: ["epoch"], refused: ["uncounted"], refusedByUser: ["charges-nothing"], graphqlCharge: ["prepaid"] },
  create(rules = parseRules({})) {
    const hits = new Map<string, number>();
    return {
      async decide({ organization, user, scope, cost }, nowMs) {
        const { limit, windowSeconds } = rules.user[scope];
        const key = [organization, user, scope, Math.floor(nowMs / windowSeconds / 1000)].join();
        const count = (hits.get(key) ?? 0) + cost;
        if (count > limit) return { admitted: false, refusedBy: "user" };
        hits.set(key, count);
        return { admitted: true };
      },
    };
  },
};
export default windows;
`;

/** Reads a count and writes it back, and lets others in between. */
const racy = `
import { keyedLimiter } from "spillway/laws";
export default keyedLimiter({
  name: "racy", algorithm: "fixed-window",
  claims: ["refusal-justified", "conserved"],
  anchor: "epoch",
  create({ limit, windowMs }, seam) {
    const counts = new Map<string, number>();
    const store = seam.over({
      read: async (key: string) => counts.get(key) ?? 0,
      write: async (key: string, count: number) => void counts.set(key, count),
    });
    return {
      async consume(key, _cost, nowMs) {
        const window = key + Math.floor(nowMs / windowMs);
        const count = await store.read(window);
        if (count >= limit) return { allowed: false };
        await store.write(window, count + 1);
        return { allowed: true, current: count + 1 };
      },
    };
  },
});
`;

/** Its windows end by a timer, and it reads the process's clock. */
const byTimer = (limit: string): string => `
import { keyedLimiter } from "spillway/laws";
export default keyedLimiter({
  name: "by timer",
  algorithm: "fixed-window",
  create({ limit, windowMs }) {
    const windows = new Map();
    return {
      async consume(key) {
        if (!windows.has(key)) {
          windows.set(key, { count: 0, resetAt: Date.now() + windowMs });
          setTimeout(() => windows.delete(key), windowMs);
        }
        const window = windows.get(key);
        await new Promise((resolve) => setTimeout(resolve, 0));
        const allowed = window.count < ${limit};
        if (allowed) window.count += 1;
        return { allowed, limit, current: window.count, resetAt: window.resetAt };
      },
    };
  },
});
`;

/** A process of its own that reads the time from a file. */
const elsewhere = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { keyedLimiter } from "spillway/laws";
const server = \`
  const { readFileSync } = require("node:fs");
  const counts = new Map();
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { key, limit, windowMs } = JSON.parse(line);
    const window = key + " " + Math.floor(Number(readFileSync("now.txt", "utf8")) / windowMs);
    const count = (counts.get(window) ?? 0) + 1;
    if (count <= limit) counts.set(window, count);
    console.log(count <= limit);
  });
\`;
export default keyedLimiter({
  name: "elsewhere",
  algorithm: "fixed-window",
  anchor: "epoch",
  setNow: (ms) => writeFileSync("now.txt", String(ms)),
  create(settings) {
    const child = spawn(process.execPath, ["-e", server], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout });
    return {
      async consume(key) {
        child.stdin.write(JSON.stringify({ key, ...settings }) + "\\n");
        const [line] = await once(lines, "line");
        return line === "true";
      },
      close: () => child.kill(),
    };
  },
});
`;

const files: Record<string, string> = {
  "by-timer.ts": byTimer("limit"),
  "by-timer-wrong.ts": byTimer("limit + 1"),
  "elsewhere.ts": elsewhere,
  "racy.ts": racy,
  "user-only.ts": userOnly,
  "throws.mjs":
    "export default { name: 'mine', algorithm: 'fixed-window', claims: 'all', create: () => ({ decide() { throw new Error('no store'); } }) };",
  "hangs.mjs":
    "export default { algorithm: 'fixed-window', claims: 'all', create: () => ({ decide: () => new Promise(() => {}) }) };",
  "holds.mjs":
    "setInterval(() => {}, 1000); export default { algorithm: 'fixed-window', claims: ['recovers'], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "bare.mjs": "export default { decide() {} };",
  "silent.mjs":
    "import { keyedLimiter } from 'spillway/laws'; export default keyedLimiter({ name: 'mine', create: () => ({ consume: () => true }) });",
  "bucket.mjs":
    "export default { name: 'mine', algorithm: 'token-bucket', claims: ['isolated', 'conserved'], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "nothing.mjs": "export const limiter = 5;",
  "claims.mjs": "export default { algorithm: 'fixed-window', claims: ['bouned'], create() {} };",
  "syntax.ts": "export default {\n  name: = };",
  "requires.mjs":
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); const requireFrom = require('./name.cjs'); export default { name: requireFrom, algorithm: 'fixed-window', claims: ['isolated'], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "name.cjs": "module.exports = 'its own';",
  "loads.mjs": "throw new Error('cannot connect');",
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-check-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const choices =
  'one of "fixed-window", "token-bucket", "sliding-log", "sliding-counter", "concurrency", "unknown"';

describe("adapter files", () => {
  async function load(name: string) {
    const { placed, remove } = await placeModules([await bundleAdapterFile(join(folder, name))]);
    return importAdapter(placed[0] as PlacedModule).finally(remove);
  }

  test("TypeScript is bundled, with this package's own entries", async () => {
    const factory = await load("user-only.ts");
    expect(factory.name).toBe("user only");
    expect(factory.restore).toBeUndefined();
  });

  test("one that makes a `require` of its own finds no other in its way, and what lies beside it", async () => {
    expect((await load("requires.mjs")).name).toBe("its own");
  });

  test("a file without a name is its name", async () => {
    expect((await load("hangs.mjs")).name).toBe("hangs.mjs");
  });

  test.each([
    ["bare.mjs", "create", "nothing", "a function of the rules"],
    ["bare.mjs", "algorithm", "nothing", choices],
    ["silent.mjs", "algorithm", "nothing", choices],
    [
      "bucket.mjs",
      "claims[1]",
      '"conserved", no law of a token-bucket',
      expect.stringContaining("rate-bound"),
    ],
    ["nothing.mjs", "default export", "nothing", "a LimiterFactory"],
    ["claims.mjs", "claims[0]", '"bouned"', "bounded"],
    [
      "syntax.ts",
      expect.stringMatching(/syntax\.ts:2$/),
      'Unexpected "=" in: name: = };',
      expect.any(String),
    ],
    [
      "loads.mjs",
      expect.stringMatching(/loads\.mjs:1$/),
      "Error: cannot connect",
      "a module that loads without an exception",
    ],
  ])("%s: %s, got %s", async (file, path, got, allowed) => {
    await expect(load(file)).rejects.toMatchObject({
      code: "ADAPTER_INVALID",
      problems: expect.arrayContaining([{ path, got, allowed }]),
    });
  });
});

describe("the command", () => {
  test("finds nothing against the engine, and exits 0", async () => {
    const { code, stdout } = await spillway(["check", "--runs", "20", "--seed", "7"]);
    expect(code).toBe(0);
    expect(stdout).toContain("refusal-agrees            no counterexample in 20 runs");
    expect(stdout).toContain("no law violated: 21 laws, 420 runs");
  });

  test("--json prints the report and nothing else", async () => {
    const { code, stdout } = await spillway(["check", "--law", "bounded", "--rules", "documented", "--json"]);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as CheckReport;
    expect(report.laws).toMatchObject([{ law: "bounded", outcome: "skipped" }]);
  });

  test("shows what is broken, exits 1, and its last line repeats it", async () => {
    const words = ["check", "--adapter", "user-only.ts", "--seed", "3"];
    const { code, stdout } = await spillway(words, { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(/recovers +no counterexample/);
    expect(stdout).toMatch(/snapshot-equals +not observed/);
    expect(stdout).toMatch(/conserved +not claimed/);
    expect(stdout).toContain("^ expected a refusal (acme rest)");
    const command = /^repeat: npx spillway (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    const again = await spillway(command, { cwd: folder });
    expect(again.code).toBe(1);
    expect(again.stdout).toContain("refusal-justified         violated in run 1");
  });

  test("--interleavings finds what calls one after the other do not show, and its command repeats it", async () => {
    const words = ["check", "--adapter", "racy.ts", "--seed", "3", "--runs", "30"];
    const alone = await spillway(words, { cwd: folder });
    expect(alone.code, alone.stdout).toBe(0);
    const { code, stdout } = await spillway([...words, "--interleavings"], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(/conserved +no counterexample/);
    expect(stdout).toMatch(/2 calls overlap\n( +\. call \d: (arrives|read|write).*\n){4,6}/);
    const command = /^repeat: npx spillway (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    const again = await spillway([...command, "--json"], { cwd: folder });
    expect(JSON.parse(again.stdout)).toMatchObject({
      ok: true,
      interleavings: { ok: false, outcome: "violated" },
    });
  });

  test("moves the clock that a limiter reads, and the timers that it keeps", async () => {
    const words = ["--seed", "3", "--runs", "30"];
    const right = await spillway(["check", "--adapter", "by-timer.ts", ...words], { cwd: folder });
    expect(right.code, right.stdout + right.stderr).toBe(0);
    expect(right.stdout).toMatch(/reset-agrees +no counterexample in 30 runs/);
    const wrong = await spillway(["check", "--adapter", "by-timer-wrong.ts", ...words], { cwd: folder });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/bounded +violated/);
  });

  test("tells a limiter in another process the time, by a file", async () => {
    const words = ["check", "--adapter", "elsewhere.ts", "--seed", "3", "--runs", "2", "--law", "recovers"];
    const { code, stdout, stderr } = await spillway(words, { cwd: folder });
    expect(stdout, stderr).toMatch(/recovers +no counterexample in 2 runs, [1-9]/);
    expect(code).toBe(0);
  });

  test("ends though the limiter holds something open", async () => {
    const { code } = await spillway(["check", "--adapter", "holds.mjs", "--runs", "3"], { cwd: folder });
    expect(code).toBe(0);
  });

  test.each([
    ["throws.mjs", "got Error: no store"],
    ["hangs.mjs", "got TimeoutError: no answer within 0.2 s"],
  ])("%s is reported by the call that failed, with exit 2", async (file, said) => {
    const { code, stderr } = await spillway(["check", "--adapter", file, "--seed", "1"], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain("ADAPTER_INVALID");
    expect(stderr).toMatch(/decide\(\{"organization":"\w+"/);
    expect(stderr).toContain(said);
    expect(stderr).toContain(`--adapter ${file}`);
  });

  test.each([
    [["--runs", "0"], "--runs: got 0"],
    [["--runs", "1.5"], "--runs: got 1.5"],
    [["--seed", "99999999999"], "--seed: got 99999999999"],
    [["--path", "1:2"], "--path needs --seed"],
    [["--path", "x", "--seed", "1", "--law", "bounded"], '--path: got "x"'],
    [["--path", "1:9999:9999", "--seed", "1", "--law", "bounded"], "this path leads to no script"],
    [["--law", "recover"], "did you mean recovers?"],
    [["--adapter", "nowhere.ts"], "no such file"],
  ])("%j is a usage error", async (words, said) => {
    const { code, stderr, stdout } = await spillway(["check", ...words], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stdout).toBe("");
  });
});

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
    await app.listen({ port: 0, host: "127.0.0.1" });
    closers.push(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }
  const check = (target: string, ...words: string[]) =>
    spillway(["check", "--target", target, "--tokens", "tokens.json", "--seed", "2", ...words], {
      cwd: folder,
    });

  test("in real time is not accused where it is right; what is used is said beforehand", async () => {
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
    const words = ["--clock-header", "X-Now", "--rules", "rules.json", "--runs", "3", "--calls", "5000"];
    const { code, stdout } = await check(url, ...words);
    expect(stdout).toMatch(/never-rolls-back +no counterexample in 3 runs/);
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
    expect(code).toBe(1);
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
    const { code, stderr } = await spillway(["check", ...words], { cwd: folder });
    expect(stderr).toContain(said);
    expect(code).toBe(status);
  });

  test("--clock-header needs the rules that the target follows", async () => {
    const { code, stderr } = await check(await listening(), "--clock-header", "x-now");
    expect(code).toBe(2);
    expect(stderr).toContain("--clock-header needs --rules");
  });
});
