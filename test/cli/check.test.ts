// `spillway check` as it is typed: exit status, the table, JSON, and limiters of one's own. It takes long: an answer
// that never comes is waited for in each script that makes the counterexample smaller.
// @module-tag long
// @module-tag waiting
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CheckReport, LawReport } from "../../src/laws/index.ts";
import { type PlacedModule, placeModules } from "../../src/load/user-module.ts";
import { bundleAdapterFile, importAdapter } from "../../src/runs/adapter-file.ts";
import { spillwayHere } from "../support/command.ts";

/** A limiter that forgets the organization's window: users in TypeScript, one window each. */
const userOnly = `
import { type LimiterFactory, parseRules, userLimit } from "spillway/laws";
const windows: LimiterFactory = {
  name: "user only", algorithm: "fixed-window",
  claims: ["refusal-justified", "recovers", "snapshot-equals"],
  semantics: { anchor: ["epoch"], refused: ["uncounted"], refusedByUser: ["charges-nothing"], graphqlCharge: ["prepaid"] },
  create(rules = parseRules({})) {
    const hits = new Map<string, number>();
    return {
      async decide({ organization, user, scope, cost }, nowMs) {
        const { limit, windowSeconds } = userLimit(rules, organization, user, scope);
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

/** Looks for a key before it counts in it: a key that ends in between is made anew, without an end. */
const ending = `
import { keyedLimiter } from "spillway/laws";
export default keyedLimiter({
  name: "ending", algorithm: "fixed-window", refused: "counted",
  create({ limit, windowMs }, seam) {
    const keys = new Map<string, { count: number; untilMs: number }>();
    const isAlive = (key: string) => Date.now() < (keys.get(key)?.untilMs ?? 0);
    const store = seam.over({
      exists: async (key: string) => isAlive(key),
      add: async (key: string, untilMs: number) => {
        const { count, ...rest } = isAlive(key) ? keys.get(key)! : { count: 0, untilMs };
        keys.set(key, { ...rest, count: count + 1 });
        return count + 1;
      },
    });
    return {
      consume: async (key) =>
        (await store.add(key, (await store.exists(key)) ? Infinity : Date.now() + windowMs)) <= limit,
    };
  },
});
`;

/** Its windows follow one another from a random time on. */
const byChance = `
import { keyedLimiter } from "spillway/laws";
let state = 1;
const random = () => (state = (state * 16807) % 2147483647) / 2147483647;
export default keyedLimiter({
  name: "by chance", algorithm: "fixed-window",
  create({ limit, windowMs }) {
    const phases = new Map();
    const counts = new Map();
    return {
      consume(key, _cost, nowMs) {
        if (!phases.has(key)) phases.set(key, random());
        const window = key + " " + Math.floor(nowMs / windowMs + phases.get(key));
        const count = (counts.get(window) ?? 0) + 1;
        if (count <= limit) counts.set(window, count);
        return count <= limit;
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
  "ending.ts": ending,
  "one.json": '{ "user": { "rest": { "limit": 1, "windowSeconds": 10 } } }',
  "racy.ts": racy,
  "by-chance.ts": byChance,
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
  "computed.mjs":
    "const { default: name } = await import(['./na', 'cjs'].join('me.')); export default { name, algorithm: 'fixed-window', claims: [], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "node_modules/beside/index.js":
    "'use strict'; module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, 'name.lua'), 'utf8');",
  "node_modules/beside/name.lua": "a script",
  "beside.mjs":
    "import name from 'beside'; export default { name, algorithm: 'fixed-window', claims: [], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "node_modules/module-beside/lib/index.mjs":
    "import { readFileSync } from 'node:fs'; export default readFileSync(new URL('name.lua', import.meta.url), 'utf8') + import.meta.dirname.slice(-4);",
  "node_modules/module-beside/lib/name.lua": "a script in ",
  "node_modules/module-beside/package.json": '{ "exports": "./lib/index.mjs" }',
  "module-beside.mjs":
    "import name from 'module-beside'; export default { name, algorithm: 'fixed-window', claims: [], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "loads.mjs": "throw new Error('cannot connect');",
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-check-"));
  for (const name of ["beside", "module-beside/lib"])
    await mkdir(join(folder, "node_modules", name), { recursive: true });
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

  test("an import of a computed name finds what lies beside the file, and what is installed there", async () => {
    expect((await load("computed.mjs")).name).toBe("its own");
  });

  test("a package of CommonJS finds what lies beside it", async () => {
    expect((await load("beside.mjs")).name).toBe("a script");
  });

  test("one that throws is not told what to export", async () => {
    await expect(load("loads.mjs")).rejects.toMatchObject({ hint: undefined });
    await expect(load("nothing.mjs")).rejects.toMatchObject({
      hint: expect.stringContaining("export default"),
    });
  });

  test("a package of modules finds what lies beside it", async () => {
    expect((await load("module-beside.mjs")).name).toBe("a script in /lib");
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
    ["claims.mjs", "claims[0]", '"bouned"', '"bounded"'],
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
    const { code, stdout } = await spillwayHere(["check", "--runs", "20", "--seed", "7"]);
    expect(code).toBe(0);
    expect(stdout).toContain("refusal-agrees            no counterexample in 20 runs");
    expect(stdout).toContain("no law violated: 21 laws, 420 runs");
  });

  test("--json prints the report and nothing else", async () => {
    const { code, stdout } = await spillwayHere([
      "check",
      "--law",
      "bounded",
      "--rules",
      "documented",
      "--json",
    ]);
    const report = JSON.parse(stdout) as CheckReport;
    expect(report.laws).toMatchObject([{ law: "bounded", outcome: "skipped" }]);
    expect([code, report.ok]).toEqual([2, false]);
  });

  test("shows what is broken, exits 1, and its last line repeats it", async () => {
    const words = ["check", "--adapter", "user-only.ts", "--seed", "3"];
    const { code, stdout } = await spillwayHere(words, { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(/recovers +no counterexample/);
    expect(stdout).toMatch(/snapshot-equals +not observed/);
    expect(stdout).toMatch(/conserved +not claimed/);
    expect(stdout).toContain("^ expected a refusal (acme rest)");
    const command = /^repeat: npx spillway (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    const again = await spillwayHere(command, { cwd: folder });
    expect(again.code).toBe(1);
    expect(again.stdout).toContain("refusal-justified         violated in run 1");
  });

  test("exits 2 where all that it found does not repeat, and violates nothing", async () => {
    const words = ["check", "--adapter", "by-chance.ts", "--seed", "3", "--interleavings", "--json"];
    const { code, stdout } = await spillwayHere(words, { cwd: folder });
    const { ok, laws, interleavings } = JSON.parse(stdout);
    const outcomes = (laws as LawReport[]).map(({ outcome }) => outcome);
    expect(outcomes).toContain("not-repeatable");
    expect(outcomes).not.toContain("violated");
    expect(interleavings).toMatchObject({ ok: false, outcome: "not-repeatable" });
    expect([ok, code]).toEqual([false, 2]);
  });

  test("--interleavings finds what calls one after the other do not show, and its command repeats it", async () => {
    const words = ["check", "--adapter", "racy.ts", "--seed", "4", "--runs", "10"];
    const alone = await spillwayHere(words, { cwd: folder });
    expect(alone.code, alone.stdout).toBe(0);
    const { code, stdout } = await spillwayHere([...words, "--interleavings"], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toMatch(/conserved +no counterexample/);
    expect(stdout).toContain("no law violated by one call after the other: ");
    expect(stdout).toMatch(/2 calls overlap\n( +\. call \d: (arrives|read|write).*\n){4,6}/);
    const command = /^repeat: npx spillway (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    const again = await spillwayHere([...command, "--json"], { cwd: folder });
    expect(JSON.parse(again.stdout)).toMatchObject({
      ok: false,
      interleavings: { ok: false, outcome: "violated" },
    });
  });

  test("--clock-moves finds a key that ends inside a call, and its command repeats it", async () => {
    const words = ["check", "--adapter", "ending.ts", "--rules", "one.json", "--law", "bounded"];
    const still = [...words, "--seed", "2", "--runs", "20", "--interleavings"];
    const alone = await spillwayHere(still, { cwd: folder });
    expect(alone.code, alone.stdout).toBe(0);
    const { code, stdout } = await spillwayHere([...still, "--clock-moves"], { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toContain("nothing was judged by one call after the other");
    expect(stdout).toMatch(/exists.* ms pass\n.*add/s);
    const command = /^repeat: npx spillway (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    expect(command).toContain("--clock-moves");
    const again = await spillwayHere(command, { cwd: folder });
    expect(again.code).toBe(1);
    expect(again.stdout).toMatch(/exists.* ms pass\n.*add/s);
  });

  test("moves the clock that a limiter reads, and the timers that it keeps", async () => {
    const words = ["--seed", "3", "--runs", "8"];
    const right = await spillwayHere(["check", "--adapter", "by-timer.ts", ...words], { cwd: folder });
    expect(right.code, right.stdout + right.stderr).toBe(0);
    expect(right.stdout).toMatch(/reset-agrees +no counterexample in 8 runs/);
    const law = ["--law", "bounded"];
    const wrong = await spillwayHere(["check", "--adapter", "by-timer-wrong.ts", ...words, ...law], {
      cwd: folder,
    });
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toMatch(/bounded +violated/);
  });

  test("tells a limiter in another process the time, by a file", async () => {
    const words = ["check", "--adapter", "elsewhere.ts", "--seed", "3", "--runs", "2", "--law", "recovers"];
    const { code, stdout, stderr } = await spillwayHere(words, { cwd: folder });
    expect(stdout, stderr).toMatch(/recovers +no counterexample in 2 runs, [1-9]/);
    expect(code).toBe(0);
  });

  test("ends though the limiter holds something open", async () => {
    const { code } = await spillwayHere(["check", "--adapter", "holds.mjs", "--runs", "3"], {
      cwd: folder,
      threads: true,
    });
    expect(code).toBe(0);
  });

  test.each([
    ["throws.mjs", "ADAPTER_INVALID", "got Error: no store"],
    ["hangs.mjs", "ADAPTER_SILENT", "got TimeoutError: no answer within 0.2 s"],
  ])("%s is reported by the call that failed, with %s and exit 2", async (file, name, said) => {
    const words = ["check", "--adapter", file, "--seed", "1"];
    const { code, stderr } = await spillwayHere(words, { cwd: folder, threads: true });
    expect(code).toBe(2);
    expect(stderr).toContain(`error ${name} `);
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
    [["--clock-moves"], "--clock-moves needs --interleavings"],
    [["--adapter", "nowhere.ts"], "no such file"],
  ])("%j is a usage error", async (words, said) => {
    const { code, stderr, stdout } = await spillwayHere(["check", ...words], { cwd: folder });
    expect(code).toBe(2);
    expect(stderr).toContain(said);
    expect(stdout).toBe("");
  });
});
