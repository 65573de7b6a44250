// `--policy FILE` takes a file of either version, and rules as `--rules` does.
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Policy } from "../../src/policy/policy.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { spillwayHere } from "../support/command.ts";
import { inference } from "./policies.ts";

const rules = { user: { rest: { limit: 9 } }, semantics: { refused: "counted" } } as const;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-policy-"));
  const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value));
  await write("rules.json", { version: 1, ...rules });
  await write("policy.json", policyOf(parseRules(rules)));
  await write("other.json", inference);
  await write("mixed.json", { ...rules, quotas: {} });
  const enterprise = {
    base: "github",
    name: "enterprise",
    quotas: { core: { algorithm: { limit: 15_000 } } },
  };
  await write("enterprise.json", { version: 2, ...enterprise });
  await write("smaller.json", {
    base: "./enterprise.json",
    quotas: { search: null },
    operations: { search: null },
    routes: [{ path: "/**", operation: "read" }],
  });
  await write("few.json", { base: "buildkite", quotas: { rest_user: { algorithm: { limit: 9 } } } });
  await write("myself.json", { base: "./myself.json" });
  await write("itself.json", { base: "other-itself.json" });
  await write("other-itself.json", { base: "itself.json" });
  await write("nowhere.json", { base: "nowhere-else.json" });
  await write("mistyped.json", { base: "githbu" });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const simulate = (option: string, file: string, out: string) =>
  spillwayHere(["simulate", "steady", "--duration", "5s", option, file, "--out", out], {
    cwd: folder,
  });

test("rules and their policy give the same run, to the byte", async () => {
  expect(await simulate("--rules", "rules.json", "a")).toMatchObject({ code: 0 });
  expect(await simulate("--policy", "policy.json", "b")).toMatchObject({ code: 0 });
  const [a, b] = await Promise.all(
    ["a", "b"].map((out) => readFile(join(folder, out, "trace.ndjson"), "utf8")),
  );
  expect(JSON.parse(a?.slice(0, a.indexOf("\n")) ?? "").rules.user.rest.limit).toBe(9);
  expect(b).toBe(a);
});

test("a limiter is checked under a policy, all of whose switches are given", async () => {
  const { code, stderr } = await spillwayHere(["check", "--policy", "policy.json", "--runs", "3"], {
    cwd: folder,
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
});

test("a run under another policy is counted by its quotas, in simulate and in plan", async () => {
  const here = (...words: string[]) => spillwayHere(words, { cwd: folder });
  const counted = await here(
    "simulate",
    "github",
    "--policy",
    "github",
    "--duration",
    "20m",
    "--no-trace",
    "--json",
  );
  expect(counted.code).toBe(0);
  const { figures, refusedBy } = JSON.parse(counted.stdout) as {
    figures: Record<string, number | null>;
    refusedBy: Record<string, number>;
  };
  expect(figures["refused"]).toBeGreaterThan(0);
  expect(Object.values(refusedBy).reduce((sum, each) => sum + each, 0)).toBe(figures["refused"]);
  expect(refusedBy["search"]).toBeGreaterThan(0);
  expect(figures["refusedByUser"]).toBeNull();
  expect(counted.stderr).toContain("the limits are those of the policy github");
  expect(counted.stderr).toContain(`by search: ${refusedBy["search"]}`);
  const limit = "policy.quotas.search.algorithm.limit";
  const words = ["--vary", `${limit}=20..40:5`, "--until", "searchers.refused==0", "--duration", "5m"];
  const planned = await here(
    "plan",
    "github",
    "--policy",
    "github",
    ...words,
    "--workers",
    "1",
    "--json",
    "--out",
    "p",
  );
  expect(planned.code).toBe(0);
  // A call each two seconds is thirty in a minute; a window may hold the beginning of the next one, too.
  expect(JSON.parse(planned.stdout)).toMatchObject({
    answer: { value: 35 },
    notes: expect.arrayContaining(["the limits are those of the policy github"]),
  });
});

test("windows stand in for what the engine does not enforce, where that is asked for", async () => {
  const words = ["simulate", "github", "--policy", "okta", "--duration", "1m"];
  expect(await spillwayHere(words, { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /POLICY_UNSERVABLE.*quotas\.concurrency\.algorithm\.kind: .*simulate github --policy okta --as-window lets/s,
    ),
  });
  const { stdout, stderr } = await spillwayHere([...words, "--as-window", "--no-trace"], { cwd: folder });
  expect(stderr).toContain("approximated concurrency (concurrent calls) is left out");
  expect(stdout).toContain("the limits are those of the policy okta");
});

test("a policy of other quotas is checked as one, and half a policy is said to be none", async () => {
  const checked = await spillwayHere(["check", "--runs", "1", "--policy", "other.json"], { cwd: folder });
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^engine under the policy other\.json, .*\nno law violated: /s),
  });
  expect(await simulate("--policy", "mixed.json", "d")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /POLICY_INVALID.*version: got nothing, allowed: 2, as quotas are members of a policy/s,
    ),
  });
});

test("a policy says what differs from its base, which may have one", async () => {
  const show = async (file: string) => {
    const { code, stdout, stderr } = await spillwayHere(["policy", "show", file, "--json"], { cwd: folder });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return (JSON.parse(stdout) as { policy: Policy }).policy;
  };
  const github = await show("github");
  const enterprise = await show("enterprise.json");
  expect(enterprise).toEqual({
    ...github,
    name: "enterprise",
    quotas: {
      ...github.quotas,
      core: { ...github.quotas["core"], algorithm: { ...github.quotas["core"]?.algorithm, limit: 15_000 } },
    },
  });
  const smaller = await show("smaller.json");
  expect(smaller.name).toBe("enterprise");
  expect(Object.keys(smaller.quotas)).not.toContain("search");
  expect(smaller.quotas["core"]).toEqual(enterprise.quotas["core"]);
  expect(smaller.routes).toHaveLength(1);
});

test("a base of the default API's quotas is as good as rules", async () => {
  expect(await simulate("--policy", "few.json", "few")).toMatchObject({ code: 0 });
  const trace = await readFile(join(folder, "few", "trace.ndjson"), "utf8");
  expect(JSON.parse(trace.slice(0, trace.indexOf("\n"))).rules.user.rest.limit).toBe(9);
});

test.each([
  [
    "mistyped.json",
    /FILE_UNREADABLE there is no such policy, and no file.*base: got githbu, allowed: .*did you mean github\?/s,
  ],
  ["myself.json", /POLICY_INVALID.*base: got myself\.json on myself\.json, allowed: a policy by name/s],
  [
    "itself.json",
    /POLICY_INVALID.*base: got itself\.json on other-itself\.json on itself\.json, allowed: a policy by name/s,
  ],
  ["nowhere.json", /FILE_UNREADABLE.*nowhere-else\.json: got no such file/s],
])("%s is refused", async (file, stderr) => {
  expect(await spillwayHere(["policy", "check", file], { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(stderr),
  });
});

test("a name that is mistyped is told the nearest", async () => {
  expect(await spillwayHere(["policy", "show", "gitlap"], { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/FILE_UNREADABLE.*did you mean gitlab\?/s),
  });
});

describe("init --policy", () => {
  test("asks for a sample request where a policy has none, and writes nothing", async () => {
    const calls = { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 60 } };
    const bare = {
      ...{ version: 2, name: "bare", quotas: { calls }, operations: { call: { uses: { calls: 1 } } } },
      wire: { revision: "1", readings: [] },
    };
    await writeFile(join(folder, "bare.json"), JSON.stringify(bare));
    for (const words of [
      ["init", "bare", "--policy", "bare.json"],
      ["demo", "--policy", "bare.json"],
    ])
      expect(await spillwayHere(words, { cwd: folder })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("operations.call.samples: got none"),
      });
    await expect(readFile(join(folder, "bare", "clients.ts"))).rejects.toThrow("ENOENT");
  });

  // GraphQL and methods, declared costs, attributes in paths, bodies, and the default API.
  const names = ["github", "openai", "discord", "envoy-json", "buildkite"];

  beforeAll(async () => {
    await mkdir(join(folder, "node_modules"), { recursive: true });
    await symlink(process.cwd(), join(folder, "node_modules", "spillway"));
  });

  test.each(names)("%s: a policy on it, and a scenario of its calls that it limits", async (name) => {
    const dir = `of-${name}`;
    expect(await spillwayHere(["init", dir, "--policy", name], { cwd: folder })).toMatchObject({ code: 0 });
    const words = ["simulate", `${dir}/clients.ts`, "--policy", `${dir}/policy.json`, "--duration", "20s"];
    const { code, stdout, stderr } = await spillwayHere([...words, "--json", "--no-trace"], { cwd: folder });
    // 1 where the limits are too small for so many clients.
    expect([0, 1], stderr).toContain(code);
    expect(stderr).not.toContain("is limited by no quota");
    expect((JSON.parse(stdout) as { figures: { calls: number } }).figures.calls).toBeGreaterThan(0);
  });

  test("of sliding windows: names a command that lets windows stand in", async () => {
    const calls = { algorithm: { kind: "sliding-log", limit: 5, windowSeconds: 10 }, key: ["account"] };
    const policy = {
      ...{ version: 2, name: "rolling", quotas: { calls } },
      operations: { send: { uses: { calls: 1 }, samples: [{ path: "/letters" }] } },
      routes: [{ path: "/**", operation: "send" }],
      auth: { attributes: ["account"] },
    };
    await writeFile(join(folder, "rolling.json"), JSON.stringify(policy));
    const made = await spillwayHere(["init", "rolling", "--policy", "rolling.json"], { cwd: folder });
    const command = `npx spillway simulate ${join("rolling", "clients.ts")} --policy rolling.json --as-window`;
    expect(made.stdout).toContain(`next: ${command}\n`);
    expect(await readFile(join(folder, "rolling", "clients.ts"), "utf8")).toContain(`${command}\n`);
  });

  test("of a file: a scenario of its calls beside it, though it has no status", async () => {
    const calls = { algorithm: { kind: "fixed-window", limit: 5, windowSeconds: 10, anchor: "epoch" } };
    const policy = {
      ...{ version: 2, name: "letters", quotas: { calls: { ...calls, key: ["account"] } } },
      operations: { send: { uses: { calls: 1 }, samples: [{ method: "POST", path: "/letters" }] } },
      routes: [{ path: "/**", operation: "send" }],
      auth: { attributes: ["account"] },
    };
    await writeFile(join(folder, "letters.json"), JSON.stringify(policy));
    const made = await spillwayHere(["init", "own", "--policy", "letters.json", "--json"], { cwd: folder });
    expect(JSON.parse(made.stdout)).toEqual({ written: [join("own", "clients.ts")] });
    const words = ["simulate", "own/clients.ts", "--policy", "letters.json", "--duration", "20s"];
    const { stdout } = await spillwayHere([...words, "--json", "--no-trace"], { cwd: folder });
    const { figures } = JSON.parse(stdout) as { figures: Record<string, number> };
    expect(figures["calls"]).toBeGreaterThan(figures["refused"] ?? Number.NaN);
    expect(figures["refused"]).toBeGreaterThan(0);
    const simulated = ["load", "steady", "--policy", "letters.json", "--duration", "1s", "--driver", "node"];
    const { stderr, code } = await spillwayHere(simulated, { cwd: folder });
    expect(stderr).toContain(
      "npx spillway init --policy NAME|FILE writes a scenario of a policy's own calls",
    );
    expect(code).toBe(2);
  });

  test("names what there is for a name that is none", async () => {
    expect(await spillwayHere(["init", "none", "--policy", "githup"], { cwd: folder })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is no such policy, and no file.*githup.*did you mean github\?/s),
    });
  });
});
