// Options of an audit: what it may call, what it goes on with, and the command that repeats it.

import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { againOf, exitOf, readEarlier, readGiven, requireNames, shareOf } from "../../src/cli/audit.ts";
import { limitsOf } from "../../src/cli/audit-limits.ts";
import { parseTarget } from "../../src/connect/target.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { policyOf } from "../../src/policy/shorthand.ts";
import { SpillwayError } from "../../src/rules/errors.ts";
import { parseRules } from "../../src/rules/parse.ts";
import { inference } from "../policy/policies.ts";
import { recorded } from "../support/recorded.ts";
import { typedAtTarget } from "./typed-at-target.ts";

const golden = fileURLToPath(new URL("../golden/documented-ok.trace.ndjson", import.meta.url));

type Args = Parameters<typeof againOf>[0];
const args = (given: object): Args => given as Args;

let folder = "";
const file = (...name: string[]) => join(folder, ...name);
const ann = { token: "t1", user: "ann", organization: "acme" };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-audit-options-"));
  const files = {
    "default.json": [ann],
    "users.json": [{ token: "t1", user: "ann" }],
    "none.json": [{ token: "t1" }],
  };
  for (const [name, value] of Object.entries(files))
    await writeFile(file(name), JSON.stringify(value), { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function mistake(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof SpillwayError)) throw error;
    const { code, message, problems, hint } = error;
    return [
      `${code} ${message.split("\n")[0]}`,
      ...problems.map(
        ({ path, got, allowed }) => `${path.replace(folder, "DIR")}: got ${got}, allowed: ${allowed}`,
      ),
      ...(hint === undefined ? [] : [hint]),
    ];
  }
}

test("the command repeats the audit as it was asked", () => {
  expect(againOf(args({ spend: "100%" }), "http://x/v1")).toBe("npx spillway audit --target http://x/v1 -y");
  const given = {
    ...{ allowHost: "x", rules: "my api.json", tokens: "t.json", ca: "c", cert: "d", key: "k", spend: "50%" },
    alone: true,
  };
  expect(againOf(args(given), "http://x")).toBe(
    "npx spillway audit --target http://x --allow-host x --policy 'my api.json' --tokens t.json --ca c --cert d --key k --spend 50% --alone -y",
  );
});

test("experiments are named as --list names them", async () => {
  const names = ["cost-as-told", "other-user"];
  expect(await mistake(() => requireNames(names, names))).toBeUndefined();
  expect(await mistake(() => requireNames(["other-user", "zzz", "cost-as-tolt"], names))).toEqual([
    "USAGE there is no such experiment",
    '--only: got "zzz", allowed: a name of --list',
    '--only: got "cost-as-tolt", allowed: a name of --list',
  ]);
  expect(await mistake(() => requireNames(["cost-as-tolt"], names))).toEqual([
    "USAGE there is no such experiment",
    '--only: got "cost-as-tolt", allowed: a name of --list',
    "did you mean cost-as-told?",
  ]);
});

test.each([
  ["1%", 0.01],
  ["100%", 1],
  ["50%", 0.5],
])("the share %s is %d", (text, share) => {
  expect(shareOf(text)).toBe(share);
});

test.each(["0%", "101%", "50", "1000%", "-5%", "0.5%"])("the share %s is refused", async (text) => {
  expect(await mistake(() => shareOf(text))).toEqual([
    "USAGE the share cannot be used",
    `--spend: got "${text}", allowed: "1%" to "100%"`,
  ]);
});

test("a target and tokens are needed, and the target must be allowed", async () => {
  const [head, hint] = [
    "USAGE audit needs a target, and the tokens of those who call",
    "tokens come from a file, never from a flag: process lists show flags",
  ];
  const url = "http://127.0.0.1:1/v1";
  expect(await mistake(() => readGiven(args({})))).toEqual([
    head,
    "--target: got nothing, allowed: a URL",
    hint,
  ]);
  expect(await mistake(() => readGiven(args({ tokens: "t" })))).toEqual([
    head,
    "--target: got nothing, allowed: a URL",
    hint,
  ]);
  expect(await mistake(() => readGiven(args({ target: url })))).toEqual([
    head,
    "--tokens: got nothing, allowed: a file",
    hint,
  ]);
  expect(await readGiven(args({ target: url, tokens: "t" }))).toMatchObject({
    ...{ target: { base: url }, tokensFile: "t", tls: {} },
  });
  const far = { target: "http://a.example", tokens: "t" };
  await expect(readGiven(args(far))).rejects.toMatchObject({ code: "TARGET_NOT_ALLOWED" });
  expect(await readGiven(args({ ...far, allowHost: "a.example" }))).toMatchObject({ tokensFile: "t" });
});

const target = parseTarget("--target", "http://127.0.0.1:1/v1");
const policy = parsePolicy(inference);
const result = {
  ...{ format: "spillway-audit", version: 1, target: "http://127.0.0.1:1/v1", policy: "inference" },
  ...{
    startedAt: 0,
    endedAt: 1,
    calls: 1,
    alone: false,
    assumptions: ["one"],
    ended: "interrupted",
    rows: [],
  },
  verdict: { verdict: "ok", records: 0, windows: 0, violations: [] },
};

/** Keeps an audit of a policy in a folder of its own. */
async function kept(
  name: string,
  changes: object = {},
  header: object = { version: 2, policy },
): Promise<string> {
  const out = await mkdtemp(join(folder, name));
  await writeFile(join(out, "audit.json"), JSON.stringify({ ...result, ...changes }));
  const [first = "{}"] = readFileSync(golden, "utf8").split("\n");
  const { rules: _, ...others } = JSON.parse(first) as Record<string, unknown>;
  const whole = { ...others, ...header };
  await writeFile(join(out, "trace.ndjson"), `${JSON.stringify(whole)}\n`);
  return out;
}

test("an interrupted audit is gone on with, if target and policy are the same", async () => {
  const earlier = (out: string | undefined, rules?: string, resume = true) =>
    readEarlier({ resume, out, rules }, target);
  expect(await earlier("anywhere", undefined, false)).toBeUndefined();
  expect(await mistake(() => earlier(undefined))).toEqual([
    "USAGE --resume needs --out, the folder of the audit that was interrupted",
  ]);
  const own = await kept("own-");
  await writeFile(file("policy.json"), JSON.stringify(inference));
  for (const rules of [undefined, file("policy.json")])
    expect(await earlier(own, rules)).toMatchObject({ result, header: { policy }, calls: [] });
  const origin = await kept("origin-", { target: "http://127.0.0.1:1" });
  expect(await earlier(origin)).toMatchObject({ calls: [] });
  expect(await mistake(() => earlier(origin, file("policy.json")))).toEqual([
    "RESUME_INVALID the audit there is of another target",
    expect.stringMatching(
      /^DIR\S*audit\.json: got "http:\/\/127\.0\.0\.1:1", allowed: "http:\/\/127\.0\.0\.1:1\/v1"$/,
    ),
  ]);
  expect(await mistake(() => earlier(own, "github"))).toEqual([
    "RESUME_INVALID the audit there is of another policy",
    expect.stringMatching(/audit\.json: got "inference", allowed: "github as it is now"$/),
  ]);
  const rules = await kept("rules-", {}, { version: 1, rules: parseRules({}) });
  expect(await mistake(() => earlier(rules))).toEqual([
    "RESUME_INVALID the audit there is of another kind",
    expect.stringMatching(/audit\.json: got "a trace of version 1", allowed: "one of version 2"$/),
  ]);
});

test.each<[readonly string[], unknown, number]>([
  [["kept", "broken"], "interrupted", 1],
  [["kept"], "interrupted", 130],
  [["kept"], { stopped: "by 503" }, 3],
  [["kept", "not exercised"], "whole", 0],
  [["not exercised"], "whole", 2],
])("rows %j that ended %j end with %i", (states, ended, status) => {
  expect(exitOf({ rows: states.map((state) => ({ state })), ended } as never)).toBe(status);
});

describeLimits();
function describeLimits(): void {
  const { signal } = new AbortController();
  const limits = (given: object, tokensFile: string, earlier?: object) => {
    const kept = recorded();
    const asked = { dryRun: false, yes: false, ...given };
    const found = limitsOf(
      asked,
      kept.terminal,
      { target, tokensFile: file(tokensFile) },
      earlier as never,
      signal,
    );
    return found.then((value) => ({ value, lines: kept.lines }));
  };

  test("limits are a file's or a preset's, as rules where they are rules", async () => {
    const { value } = await limits({ rules: "default" }, "default.json");
    expect(value).toEqual({
      ...{ target, policy: policyOf(parseRules({})), rules: parseRules({}), assumptions: [] },
      tokens: [{ token: "t1", attributes: { organization: "acme", user: "ann" } }],
    });
    await writeFile(file("callers.json"), JSON.stringify([{ token: "t1", user: "ann", tenant: "a" }]), {
      mode: 0o600,
    });
    await writeFile(file("policy.json"), JSON.stringify(inference));
    const byPolicy = await limits({ rules: file("policy.json") }, "callers.json");
    expect(byPolicy.value).toMatchObject({ policy, rules: null, assumptions: [] });
  });

  test("limits of an earlier audit are its own, with what it assumed", async () => {
    const rules = parseRules({});
    const earlier = {
      header: { policy: policyOf(rules) },
      result: { assumptions: ["one"], target: "http://127.0.0.1:1", unsettled: "much" },
    };
    expect((await limits({}, "default.json", earlier)).value).toMatchObject({
      ...{ target: { base: "http://127.0.0.1:1" }, rules, assumptions: ["one"], unsettled: "much" },
      tokens: [{ token: "t1" }],
    });
  });

  test("without limits nothing is called in a dry run, or before somebody said yes", async () => {
    expect(await mistake(() => limits({ dryRun: true }, "default.json"))).toEqual([
      "USAGE --dry-run needs --policy: without one, probe or map calls first",
    ]);
    for (const tokens of ["default.json", "users.json"])
      expect(await mistake(() => limits({}, tokens))).toEqual([
        "USAGE nothing was called: nobody is there to say yes",
        "--yes goes on without asking",
      ]);
    expect(await mistake(() => limits({}, "none.json"))).toEqual([
      expect.stringContaining("TOKENS_INVALID"),
      expect.stringContaining("organization"),
      expect.stringContaining("user"),
      'an entry of this policy is {"token": "...", "organization": "...", "user": "..."}',
    ]);
  });
}

describe("as it is typed, a target on this machine", () => {
  const at = typedAtTarget();

  test("is not audited in a dry run, nor without consent", async () => {
    const dry = await at("audit", " --policy default --dry-run --only other-user,cost-as-told");
    expect([dry.code, dry.said]).toMatchInlineSnapshot(`
      [
        0,
        [
          "This will call http://HOST as 1 caller, under the policy buildkite:",
          "  1 experiment, about 20 calls; 0 windows used up, never two in a row of one quota",
          "  about 144 ms, at most 5 min; what does not fit is said to be not exercised",
          "  The policy's samples are sent. Other calls of these quotas may be refused meanwhile.",
        ],
      ]
    `);
    const json = await at("audit", " --policy default --dry-run --json");
    expect(Object.keys(json.json())).toEqual(["calls", "windowsEmptied", "ms"]);
    const asked = await at("audit", " --policy default");
    expect([asked.code, asked.aside[0]]).toEqual([
      2,
      "error USAGE nothing was called: nobody is there to say yes",
    ]);
  });
});
