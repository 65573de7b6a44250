// `spillway check` as it is typed: exit status, the table, JSON, and limiters of one's own.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadLimiterFactory } from "../../src/cli/adapter-file.ts";
import type { CheckReport } from "../../src/laws/index.ts";
import { spillway } from "../support/command.ts";

/** A limiter that forgets the organization's window: users in TypeScript, one window each. */
const userOnly = `
import { type LimiterFactory, parseRules } from "spillway/laws";
const windows: LimiterFactory = {
  name: "user only",
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

const files: Record<string, string> = {
  "user-only.ts": userOnly,
  "throws.mjs":
    "export default { name: 'mine', claims: 'all', create: () => ({ decide() { throw new Error('no store'); } }) };",
  "hangs.mjs": "export default { claims: 'all', create: () => ({ decide: () => new Promise(() => {}) }) };",
  "holds.mjs":
    "setInterval(() => {}, 1000); export default { claims: ['recovers'], create: () => ({ decide: () => ({ admitted: true }) }) };",
  "bare.mjs": "export default { decide() {} };",
  "nothing.mjs": "export const limiter = 5;",
  "claims.mjs": "export default { claims: ['bouned'], create() {} };",
  "syntax.ts": "export default {\n  name: = };",
  "loads.mjs": "throw new Error('cannot connect');",
};

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-check-"));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("adapter files", () => {
  test("TypeScript is bundled, with this package's own entries", async () => {
    const factory = await loadLimiterFactory(join(folder, "user-only.ts"));
    expect(factory.name).toBe("user only");
    expect(factory.restore).toBeUndefined();
  });

  test("a file without a name is its name", async () => {
    expect((await loadLimiterFactory(join(folder, "hangs.mjs"))).name).toBe("hangs.mjs");
  });

  test.each([
    ["bare.mjs", "create", "nothing", "a function of the rules"],
    ["nothing.mjs", "default export", "nothing", "a LimiterFactory"],
    ["claims.mjs", "claims[0]", '"bouned"', "bounded"],
    ["syntax.ts", expect.stringMatching(/syntax\.ts:2$/), 'Unexpected "="', expect.any(String)],
    ["loads.mjs", expect.stringMatching(/loads\.mjs$/), "Error: cannot connect", "a module that loads"],
  ])("%s: %s, got %s", async (file, path, got, allowed) => {
    await expect(loadLimiterFactory(join(folder, file))).rejects.toMatchObject({
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
    expect(stdout).toContain("no law violated: 18 laws, 360 runs");
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
    const command = /^repeat: spillway (.*)$/m.exec(stdout)?.[1]?.split(" ") ?? [];
    const again = await spillway(command, { cwd: folder });
    expect(again.code).toBe(1);
    expect(again.stdout).toContain("refusal-justified         violated in run 1");
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
