// Mistypes, and the errors that people then read: a code, the field, what was got, what is allowed, the next step.
// Never a stack trace, unless asked for.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { spillway, spillwayHere } from "../support/command.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-cli-"));
  await writeFile(join(folder, "comma.json"), '{"organization": {"rest": {"limit": 5}},}');
  await writeFile(
    join(folder, "zero.json"),
    '{"organization": {"rest": {"limit": 0}}, "user": {"rest": {"limit": "200"}}}',
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a bundle does not replace the scenario that it is made of", async () => {
  const scenario = `import { defineScenario, poller, rest } from "spillway/scenario";
export default defineScenario({ name: "mine", description: "one", seed: 1, duration: "1m",
  populations: { one: { clients: 1, behaviour: poller({ every: "1s", call: rest("/v2/user") }) } } });`;
  await writeFile(join(folder, "mine.js"), scenario);
  const { code, stderr } = await spillwayHere(["bundle", "mine.js"], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toContain("mine.js: got the scenario's own file");
  expect(await readFile(join(folder, "mine.js"), "utf8")).toBe(scenario);
});

describe("usage", () => {
  test.each([
    [["simulat", "steady"], "did you mean simulate?"],
    [["simulate", "steady", "--sed", "5"], "did you mean --seed?"],
    [["verify", "x", "--jsn"], "did you mean --json?"],
    [["load", "steady", "--alow-host", "x"], "did you mean --allow-host?"],
    [["status", "http://127.0.0.1:9/Acme"], "did you mean --target http://127.0.0.1:9/Acme?"],
    [["load", "steady", "-y"], "-y: got an unknown option, allowed: --target, "],
    [["verify", "x", "--Json"], "--Json: got an unknown option, allowed: --json"],
    [["simulate", "stedy"], "did you mean steady?"],
    [["check", "--law", "conservd"], "did you mean conserved?"],
    [[], "--help shows the verbs"],
    [["verify"], "verify needs TRACE"],
    [["frobnicate", "--help"], "no such verb"],
    [["simulate", "steady", "--seed"], "seed"],
    [["simulate", "steady", "--seed", "1", "--seed", "2"], "given 2 times"],
    [["simulate", "steady", "--seed", "x"], "--seed"],
    [["simulate", "steady", "--json=5"], '--json takes no value\n  --json: got "5"'],
    [["simulate", "steady", "--duration", "soon"], "--duration"],
    [["serve", "--port", "65536"], "--port: got 65536, allowed: a whole number from 0 to 65535"],
    [["serve", "--port", "0", "--users", "0"], "--users: got 0, allowed: a whole number from 1 to 100000"],
    [["serve", "--port", "0", "--workers", "65"], "--workers: got 65, allowed: a whole number from 1 to 64"],
  ])("%j", async (words, said) => {
    const { code, stdout, stderr } = await spillwayHere(words, { cwd: folder });
    expect(stderr.toLowerCase()).toContain(said.toLowerCase());
    expect(stderr).toContain("error");
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("switches may stand before the verb, and have the value true; errors are JSON then, too", async () => {
    const switched = await spillwayHere(["--json", "figures"]);
    expect(switched).toMatchObject({ code: 0, stdout: (await spillwayHere(["figures", "--json"])).stdout });
    for (const words of [
      ["simulate", "stedy", "--json=true"],
      ["--json", "simulate", "stedy"],
    ]) {
      const { code, stderr } = await spillwayHere(words);
      expect(code).toBe(2);
      expect(JSON.parse(stderr)).toMatchObject({ path: "SCENARIO", next: "did you mean steady?" });
    }
  });

  test("in another language of the terminal, mistakes are explained all the same", async () => {
    vi.stubEnv("LC_ALL", "de_DE.UTF-8");
    const { stderr } = await spillwayHere(["simulate", "steady", "--sed", "5"], { cwd: folder });
    expect(stderr).toContain("did you mean --seed?");
  });

  test("--help names the verbs, help VERB the options of one", async () => {
    const { code, stdout } = await spillwayHere(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Exit codes:");
    const help = await spillwayHere(["help", "plan"]);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain("Examples:");
  });

  test("--json tells errors as one line of JSON on standard error", async () => {
    const words = ["simulate", "steady", "--rules", "zero.json", "--json"];
    const { code, stdout, stderr } = await spillwayHere(words, { cwd: folder });
    expect(code).toBe(2);
    expect(stdout).toBe("");
    // On a busy machine lines of progress stand before it.
    expect(JSON.parse(stderr.trim().split("\n").at(-1) ?? "")).toEqual({
      code: "RULES_INVALID",
      message: "these rules cannot be used",
      path: "organization.rest.limit",
      got: "0",
      allowed: expect.stringContaining("from 1 to"),
      problems: [
        expect.objectContaining({ path: "organization.rest.limit" }),
        expect.objectContaining({ path: "user.rest.limit", got: '"200"' }),
      ],
      next: null,
    });
  });

  test("--version is the package's", async () => {
    const manifest = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect((await spillwayHere(["--version"])).stdout.trim()).toBe(manifest.version);
  });
});

describe("colors", () => {
  const words = ["simulate", "steady", "--seed", "x"];
  const { NO_COLOR, FORCE_COLOR, CI, ...bare } = process.env;
  test.each<[string, Record<string, string>, readonly string[], boolean]>([
    ["off a terminal", {}, [], false],
    ["by FORCE_COLOR", { FORCE_COLOR: "1" }, [], true],
    ["by --color", {}, ["--color"], true],
    ["by NO_COLOR", { FORCE_COLOR: "1", NO_COLOR: "1" }, [], false],
    ["not by FORCE_COLOR=0", { FORCE_COLOR: "0" }, [], false],
    ["not for a pipe of a build server", { CI: "true" }, [], false],
    ["by --no-color", { FORCE_COLOR: "1" }, ["--no-color"], false],
  ])("%s", async (_, env, more, colored) => {
    const { stderr, code } = await spillway([...words, ...more], { env: { ...bare, ...env } });
    expect(stderr).toContain("--seed needs a number");
    expect(stderr.includes("\u001b[")).toBe(colored);
    expect(code).toBe(2);
  });
});

describe("files", () => {
  test.each([
    [["simulate", "steady", "--rules", "nowhere.json"], "nowhere.json: got no such file"],
    [["simulate", "steady", "--rules", "."], "got a directory"],
    [["verify", "nowhere.ndjson"], "no such file"],
    [["report", "nowhere"], "no such folder"],
    [["simulate", "./nowhere.ts"], "no such file"],
    [["simulate", "."], "allowed"],
    [["simulate", "steady", "--rules", "comma.json"], "no trailing comma"],
  ])("%j", async (words, said) => {
    const { code, stderr } = await spillwayHere(words, { cwd: folder });
    expect(stderr).toContain(said);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(2);
  });

  test("every mistake of a rules file is named", async () => {
    const { stderr } = await spillwayHere(["simulate", "steady", "--rules", "zero.json"], { cwd: folder });
    expect(stderr).toContain("organization.rest.limit: got 0");
    expect(stderr).toContain('user.rest.limit: got "200"');
  });

  test("--debug shows where", async () => {
    const { stderr } = await spillwayHere(["verify", "nowhere.ndjson", "--debug"], { cwd: folder });
    expect(stderr).toMatch(/^\s+at /m);
  });
});

describe("init", () => {
  test("writes a scenario and rules that simulate takes, and overwrites nothing", async () => {
    const first = await spillwayHere(["init", "mine"], { cwd: folder });
    expect(first.code).toBe(0);
    const words = ["simulate", "mine/agents.ts", "--rules", "mine/rules.json", "--out", "mine/run", "--json"];
    const simulated = await spillwayHere(words, { cwd: folder });
    expect(simulated.stderr).not.toContain("error");
    expect(JSON.parse(simulated.stdout)).toMatchObject({ verdict: { verdict: "ok" } });
    const second = await spillwayHere(["init", "mine"], { cwd: folder });
    expect(second).toMatchObject({ code: 2 });
    expect(second.stderr).toContain("already there");
  });
});
