// Rules, policies and tokens by name or by file: what is read of each, and what is said of the rest.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { enforceable, limitsOf } from "../../src/cli/as-window.ts";
import { readKnown, readLimits, readPolicy, readWrittenLimits } from "../../src/cli/files.ts";
import { policyTarget, probedTarget } from "../../src/cli/probed-target.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { presets } from "../../src/policy/presets.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { inference } from "../policy/policies.ts";

let folder = "";
const file = (...name: string[]) => join(folder, ...name);
const written = { user: { rest: { limit: 3 } } };
const sliding = {
  ...{ version: 2, name: "sliding", operations: { call: { uses: { calls: 1 } } } },
  quotas: { calls: { algorithm: { kind: "sliding-counter", limit: 5, windowSeconds: 60 } } },
};
const [ann, bob] = ["ann", "bob"].map((user) => ({ token: `of-${user}`, user, organization: `org-${user}` }));
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-files-read-"));
  const on = (base: string) => ({ version: 2, base, name: "own" });
  const files = {
    ...{ rules: written, versioned: { version: 1, ...written }, policy: inference, sliding },
    ...{ github: presets["github"]?.policy, onRules: on("default"), onFile: on("policy.json") },
    ...{ onItself: on("onItself.json"), onOther: on("onThird.json"), onThird: on("onOther.json") },
    ...{ onNothing: on("nowhere.json"), onTypo: on("githup"), list: [1] },
    tokens: [ann, { ...bob, scopes: ["read_accounts"] }, { ...bob, token: "of-bob-2" }],
    callers: [{ token: "of-ann", tenant: "a", user: "ann" }],
    known: { laws: [] },
  };
  for (const [name, value] of Object.entries(files))
    await writeFile(file(`${name}.json`), JSON.stringify(value), { mode: 0o600 });
  await mkdir(file("steady"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function mistake(reading: Promise<unknown>): Promise<unknown> {
  const error = await reading.catch((caught: unknown) => caught);
  if (!(error instanceof SpillwayError)) throw error;
  const { code, message, problems, hint } = error;
  const short = (text: string) => text.replaceAll(folder, "DIR");
  return [
    short(`${code} ${message.split("\n")[0]}`),
    ...problems.map(({ path, got, allowed }) => short(`${path}: got ${got}, allowed: ${allowed}`)),
    ...(hint === undefined ? [] : [hint]),
  ];
}

test("limits are complete, and rules of a file also as they were written", async () => {
  const complete = { rules: parseRules({}), written: parseRules({}) };
  for (const name of ["rules", "versioned"])
    expect(await readWrittenLimits(file(`${name}.json`))).toEqual({ rules: parseRules(written), written });
  for (const name of ["default", "buildkite", file("onRules.json")])
    expect(await readWrittenLimits(name)).toEqual(complete);
  expect(await readWrittenLimits(file("policy.json"))).toEqual({ policy: parsePolicy(inference) });
});

test("a policy is a preset's, or a file's on its base", async () => {
  expect(await readPolicy("default")).toEqual(policyOf(parseRules({})));
  expect(await readPolicy("github")).toEqual(parsePolicy(presets["github"]?.policy));
  expect(await readPolicy(file("policy.json"))).toEqual(parsePolicy(inference));
  expect(await readPolicy(file("onFile.json"))).toEqual({ ...parsePolicy(inference), name: "own" });
  expect(await readPolicy(file("onRules.json"))).toEqual({ ...policyOf(parseRules({})), name: "own" });
});

test("limits are rules where they can be", async () => {
  expect(await readLimits("default")).toEqual({ rules: parseRules({}) });
  expect(await readLimits(file("policy.json"))).toEqual({ policy: parsePolicy(inference) });
});

test("a policy that is not there, or that builds on itself, is said to be", async () => {
  const names = [...["default", "documented"], ...Object.keys(presets)].join(", ");
  expect(await mistake(readPolicy("githup"))).toEqual([
    "FILE_UNREADABLE there is no such policy, and no file",
    "githup: got no such file, allowed: a readable file, or a name of 'npx spillway policy list'",
    "did you mean github?",
  ]);
  const asFile = (path: string) => [
    "FILE_UNREADABLE the policy file ('npx spillway policy list' names the presets) cannot be read",
    `${path}: got no such file, allowed: a readable file`,
  ];
  expect(await mistake(readPolicy("zzzzzzzz"))).toEqual(asFile("zzzzzzzz"));
  expect(await mistake(readPolicy("githup.json"))).toEqual(asFile("githup.json"));
  expect(await mistake(readPolicy("./githup"))).toEqual(asFile("./githup"));
  expect(await mistake(readPolicy(file("onTypo.json")))).toEqual([
    "FILE_UNREADABLE there is no such policy, and no file",
    "base: got githup, allowed: a readable file, or a name of 'npx spillway policy list'",
    "did you mean github?",
  ]);
  expect(await mistake(readPolicy(file("onNothing.json")))).toEqual([
    `FILE_UNREADABLE the base of onNothing.json, a file or one of ${names}, cannot be read`,
    "DIR/nowhere.json: got no such file, allowed: a readable file",
  ]);
  const allowed = `a policy by name (${names}), or another file`;
  expect(await mistake(readPolicy(file("onItself.json")))).toEqual([
    "POLICY_INVALID this policy builds on itself",
    `base: got onItself.json on onItself.json, allowed: ${allowed}`,
  ]);
  expect(await mistake(readPolicy(file("onOther.json")))).toEqual([
    "POLICY_INVALID this policy builds on itself",
    `base: got onOther.json on onThird.json on onOther.json, allowed: ${allowed}`,
  ]);
  await expect(readPolicy(file("list.json"))).rejects.toMatchObject({ code: "POLICY_INVALID" });
});

test("known counterexamples are read from a file", async () => {
  expect(await readKnown(file("known.json"))).toEqual([]);
  expect(await mistake(readKnown(file("none.json")))).toEqual([
    "FILE_UNREADABLE the file of known counterexamples cannot be read",
    "DIR/none.json: got no such file, allowed: a readable file",
  ]);
  await expect(readKnown(file("list.json"))).rejects.toMatchObject({ code: "USAGE" });
});

test("windows stand in for what cannot be enforced, if the user says so, with a warning", async () => {
  const said: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
  const policy = parsePolicy(sliding);
  const fine = parsePolicy(inference);
  expect(enforceable(fine, {}, "serve")).toBe(fine);
  expect(await limitsOf({}, "serve")).toEqual({});
  expect(await limitsOf({ rules: "default" }, "serve")).toEqual({ rules: parseRules({}) });
  expect(said).toEqual([]);
  const { policy: windows } = await limitsOf({ rules: file("sliding.json"), asWindow: true }, "serve");
  expect(windows?.quotas["calls"]?.algorithm).toMatchObject({ kind: "fixed-window", limit: 5 });
  expect(said).toEqual([expect.stringMatching(/^approximated .*calls.*\n$/)]);
  write.mockRestore();
  const refused = async () => enforceable(policy, { rules: "my file.json" }, "serve");
  expect(await mistake(refused())).toEqual([
    "POLICY_UNSERVABLE not all quotas of this policy can be enforced",
    'quotas.calls.algorithm.kind: got "sliding-counter", allowed: fixed-window or token-bucket',
    "npx spillway serve --policy 'my file.json' --as-window lets windows stand in",
  ]);
});

const target = "http://127.0.0.1:1";
test("a probe calls as the first token that may read the status", async () => {
  const caller = (given: object) => probedTarget({ target, tokens: file("tokens.json"), ...given } as never);
  expect(await caller({})).toMatchObject({ target, organization: "org-ann", token: "of-ann", user: "ann" });
  expect(await caller({ org: "org-bob" })).toMatchObject({ token: "of-bob", user: "bob" });
  const allowed = (whose: string) => `an entry${whose} with the scope read_accounts`;
  expect(await mistake(caller({ org: "acme" }))).toEqual([
    'TOKENS_INVALID the tokens file has no token of "acme" that may read the status',
    `DIR/tokens.json: got 0 entries of "acme", none with the scope read_accounts, allowed: ${allowed(' of "acme"')}`,
  ]);
  await writeFile(file("few.json"), JSON.stringify([{ ...bob, scopes: ["graphql"] }]), { mode: 0o600 });
  expect(await mistake(caller({ tokens: file("few.json") }))).toEqual([
    "TOKENS_INVALID the tokens file has no token that may read the status",
    `DIR/few.json: got 1 entry, none with the scope read_accounts, allowed: ${allowed("")}`,
  ]);
  for (const reading of [caller({ target: "http://a.example" }), byPolicy({ target: "http://a.example" })])
    await expect(reading).rejects.toMatchObject({ code: "TARGET_NOT_ALLOWED" });
  expect(await caller({ target: "http://a.example", allowHost: "a.example" })).toMatchObject({ user: "ann" });
});

const byPolicy = (given: object) => policyTarget({ target, ...given } as never, parsePolicy(inference));

test("without a file the token is the environment's", async () => {
  vi.stubEnv("SPILLWAY_TOKEN", "secret");
  expect(await probedTarget({ target, org: "acme" } as never)).toMatchObject({
    ...{ organization: "acme", token: "secret", user: null },
  });
  expect(await mistake(probedTarget({ target } as never))).toEqual([
    "USAGE the organization of the token in SPILLWAY_TOKEN is needed",
    "--org: got nothing, allowed: --org SLUG",
    "a tokens file names it: --tokens FILE",
  ]);
  expect((await byPolicy({})).caller).toEqual({ token: "secret", attributes: {} });
  expect((await byPolicy({ tokens: file("callers.json") })).caller).toEqual({
    ...{ token: "of-ann", attributes: { tenant: "a", user: "ann" } },
  });
  const needed = (got: string) => [
    "USAGE a token is needed",
    `SPILLWAY_TOKEN: got ${got}, allowed: a token, or --tokens FILE`,
    "tokens come from a file or from the environment, never from a flag: process lists show flags",
  ];
  vi.stubEnv("SPILLWAY_TOKEN", "");
  expect(await mistake(byPolicy({}))).toEqual(needed("nothing"));
  vi.stubEnv("SPILLWAY_TOKEN", "two words");
  expect(await mistake(byPolicy({}))).toEqual(needed("a value with spaces or other than ASCII"));
  vi.unstubAllEnvs();
});
