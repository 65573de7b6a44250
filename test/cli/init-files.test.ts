// `spillway init` in an empty folder: what it writes and says, and what it leaves as it was.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ciScript, githubWorkflow } from "../../src/cli/ci-recipe.ts";
import { clientsOf, policyText, scenarioText } from "../../src/cli/init-policy.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { version } from "../../src/runs/version.ts";
import { inference } from "../policy/policies.ts";
import { spillwayHere } from "../support/command.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-init-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));
const init = (...words: string[]) => spillwayHere(["init", ...words], { cwd: folder });
const text = (...path: string[]) => readFile(join(folder, ...path), "utf8");
const installing = [
  "spillway is not installed in this repository, and in no registry yet. In a clone of spillway run: npm ci && npm pack",
  `then here: npm install --save-dev /path/to/spillway-${version}.tgz`,
];
const said = (...lines: string[]) => ({
  code: 0,
  stderr: "",
  killedBy: null,
  stdout: `${lines.join("\n")}\n`,
});

/** Makes spillway look installed in the folder. */
async function install(): Promise<void> {
  await mkdir(join(folder, "node_modules"));
  await symlink(process.cwd(), join(folder, "node_modules", "spillway"));
}

test("a scenario and rules are written, with the way to install and to go on", async () => {
  expect(await init()).toEqual(
    said(
      "wrote spillway/agents.ts, spillway/rules.json",
      ...installing,
      "next: npx spillway simulate spillway/agents.ts --rules spillway/rules.json",
    ),
  );
  expect(parseRules(JSON.parse(await text("spillway", "rules.json")))).toEqual(
    parseRules({
      organization: {
        rest: { limit: 200, windowSeconds: 60 },
        graphql: { limit: 20_000, windowSeconds: 300 },
      },
      user: { rest: { limit: 50, windowSeconds: 60 }, graphql: { limit: 5_000, windowSeconds: 300 } },
      semantics: { anchor: "epoch" },
    }),
  );
  expect(await text("spillway", "rules.json")).toMatch(/^\{\n {2}"organization": \{\n {4}"rest"/);
  const scenario = await text("spillway", "agents.ts");
  expect(scenario).toContain("npx spillway simulate spillway/agents.ts\n");
  expect(scenario).not.toContain("DIR");
});

test("where spillway is installed, nothing is said of it; --json is what was written", async () => {
  await install();
  expect(await init("a b")).toEqual(
    said(
      "wrote a b/agents.ts, a b/rules.json",
      "next: npx spillway simulate 'a b/agents.ts' --rules 'a b/rules.json'",
    ),
  );
  expect(await text("a b", "agents.ts")).toContain("npx spillway load 'a b/agents.ts'\n");
  expect((await init("a b", "--ci")).stdout).toContain("next: sh 'a b/ci.sh', as");
  expect((await init("$&", "--policy", "github")).stdout).toContain(
    "simulate '$&/clients.ts' --policy '$&/policy.json'\n",
  );
  const { stdout, stderr } = await init("other", "--json");
  expect(JSON.parse(stdout)).toEqual({ written: ["other/agents.ts", "other/rules.json"] });
  expect(stderr).toContain("wrote other/agents.ts");
});

test("nothing is overwritten, and of a half nothing stays", async () => {
  await mkdir(join(folder, "spillway"));
  await writeFile(join(folder, "spillway", "rules.json"), "mine");
  const { code, stderr } = await init();
  expect(code).toBe(2);
  expect(stderr).toContain("spillway/rules.json");
  expect(await readdir(join(folder, "spillway"))).toEqual(["rules.json"]);
  expect(await text("spillway", "rules.json")).toBe("mine");
});

test("the recipe of a build server stands beside them, and keeps those that exist", async () => {
  await install();
  const files = ["own/ci.sh", ".github/workflows/spillway.yml"];
  const next = "next: sh own/ci.sh, as the build server will";
  expect(await init("own", "--ci")).toEqual(
    said(`wrote own/agents.ts, own/rules.json, ${files.join(", ")}`, next),
  );
  expect(await text("own", "ci.sh")).toBe(ciScript("own"));
  expect(await text(".github", "workflows", "spillway.yml")).toBe(githubWorkflow("own"));
  await rm(join(folder, ".github"), { recursive: true });
  await rm(join(folder, "own", "ci.sh"));
  await rm(join(folder, "own", "rules.json"));
  await writeFile(join(folder, "own", "agents.ts"), "mine");
  expect(await init("own", "--ci")).toEqual(said(`wrote own/rules.json, ${files.join(", ")}`, next));
  expect(await text("own", "agents.ts")).toBe("mine");
  expect((await init("own", "--ci", "--policy", "github")).code).toBe(2);
});

test("the recipe quotes what a shell would take apart", () => {
  expect(ciScript("it's")).toContain(
    "npx spillway simulate 'it'\\''s/agents.ts' --rules 'it'\\''s/rules.json'",
  );
  expect(ciScript("a.b/c-d")).toContain("npx spillway simulate a.b/c-d/agents.ts --rules a.b/c-d/rules.json");
  expect(githubWorkflow("a b")).toContain("run: sh 'a b/ci.sh' spillway-report\n");
  expect(githubWorkflow("a b")).toContain("--policy 'a b/rules.json' --tokens tokens.json");
});

test("a policy of a preset is built upon, and one of a file is used as it is", async () => {
  await install();
  const github = parsePolicy(presets["github"]?.policy);
  const command = "npx spillway simulate own/clients.ts --policy";
  const next = `next: ${command}`;
  expect(await init("own", "--policy", "github")).toEqual(
    said("wrote own/policy.json, own/clients.ts", `${next} own/policy.json`),
  );
  expect(await text("own", "policy.json")).toBe(policyText(github));
  expect(await text("own", "clients.ts")).toBe(scenarioText(github, `${command} own/policy.json`));
  await rm(join(folder, "node_modules"), { recursive: true });
  await rm(join(folder, "own"), { recursive: true });
  await writeFile(join(folder, "mine.json"), JSON.stringify(presets["github"]?.policy));
  expect(await init("own", "--policy", "mine.json")).toEqual(
    said("wrote own/clients.ts", ...installing, `${next} mine.json`),
  );
  expect(await text("own", "clients.ts")).toBe(scenarioText(github, `${command} mine.json`));
});

test("a policy file on a preset's base names its first quota's limit", () => {
  const policy = parsePolicy(inference);
  expect(policyText(policy)).toBe(`{
  "version": 2,
  "base": "inference",
  "name": "my-inference",
  "quotas": {
    "tenant": {
      "algorithm": {
        "limit": 40
      }
    }
  }
}
`);
  const { tenant_tokens } = policy.quotas;
  expect(policyText({ ...policy, quotas: { tenant_tokens } as never })).toContain('"capacity": 4000');
  expect(JSON.parse(policyText({ ...policy, quotas: {} }))).toMatchObject({
    quotas: { "": { algorithm: {} } },
  });
});

const sample = { method: "GET", path: "/a", headers: {}, cost: 1 } as const;
const operation = { uses: {}, relation: "all-or-nothing" } as const;
const scenarioOf = (samples: Record<string, object[]>) => {
  const operations = Object.fromEntries(
    Object.entries(samples).map(([name, own]) => [name, { ...operation, samples: own }]),
  );
  return scenarioText(
    { ...parsePolicy(inference), operations } as never,
    "npx spillway simulate own/clients.ts --policy own/policy.json",
  );
};

test("a scenario of a policy has one population for each operation with a sample", () => {
  expect(
    scenarioOf({
      "read-it": [sample, { ...sample, path: "/b" }],
      none: [],
      ask: [{ ...sample, method: "POST", path: "/graphql", body: { query: "{ a }" }, cost: 7 }],
      tell: [{ ...sample, method: "POST", path: "/graphql", body: { query: 5 } }],
      post: [{ ...sample, method: "POST", path: "/query", body: { query: "{ a }" }, cost: 2 }],
    }),
  ).toMatchInlineSnapshot(`
    "// Clients of inference, four of each kind of call, that come back when a refusal says so.
    // Try it in virtual time:   npx spillway simulate own/clients.ts --policy own/policy.json
    import { defineScenario, graphql, poller, rest, retryAfter } from "spillway/scenario";

    const call1 = rest("/a", { name: "read_it" });
    const call2 = graphql("{ a }", { cost: 7, name: "ask" });
    const call3 = rest("/graphql", { name: "tell", method: "POST" });
    const call4 = rest("/query", { name: "post", method: "POST", cost: 2 });

    export default defineScenario({
      name: "clients",
      description: "Four clients for each kind of call",
      seed: 1,
      duration: "10m",
      populations: {
        read_it: {
          clients: 4,
          user: "each",
          startWithin: "5s",
          behaviour: poller({ every: "5s", call: call1 }),
          onRefused: retryAfter({ fallback: "1m" }),
        },
        ask: {
          clients: 4,
          user: "each",
          startWithin: "5s",
          behaviour: poller({ every: "5s", call: call2 }),
          onRefused: retryAfter({ fallback: "1m" }),
        },
        tell: {
          clients: 4,
          user: "each",
          startWithin: "5s",
          behaviour: poller({ every: "5s", call: call3 }),
          onRefused: retryAfter({ fallback: "1m" }),
        },
        post: {
          clients: 4,
          user: "each",
          startWithin: "5s",
          behaviour: poller({ every: "5s", call: call4 }),
          onRefused: retryAfter({ fallback: "1m" }),
        },
      },
      expect: { refusedShare: "<5%" },
    });
    "
  `);
  expect(scenarioOf({ a: [sample] })).toContain(
    'import { defineScenario, poller, rest, retryAfter } from "spillway/scenario";',
  );
});

test("a policy without samples has no scenario", () => {
  expect(() => scenarioOf({ a: [], b: [] })).toThrow(
    expect.objectContaining({
      code: "POLICY_UNSUPPORTED",
      problems: ["a", "b"].map((name) => ({
        path: `operations.${name}.samples`,
        got: "none",
        allowed: 'requests that may be sent: [{"path": "/v1/things"}]',
      })),
    }),
  );
});

test("operations of alike names, or of names that no population may have, are populations apart", () => {
  const text = scenarioOf({ "list-a": [sample], list_a: [sample], _3_read: [sample], __: [sample] });
  expect(text.match(/^ {4}\w+: \{$/gm)).toEqual([
    ...["    list_a: {", "    list_a_2: {", "    read: {", "    call: {"],
  ]);
  expect(text).toContain('const call2 = rest("/a", { name: "list_a_2" });');
});

test("no name of a policy, and no path, ends a comment: nothing of them runs as code", () => {
  const named = { ...parsePolicy(presets["github"]?.policy), name: "x\nthrow 1;\u2028throw 2;" };
  const [first, second, third] = scenarioText(named, "npx spillway simulate 'a\nthrow 3'").split("\n");
  expect(first).toMatch(/^\/\/ Clients of x throw 1; throw 2;, four of each kind/);
  expect(second).toMatch(/^\/\/ Try it in virtual time: +npx spillway simulate 'a throw 3'$/);
  expect(third).toMatch(/^import /);
});

test("clients of a policy stand in a file that goes when it was read", async () => {
  const github = parsePolicy(presets["github"]?.policy);
  const { file, remove } = await clientsOf(github);
  expect(await readFile(file, "utf8")).toBe(
    scenarioText(github, `npx spillway simulate ${file} --policy github`),
  );
  await remove();
  await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
});
